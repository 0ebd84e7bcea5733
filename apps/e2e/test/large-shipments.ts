import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventEnvelope, Milestone, ReadModelStatus, Shipment, ShipmentException } from '@tracking/contracts';
import { eventually, patient, tempFolder } from '@tracking/testing';
import type { AxiosResponse } from 'axios';
import { HookServer } from './receiver.ts';
import { cli, cliJson, startStandalone, type OwnSubject } from './subject.ts';
import { all, newKey, newTenant, type Tenant } from './tenant.ts';

/** The heap that V8 takes by default within the 1 GiB that docker-compose.yml gives each service. */
export const COMPOSE_HEAP = { NODE_OPTIONS: '--max-old-space-size=512', RATE_LIMIT_PER_MINUTE: '1000000' };
const COMPOSE_KB = 1_048_576;
const PATIENT = { deadlineMs: 180_000 };

const many = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n));
/** The longest text that a client may give, of characters that take three bytes. */
const text = (character: string, n: number) => `${character.repeat(990)}${n}`.padEnd(1_000, character);

/** Body of a shipment with all the containers and legs that it may have, each with the longest texts. */
const body = (external_id: string) => ({
  external_id,
  mode: 'ocean',
  container_numbers: many(200, (n) => `MSCU${1_000_000 + n}`),
  legs: many(50, (n) => ({
    vessel: text('船', n),
    voyage: text('航', n),
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
  })),
});
/** Too much for the request that creates the shipment: one write stores at most 1 MB. */
const references = many(50, (n) => ({ type: text('港', n), value: text('海', n) }));
const metadata = Object.fromEntries(many(50, (n) => [text('貨', n), text('物', n)]));

/** The largest shipments that are legal: on every kind of operation, in lists, export, import, rebuild and deliveries. */
export function largeShipments(start: () => Promise<OwnSubject>, count: number): void {
  let subject: OwnSubject;
  let tenant: Tenant;
  let receiver: HookServer;
  const ids: string[] = [];
  /** Ids of the events of a stream that is open all the time. */
  const streamed: string[] = [];
  const connection = new AbortController();
  beforeAll(async () => {
    subject = await start();
    tenant = await newTenant(subject);
    receiver = await HookServer.start();
    const stream = tenant.client.events.stream({}, { signal: connection.signal });
    void (async () => {
      for await (const { id } of stream) streamed.push(id);
    })().catch(() => undefined);
    // The stream has begun when it has a place.
    await eventually(() => expect(stream.lastEventId).toBeDefined(), PATIENT);
  }, patient(240_000));
  afterAll(async () => {
    connection.abort();
    await receiver?.close();
    await subject?.stop();
  }, patient(120_000));
  afterEach(async () => {
    for (const { pid, spec } of subject.processes) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const kb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
      expect([spec.name, kb < COMPOSE_KB ? 'within its memory' : `${kb} kB`]).toEqual([spec.name, 'within its memory']);
    }
  });
  const call = async <T>(method: string, path: string, data?: object): Promise<T> => {
    const answer = await tenant.api.request<T>({
      method,
      url: path,
      data,
      headers: { 'Idempotency-Key': randomUUID() },
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.data)}`);
    return answer.data;
  };

  it(
    'are created, patched and delivered',
    async () => {
      const hook = await receiver.enabled(tenant.api, '/large', {
        event_types: ['shipment.created', 'shipment.updated'],
      });
      for (let n = 0; n < count; n += 1) {
        const { id } = await call<Shipment>('POST', '/v1/shipments', body(`LARGE-${n}`));
        await call('PATCH', `/v1/shipments/${id}`, { references });
        await call('PATCH', `/v1/shipments/${id}`, { metadata });
        await call('PATCH', `/v1/shipments/${id}`, { house_bill: `HB-${n}` });
        await call('POST', '/v1/shipments', { external_id: `LARGE-${n}`, load_type: 'fcl' });
        ids.push(id);
      }
      await eventually(async () => expect(hook.came.size).toBe(count * 5), PATIENT);
      expect(receiver.faults).toEqual([]);
    },
    patient(300_000),
  );

  it(
    'have each event once in lists of events and in a stream',
    async () => {
      const types = ['shipment.created', 'shipment.updated'];
      const [listed, ofTypes] = [await idsOfEvents(tenant), await idsOfEvents(tenant, types)];
      expect(new Set(listed).size).toBe(listed.length);
      expect(new Set(ofTypes).size).toBe(count * 5);
      expect(listed).toEqual(expect.arrayContaining([...ofTypes]));
      await eventually(() => expect([...streamed].sort()).toEqual([...listed].sort()), PATIENT);
    },
    patient(240_000),
  );

  it(
    'take milestones and exceptions, and are cancelled and reopened',
    async () => {
      const [id = ''] = ids;
      const of = `/v1/shipments/${id}`;
      const details = { location: text('港', 1), vessel: text('船', 1), voyage: text('航', 1), note: text('記', 1) };
      const fields = { code: 'vessel_departed', occurred_at: '2026-01-02T08:00:00Z', ...details };
      const milestone = await call<Milestone>('POST', `${of}/milestones`, fields);
      await call('PATCH', `${of}/milestones/${milestone.id}`, { note: text('正', 2) });
      const exception = { type: 'cargo_damage', title: text('題', 1), detail: text('細', 1), assignee: text('人', 1) };
      const opened = await call<ShipmentException>('POST', `${of}/exceptions`, exception);
      await call('POST', `/v1/exceptions/${opened.id}/acknowledge`, { note: text('記', 1) });
      await call('PATCH', `${of}/containers/MSCU1000000`, { seal_number: '封'.repeat(100) });
      await call('GET', `${of}/explanation`);
      await call('POST', `${of}/cancel`);
      await call('POST', `${of}/reopen`);
      await call('DELETE', `${of}/milestones/${milestone.id}`);
      const { updated_at } = await call<Shipment>('GET', of);
      await call('GET', `${of}?as_of=${encodeURIComponent(updated_at)}`);
      expect((await all(tenant.api, `${of}/history`)).length).toBeGreaterThan(5);
      await all(tenant.api, `${of}/eta_history`);
      await all(tenant.api, `${of}/milestones`, { include_retracted: true });
      await all(tenant.api, `${of}/exceptions`);
    },
    patient(120_000),
  );

  it(
    'are listed by many clients at once',
    async () => {
      const lists = many(12, async (n) => {
        const found = await all<Shipment>(tenant.api, '/v1/shipments', n % 3 === 0 ? { sort: 'eta' } : {});
        expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
      });
      await Promise.all(lists);
      const named = await all<Shipment>(tenant.api, '/v1/shipments', { id: ids.slice(0, 100).join(',') });
      expect(named).toHaveLength(Math.min(100, count));
    },
    patient(240_000),
  );

  it(
    'each take a milestone in one request',
    async () => {
      const milestones = ids.map((shipment_id) => ({
        shipment_id,
        code: 'gated_in',
        occurred_at: '2026-01-01T08:00:00Z',
      }));
      const { data } = await call<{ data: readonly { status: number }[] }>('POST', '/v1/milestones/bulk', {
        milestones,
      });
      expect(new Set(data.map(({ status }) => status))).toEqual(new Set([201]));
    },
    patient(120_000),
  );

  it(
    'are rebuilt',
    async () => {
      const models = () => cliJson<{ data: readonly ReadModelStatus[] }>(subject, 'read-models', 'list');
      const caughtUp = async () => expect((await models()).data.every((each) => each.caught_up)).toBe(true);
      await eventually(caughtUp, PATIENT);
      await cli(subject, 'read-models', 'rebuild', 'shipments');
      await eventually(async () => {
        await caughtUp();
        expect((await models()).data.every(({ building }) => building === null)).toBe(true);
      }, PATIENT);
      expect(await all<Shipment>(tenant.api, '/v1/shipments')).toHaveLength(count);
    },
    patient(240_000),
  );

  it(
    'are exported, and imported elsewhere',
    async () => {
      const folder = await tempFolder();
      const target = await startStandalone(COMPOSE_HEAP);
      try {
        const file = join(folder.path, 'events.jsonl');
        await cli(subject, 'events', 'export', file);
        await cli(target, 'events', 'import', file);
        const reader = await newKey(target, tenant.workspace, 'viewer');
        const here = (await all<Shipment>(tenant.api, '/v1/shipments')).map(({ id, version }) => `${id} ${version}`);
        await eventually(async () => {
          const there = await all<Shipment>(reader.api, '/v1/shipments');
          expect(there.map(({ id, version }) => `${id} ${version}`)).toEqual(here);
        }, PATIENT);
      } finally {
        await target.stop();
        await folder.remove();
      }
    },
    patient(240_000),
  );
}

/** Keeps the ids only: the events together are larger than the memory of this process. */
async function idsOfEvents({ api }: Tenant, types: readonly string[] = []): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const params = {
      limit: 200,
      ...(types.length > 0 && { type: types.join(',') }),
      ...(cursor !== null && { cursor }),
    };
    const page: AxiosResponse<{ data: EventEnvelope[]; next_cursor: string | null }> = await api.get('/v1/events', {
      params,
    });
    if (page.status !== 200) throw new Error(`${page.status} ${JSON.stringify(page.data)}`);
    ids.push(...page.data.data.map(({ id }) => id));
    cursor = page.data.next_cursor;
    if (cursor === null) return ids;
  }
}
