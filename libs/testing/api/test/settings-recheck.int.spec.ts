import type { JsonObject, ShipmentException } from '@tracking/contracts';
import { InProcessLeases } from '@tracking/embedded';
import { type StoredEvent, UnavailableError } from '@tracking/ports';
import { ShipmentRecheckJob, type RecheckJobDependencies, createEventImportAndExport } from '@tracking/shipments';
import { eventually, noMetrics } from '@tracking/testing';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const PATH = '/v1/settings';
const HOUR = 3_600_000;
let api: Api;
let made = 0;
let workspace: string;
let admin: string;
let job: ShipmentRecheckJob | undefined;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  made += 1;
  workspace = `tenant ${made}`;
  admin = await api.key('admin', 'live', workspace);
});
afterEach(async () => {
  await job?.job.stopJobRounds();
  job = undefined;
});

/** A job as each replica has it. */
function jobWith(parts: Partial<RecheckJobDependencies> = {}): ShipmentRecheckJob {
  const { shipments, workspaceSettings: settings, readModels, clock, logger } = api.dependencies;
  return new ShipmentRecheckJob({
    shipments,
    settings,
    rechecks: settings.rechecks,
    unsettledShipments: readModels.queries.deadlines,
    eventStore: api.storage.eventStore,
    readModelsReached: (position, timeoutMs) => readModels.progress.reached('deadlines', position, timeoutMs),
    leases: new InProcessLeases(made),
    clock,
    logger,
    metrics: noMetrics,
    everyMs: 5,
    beginsAfterMs: 0,
    rest: async () => undefined,
    ...parts,
  });
}

function start(parts: Partial<RecheckJobDependencies> = {}): void {
  job = jobWith(parts);
  job.job.startJobRounds();
}

const hoursFromNow = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();
const patch = (exceptions: JsonObject) => api.call('PATCH', PATH, { key: admin, json: { exceptions } });
/** As a client follows it that has what it was shown before. */
const shown = async () => {
  const { body, headers } = await api.call('GET', PATH, { key: admin, headers: { 'if-none-match': '*' } });
  return { ...(body['recheck'] as JsonObject), etag: headers.get('etag') };
};
const done = (checked: number) =>
  eventually(async () =>
    expect(await shown()).toMatchObject({ state: 'done', checked, finished_at: expect.any(String) }),
  );

async function create(json: JsonObject, key = admin): Promise<string> {
  const { status, body } = await api.call('POST', '/v1/shipments', { key, json: { house_bill: 'HB', ...json } });
  expect(status).toBe(201);
  return String(body['id']);
}
/** A shipment that customs hold. */
async function held(key = admin): Promise<string> {
  const id = await create({ mode: 'ocean' }, key);
  const json = { code: 'customs_hold', occurred_at: hoursFromNow(-2) };
  expect((await api.call('POST', `/v1/shipments/${id}/milestones`, { key, json })).status).toBe(201);
  return id;
}

const stored = (id: string): Promise<readonly StoredEvent[]> =>
  api.storage.eventStore.read(`shipment-${id.slice('shp_'.length)}`);
type ExceptionData = {
  readonly exception?: ShipmentException;
  readonly exception_id?: string;
  readonly resolution?: ShipmentException['resolution'];
};
/** Events of exceptions of the type, in short. */
async function told(id: string, type: string): Promise<readonly string[]> {
  const ids = new Set<string>();
  return (await stored(id)).flatMap((event) => {
    const { exception, exception_id, resolution } = event.data as unknown as ExceptionData;
    if (exception?.type === type) ids.add(exception.id);
    if (!ids.has(exception?.id ?? exception_id ?? '')) return [];
    return [`${event.type} ${exception?.severity ?? resolution?.code}`];
  });
}

it('disabling a type resolves its exceptions, and enabling it opens them again', async () => {
  const id = await held();
  start();
  await patch({ customs_hold: { enabled: false } });
  await done(1);
  await patch({ customs_hold: { enabled: true } });
  await eventually(async () => expect(await shown()).toMatchObject({ state: 'done', etag: '"3"' }));
  expect(await told(id, 'customs_hold')).toEqual([
    'exception.opened.v1 high',
    'exception.resolved.v2 auto_cleared',
    'exception.opened.v1 high',
  ]);
  const { body } = await api.call('GET', `/v1/shipments/${id}`, { key: admin });
  expect(body).toMatchObject({ open_exceptions_count: 1 });
});

it('a changed severity applies to open exceptions', async () => {
  const id = await held();
  start();
  await patch({ customs_hold: { severity: 'critical' } });
  await done(1);
  expect(await told(id, 'customs_hold')).toEqual(['exception.opened.v1 high', 'exception.updated.v1 critical']);
  const [last] = (await stored(id)).slice(-1);
  expect(last?.metadata).toMatchObject({ actor: { type: 'system', id: 'settings' } });
});

it('what is open of a shipment that has ended changes too', async () => {
  const id = await create({ mode: 'ocean' });
  expect((await api.call('POST', `/v1/shipments/${id}/cancel`, { key: admin })).status).toBe(200);
  const json = { code: 'gated_in', occurred_at: hoursFromNow(0) };
  expect((await api.call('POST', `/v1/shipments/${id}/milestones`, { key: admin, json })).status).toBe(201);
  expect(await told(id, 'movement_after_cancel')).toEqual([expect.stringMatching(/^exception.opened.v1 /)]);
  start();
  await patch({ movement_after_cancel: { enabled: false } });
  await done(1);
  expect((await told(id, 'movement_after_cancel')).slice(1)).toEqual(['exception.resolved.v2 auto_cleared']);
});

it('a shorter threshold opens exceptions, and a longer one resolves them', async () => {
  const [late, later] = [await create({ etd: hoursFromNow(-6) }), await create({ etd: hoursFromNow(-20) })];
  start();
  expect([await told(late, 'departure_overdue'), await told(later, 'departure_overdue')]).toEqual([
    [],
    ['exception.opened.v1 medium'],
  ]);
  await patch({ departure_overdue: { after_hours: 3 } });
  await done(2);
  expect(await told(late, 'departure_overdue')).toEqual(['exception.opened.v1 medium']);
  await patch({ departure_overdue: { after_hours: 48 } });
  await eventually(async () => expect(await shown()).toMatchObject({ state: 'done', etag: '"3"' }));
  const opened = ['exception.opened.v1 medium', 'exception.resolved.v2 auto_cleared'];
  expect([await told(late, 'departure_overdue'), await told(later, 'departure_overdue')]).toEqual([opened, opened]);
});

it('a changed threshold moves the next check, and stores nothing else', async () => {
  const etd = hoursFromNow(5);
  const id = await create({ etd });
  const before = await stored(id);
  start();
  await patch({ departure_overdue: { after_hours: 2 }, no_update: { enabled: false } });
  await done(1);
  const [checked, ...others] = (await stored(id)).slice(before.length);
  expect(others).toEqual([]);
  expect(checked).toMatchObject({ type: 'shipment.checked.v1', data: {} });
  expect(checked?.metadata).toMatchObject({ next_check_at: new Date(Date.parse(etd) + 2 * HOUR).toISOString() });
  const head = await api.head();
  await patch({ customs_hold: { severity: 'low' } });
  await eventually(async () => expect(await shown()).toMatchObject({ state: 'done', etag: '"3"' }));
  expect(await api.head()).toBe(head);
});

it('all open shipments of the workspace are checked, live and test', async () => {
  const test = await api.key('admin', 'test', workspace);
  const other = await api.key('admin', 'live', `${workspace} b`);
  const [live, sandbox, others] = [await held(), await held(test), await held(other)];
  const cancelled = await held();
  await api.call('POST', `/v1/shipments/${cancelled}/cancel`, { key: admin });
  const length = (await stored(cancelled)).length;
  start();
  await patch({ customs_hold: { severity: 'low' } });
  await done(2);
  const opened = 'exception.opened.v1 high';
  expect(await told(live, 'customs_hold')).toEqual([opened, 'exception.updated.v1 low']);
  expect(await told(sandbox, 'customs_hold')).toEqual([opened, 'exception.updated.v1 low']);
  expect(await told(others, 'customs_hold')).toEqual([opened]);
  expect(await stored(cancelled)).toHaveLength(length);
  expect((await api.call('GET', PATH, { key: other })).body).toMatchObject({ version: 1, recheck: null });
});

it('the progress is visible, and changes neither version nor ETag', async () => {
  const ids = [await held(), await held(), await held()].sort();
  const gates = new Map(ids.map((id) => [id, Promise.withResolvers<void>()]));
  const { shipments } = api.dependencies;
  await patch({ customs_hold: { severity: 'low' } });
  const etag = '"2"';
  expect(await shown()).toEqual({ state: 'pending', checked: 0, started_at: null, finished_at: null, etag });
  start({
    page: 1,
    shipments: {
      checkRules: async (command) => {
        await gates.get(command.shipment_id)?.promise;
        return shipments.checkRules(command);
      },
    },
  });
  const started_at = expect.stringMatching(/Z$/);
  for (const [checked, id] of ids.entries()) {
    const running = { state: 'running', checked, started_at, finished_at: null, etag };
    await eventually(async () => expect(await shown()).toEqual(running));
    gates.get(id)?.resolve();
  }
  await done(3);
  expect(await shown()).toEqual({ state: 'done', checked: 3, started_at, finished_at: started_at, etag });
  const { body } = await api.call('GET', PATH, { key: admin });
  const updated = await api.call('PATCH', PATH, { key: admin, json: {}, headers: { 'if-match': etag } });
  expect([updated.status, updated.body['version'], updated.body['recheck']]).toEqual([200, 2, body['recheck']]);
});

it('a change during a re-check restarts it', async () => {
  const ids = [await held(), await held(), await held(), await held()].sort();
  const third = Promise.withResolvers<void>();
  const { shipments } = api.dependencies;
  let isFirst = true;
  start({
    page: 2,
    shipments: {
      checkRules: async (command) => {
        if (isFirst && command.shipment_id === ids[2]) {
          isFirst = false;
          await patch({ customs_hold: { severity: 'medium' } });
          third.resolve();
        }
        return shipments.checkRules(command);
      },
    },
  });
  await patch({ customs_hold: { severity: 'low' } });
  await third.promise;
  await eventually(async () => expect(await shown()).toMatchObject({ state: 'done', checked: 4, etag: '"3"' }));
  for (const id of ids) expect((await told(id, 'customs_hold')).at(-1)).toBe('exception.updated.v1 medium');
});

it('engines that are away amid it hold it up, and every shipment is checked', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => held()));
  const { shipments, workspaceSettings } = api.dependencies;
  let [checks, stores] = [0, 0];
  start({
    page: 2,
    patienceMs: 0,
    shipments: {
      checkRules: async (command) => {
        if ((checks += 1) === 3) throw new UnavailableError('event store', 'away');
        return shipments.checkRules(command);
      },
    },
    rechecks: {
      listUnfinishedRechecks: (after, limit) => workspaceSettings.rechecks.listUnfinishedRechecks(after, limit),
      // Stored, and the answer is lost.
      storeRecheckProgress: async (recheck, progress) => {
        const advanced = await workspaceSettings.rechecks.storeRecheckProgress(recheck, progress);
        if ((stores += 1) === 2) throw new UnavailableError('document store', 'away');
        return advanced;
      },
    },
  });
  await patch({ customs_hold: { severity: 'low' } });
  await done(6);
  for (const id of ids) {
    expect(await told(id, 'customs_hold')).toEqual(['exception.opened.v1 high', 'exception.updated.v1 low']);
  }
});

it('shipments that were imported are checked by the rules here, and not before', async () => {
  await patch({ departure_overdue: { enabled: false } });
  const id = await create({ mode: 'ocean', etd: hoursFromNow(-24) });
  await patch({ departure_overdue: { enabled: true } });
  start();
  await done(1);
  // Another shipment of the workspace, as a system decided on it in which the type is not enabled.
  const [first] = await stored(id);
  if (first === undefined) throw new Error('nothing is stored');
  const other = `shp_${'a'.repeat(26)}`;
  const copy = JSON.stringify(first).replaceAll(id.slice(4), other.slice(4));
  const { position: _, ...event } = { ...(JSON.parse(copy) as StoredEvent), id: crypto.randomUUID() };
  await createEventImportAndExport(api.storage.eventStore).importEvents({ events: [event] });
  expect(await told(other, 'departure_overdue')).toEqual([]);
  await api.dependencies.workspaceSettings.rechecks.requestRecheck(String(first.data['workspace_id']));
  await done(2);
  expect(await told(other, 'departure_overdue')).toEqual(['exception.opened.v1 medium']);
});

it('two concurrent jobs change each shipment once', async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, () => held()));
  const other = jobWith({ page: 7 });
  start({ page: 5 });
  other.job.startJobRounds();
  await patch({ customs_hold: { severity: 'low' } });
  await done(30).finally(() => other.job.stopJobRounds());
  for (const id of ids) {
    expect(await told(id, 'customs_hold')).toEqual(['exception.opened.v1 high', 'exception.updated.v1 low']);
  }
});
