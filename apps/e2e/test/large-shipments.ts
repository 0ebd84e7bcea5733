import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventEnvelope, Milestone, ReadModelStatus, Shipment, ShipmentException } from '@tracking/contracts';
import { eventually, scaleTimeout, generatePdf, waitForSimulatedDelay, createTempFolder } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { EndpointServer } from './receiver.ts';
import { runCli, runCliJson, startStandaloneSystem, type StartedSystem } from './subject.ts';
import { listAllItems, createKey, createTestTenant, type TestTenant } from './tenant.ts';
import { downloadDocument, sendUploadBytes, requestUpload, uploadDocument } from './uploads.ts';

/**
 * Settings of the tested processes: V8's default heap size within the 1 GiB that docker-compose.yml gives each service,
 * and the allocator settings of the image.
 */
export const COMPOSE_MEMORY_SETTINGS = {
  NODE_OPTIONS: '--max-old-space-size=512',
  MALLOC_ARENA_MAX: '2',
  RATE_LIMIT_PER_MINUTE: '1000000',
};
/** Settings of a standalone server in 1 GiB, as docs/reference/http.md recommends for many large shipments. */
export const STANDALONE_MEMORY_SETTINGS = { ...COMPOSE_MEMORY_SETTINGS, NODE_OPTIONS: '--max-old-space-size=384' };
const COMPOSE_MEMORY_LIMIT_KB = 1_048_576;
const LONG_WAIT_OPTIONS = { deadlineMs: 180_000 };
/** Maximum number of repeated requests in one suite. */
const MAX_REPEATED_REQUESTS_PER_SUITE = 100;

/**
 * Number of shipments whose container numbers all have a wrong check digit, so that most containers have an exception.
 */
const FAULTY_SHIPMENT_COUNT = 6;

const createArray = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n));
/** Creates a text of the maximum length, of characters that take three bytes in UTF-8. */
const createLongText = (character: string, n: number) => `${character.repeat(990)}${n}`.padEnd(1_000, character);

/** Returns a container number with these six digits and the check digit of ISO 6346, or a wrong check digit. */
function createContainerNumber(n: number, isFaulty: boolean): string {
  const number = `MSCU${100_000 + n}`;
  const valueOf = (character: string) => {
    const value = Number.parseInt(character, 36);
    // The values of letters skip the multiples of 11.
    return value < 10 ? value : value + Math.floor((value - 1) / 10);
  };
  const sum = [...number].reduce((total, character, place) => total + valueOf(character) * 2 ** place, 0);
  const digit = (sum % 11) % 10;
  return `${number}${isFaulty ? (digit + 1) % 10 : digit}`;
}

/** Creates the body of a shipment with the maximum number of containers and legs, each with the longest texts. */
const createLargestShipmentBody = (external_id: string, isFaulty: boolean) => ({
  external_id,
  mode: 'ocean',
  container_numbers: createArray(200, (n) => createContainerNumber(n, isFaulty)),
  legs: createArray(50, (n) => ({
    vessel: createLongText('船', n),
    voyage: createLongText('航', n),
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
  })),
});
/** References that do not fit in the request that creates the shipment: one write stores at most 1 MB. */
const REFERENCES_OF_MAX_SIZE = createArray(50, (n) => ({
  type: createLongText('港', n),
  value: createLongText('海', n),
}));
const METADATA_OF_MAX_SIZE = Object.fromEntries(
  createArray(50, (n) => [createLongText('貨', n), createLongText('物', n)]),
);

/** Makes the client repeat requests that get 503. Large requests take longer on a busy machine. */
function retryUnavailableResponses(api: AxiosInstance): AxiosInstance {
  let repeats = 0;
  api.interceptors.response.use(async (answer) => {
    if (answer.status !== 503) return answer;
    repeats += 1;
    if (repeats > MAX_REPEATED_REQUESTS_PER_SUITE)
      throw new Error(`${repeats} answers were 503: ${JSON.stringify(answer.data)}`);
    await waitForSimulatedDelay(1_000);
    return api.request(answer.config);
  });
  return api;
}

type Call = <T>(method: string, path: string, data?: object) => Promise<T>;

/** Returns a function that sends requests of a tenant. @throws Error if a request fails */
function createTenantRequestFunction({ api }: Pick<TestTenant, 'api'>): Call {
  return async (method, url, data) => {
    const answer = await api.request({ method, url, data, headers: { 'Idempotency-Key': randomUUID() } });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.data)}`);
    return answer.data;
  };
}

/** Creates and changes large shipments with five writes each. @returns their ids */
async function createLargeShipments(call: Call, count: number, prefix = 'LARGE'): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = await call<Shipment>(
      'POST',
      '/v1/shipments',
      createLargestShipmentBody(`${prefix}-${n}`, n < FAULTY_SHIPMENT_COUNT),
    );
    await call('PATCH', `/v1/shipments/${id}`, { references: REFERENCES_OF_MAX_SIZE });
    await call('PATCH', `/v1/shipments/${id}`, { metadata: METADATA_OF_MAX_SIZE });
    await call('PATCH', `/v1/shipments/${id}`, { house_bill: `HB-${n}` });
    await call('POST', '/v1/shipments', { external_id: `${prefix}-${n}`, load_type: 'fcl' });
    ids.push(id);
  }
  return ids;
}

/**
 * Tests the largest allowed shipments with every operation on shipments, in lists, streams, deliveries, rebuilds,
 * export and import.
 */
export function declareLargeShipmentTests(start: () => Promise<StartedSystem>, count: number): void {
  /** Timeout of tests whose work grows with the number of shipments. */
  const timeout = scaleTimeout(240_000 + 4_000 * count);
  let subject: StartedSystem;
  let tenant: TestTenant;
  let receiver: EndpointServer;
  let call: Call;
  const ids: string[] = [];
  /** Ids of the events that an open stream received. */
  const streamed: string[] = [];
  const connection = new AbortController();
  beforeAll(async () => {
    subject = await start();
    tenant = await createTestTenant(subject);
    retryUnavailableResponses(tenant.api);
    call = createTenantRequestFunction(tenant);
    receiver = await EndpointServer.startEndpointServer();
    const stream = tenant.client.events.stream({}, { signal: connection.signal });
    void (async () => {
      for await (const { id } of stream) streamed.push(id);
    })().catch(() => undefined);
    // The stream has started when it has an event id.
    await eventually(() => expect(stream.lastEventId).toBeDefined(), LONG_WAIT_OPTIONS);
  }, scaleTimeout(240_000));
  afterAll(async () => {
    connection.abort();
    await receiver?.closeEndpointServer();
    await subject?.stop();
  }, scaleTimeout(120_000));
  afterEach(async () => {
    for (const { pid, spec } of subject.processes) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
      // The system reclaims pages of mapped files, such as the executable, before it kills a process.
      const kb = kilobytes('VmHWM') - kilobytes('RssFile');
      expect([spec.name, kb < COMPOSE_MEMORY_LIMIT_KB ? 'within its memory limit' : `${kb} kB`]).toEqual([
        spec.name,
        'within its memory limit',
      ]);
    }
  });
  /** Uploads a document, replaces it through an upload URL, reviews both and deletes one. */
  async function uploadAndReviewDocuments(shipment: string): Promise<void> {
    const { api } = tenant;
    const id = shipment.slice('/v1/shipments/'.length);
    const file_name = `${'檔'.repeat(70)}.pdf`;
    const bytes = generatePdf('large', 2 * 2 ** 20);
    const stored = await uploadDocument(api, id, bytes, { type: 'commercial_invoice', file_name });
    expect(stored.status).toBe(201);
    await call('POST', `/v1/documents/${stored.data.id}/reject`, { reason: createLongText('因', 1) });
    const requested = await requestUpload(api, id, bytes, { file_name, replaces_document_id: stored.data.id });
    expect(requested.status).toBe(201);
    expect((await sendUploadBytes(requested.data, bytes, subject.urls[0] ?? '')).status).toBeLessThan(300);
    await call('POST', `/v1/documents/${requested.data.id}/complete`);
    await call('POST', `/v1/documents/${requested.data.id}/approve`);
    expect((await downloadDocument(api, requested.data.id)).data).toHaveLength(bytes.length);
    expect(await listAllItems(api, `${shipment}/documents`)).not.toHaveLength(0);
    await call('DELETE', `/v1/documents/${requested.data.id}`);
  }

  it(
    'large shipments are created, patched and delivered',
    async () => {
      const hook = await receiver.createEnabledEndpoint(tenant.api, '/large', {
        event_types: ['shipment.created', 'shipment.updated'],
      });
      ids.push(...(await createLargeShipments(call, count)));
      await eventually(async () => expect(hook.came.size).toBe(count * 5), LONG_WAIT_OPTIONS);
      expect(receiver.faults).toEqual([]);
    },
    timeout,
  );

  it(
    'events of large shipments appear once in lists of events and in a stream',
    async () => {
      const types = ['shipment.created', 'shipment.updated'];
      const [listed, ofTypes] = [await listEventIds(tenant), await listEventIds(tenant, types)];
      expect(new Set(listed).size).toBe(listed.length);
      expect(new Set(ofTypes).size).toBe(count * 5);
      expect(listed).toEqual(expect.arrayContaining([...ofTypes]));
      await eventually(() => expect([...streamed].sort()).toEqual([...listed].sort()), LONG_WAIT_OPTIONS);
    },
    timeout,
  );

  it(
    'large shipments accept milestones, exceptions and documents, and are cancelled and reopened',
    async () => {
      const [id = ''] = ids;
      const of = `/v1/shipments/${id}`;
      const details = {
        location: createLongText('港', 1),
        vessel: createLongText('船', 1),
        voyage: createLongText('航', 1),
        note: createLongText('記', 1),
      };
      const fields = { code: 'vessel_departed', occurred_at: '2026-01-02T08:00:00Z', ...details };
      const milestone = await call<Milestone>('POST', `${of}/milestones`, fields);
      await call('PATCH', `${of}/milestones/${milestone.id}`, { note: createLongText('正', 2) });
      const exception = {
        type: 'cargo_damage',
        title: createLongText('題', 1),
        detail: createLongText('細', 1),
        assignee: createLongText('人', 1),
      };
      const opened = await call<ShipmentException>('POST', `${of}/exceptions`, exception);
      await call('POST', `/v1/exceptions/${opened.id}/acknowledge`, { note: createLongText('記', 1) });
      await call('POST', `/v1/exceptions/${opened.id}/resolve`, { note: createLongText('記', 2) });
      await call('PATCH', `${of}/containers/${createContainerNumber(0, true)}`, { seal_number: '封'.repeat(100) });
      await uploadAndReviewDocuments(of);
      await call('GET', `${of}/explanation`);
      await call('POST', `${of}/cancel`);
      await call('POST', `${of}/reopen`);
      await call('DELETE', `${of}/milestones/${milestone.id}`);
    },
    scaleTimeout(120_000),
  );

  it(
    'every operation reads large shipments, in their current state and as of a time',
    async () => {
      const { api } = tenant;
      for (const id of ids.slice(0, 3)) {
        const of = `/v1/shipments/${id}`;
        const { updated_at } = await call<Shipment>('GET', of);
        await call('GET', `${of}?as_of=${encodeURIComponent(updated_at)}`);
        const history = await listAllItems<{ id: string }>(api, `${of}/history`);
        expect(history.length).toBeGreaterThan(4);
        expect(new Set(history.map((entry) => entry.id)).size).toBe(history.length);
        await listAllItems(api, `${of}/eta_history`);
        await call('GET', `${of}/explanation`);
        const milestones = await listAllItems<Milestone>(api, `${of}/milestones`, { include_retracted: true });
        for (const milestone of milestones) await call('GET', `${of}/milestones/${milestone.id}`);
        await listAllItems(api, `${of}/milestones`, { as_of: updated_at });
        await listAllItems(api, `${of}/documents`);
        const [exception] = await listAllItems<ShipmentException>(api, `${of}/exceptions`);
        if (exception !== undefined) await call('GET', `/v1/exceptions/${exception.id}`);
        const events = await listAllItems<EventEnvelope>(api, '/v1/events', {
          shipment_id: id,
          type: 'shipment.updated',
        });
        expect(events.length).toBeGreaterThanOrEqual(4);
        for (const event of events.slice(0, 2)) await call('GET', `/v1/events/${event.id}`);
      }
      expect(await listAllItems(api, '/v1/exceptions', { status: 'open' })).not.toHaveLength(0);
      const { data } = await call<{ data: readonly { id: string }[] }>('GET', '/v1/webhook_deliveries?limit=200');
      expect(data).not.toHaveLength(0);
      await call('GET', `/v1/webhook_deliveries/${data[0]?.id}`);
    },
    timeout,
  );

  it(
    'many concurrent clients list large shipments',
    async () => {
      const lists = createArray(12, async (n) => {
        const found = await listAllItems<Shipment>(tenant.api, '/v1/shipments', n % 3 === 0 ? { sort: 'eta' } : {});
        expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
      });
      await Promise.all(lists);
      const named = await listAllItems<Shipment>(tenant.api, '/v1/shipments', { id: ids.slice(0, 100).join(',') });
      expect(named).toHaveLength(Math.min(100, count));
    },
    timeout,
  );

  it(
    'one bulk request adds a milestone to each large shipment',
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
    timeout,
  );

  it(
    'read models with large shipments are rebuilt',
    async () => {
      const shipments = () => listAllItems<Shipment>(tenant.api, '/v1/shipments');
      const before = (await shipments()).map(({ id, version }) => `${id} ${version}`);
      const models = () => runCliJson<{ data: readonly ReadModelStatus[] }>(subject, 'read-models', 'list');
      const caughtUp = async () => expect((await models()).data.every((each) => each.caught_up)).toBe(true);
      await eventually(caughtUp, LONG_WAIT_OPTIONS);
      for (const { name } of (await models()).data) {
        await runCli(subject, 'read-models', 'rebuild', name);
        await eventually(async () => {
          await caughtUp();
          expect((await models()).data.every(({ building }) => building === null)).toBe(true);
        }, LONG_WAIT_OPTIONS);
      }
      expect((await shipments()).map(({ id, version }) => `${id} ${version}`)).toEqual(before);
    },
    timeout,
  );

  it(
    'large shipments are exported, imported by another system, and imported back',
    async () => {
      const folder = await createTempFolder();
      const target = await startStandaloneSystem(COMPOSE_MEMORY_SETTINGS);
      try {
        const file = join(folder.path, 'events.jsonl');
        await runCli(subject, 'events', 'export', file);
        await runCli(target, 'events', 'import', file);
        const reader = await createKey(target, tenant.workspace, 'viewer');
        const here = await listAllItems<Shipment>(tenant.api, '/v1/shipments');
        await eventually(async () => {
          const there = await listAllItems<Shipment>(reader.api, '/v1/shipments');
          expect(there.map(({ id }) => id)).toEqual(here.map(({ id }) => id));
          // The re-check after the import may already have added an event.
          const added = there.map(({ version }, n) => version - (here[n]?.version ?? 0));
          expect(added.filter((count) => count !== 0 && count !== 1)).toEqual([]);
        }, LONG_WAIT_OPTIONS);
        const other = await createTestTenant(target);
        retryUnavailableResponses(other.api);
        const others = await createLargeShipments(createTenantRequestFunction(other), 3, 'OTHER');
        const larger = join(folder.path, 'all.jsonl');
        await runCli(target, 'events', 'export', larger);
        await runCli(subject, 'events', 'import', larger);
        const back = await createKey(subject, other.workspace, 'viewer');
        await eventually(async () => {
          const found = await listAllItems<Shipment>(back.api, '/v1/shipments');
          expect(found.map(({ id }) => id).sort()).toEqual([...others].sort());
        }, LONG_WAIT_OPTIONS);
      } finally {
        await target.stop();
        await folder.remove();
      }
    },
    timeout,
  );
}

/** The test keeps only the ids, because all events together exceed the memory of this process. */
async function listEventIds({ api }: TestTenant, types: readonly string[] = []): Promise<readonly string[]> {
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
