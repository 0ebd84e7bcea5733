import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventEnvelope, Shipment } from '@tracking/contracts';
import { type TestEngineAddressesAndProcesses, startDatabaseAndBrokerProcesses } from '@tracking/system';
import {
  createTempFolder,
  DelayingProxy,
  eventually,
  MongoProxy,
  rejectAfterDeadline,
  scaleTimeout,
  waitForSimulatedDelay,
  startStopwatch,
  type TempFolder,
} from '@tracking/testing';
import type { AxiosResponse } from 'axios';
import { EndpointServer, type EndpointWithReceivedDeliveries } from '../receiver.ts';
import { TEST_ENGINES_DIR, startServices, type StartedDistributedTestSystem, readMetricTotal } from '../subject.ts';
import { createTestTenant, listAllItems, type TestTenant } from '../tenant.ts';

/** Milliseconds by which each message to and from a slow engine is delayed. A quick answer takes a few milliseconds. */
const ENGINE_DELAY_MS = 40;
const CONCURRENT_CLIENT_COUNT = 60;
const WRITES_PER_CLIENT = 8;
/** Number of concurrent commands for one shipment, which are decided one after another. */
const CONCURRENT_COMMAND_COUNT = 400;
/** Milliseconds after which a client must have an answer, whatever engine is slow. */
const ANSWER_TIMEOUT_MS = 25_000;
/**
 * Milliseconds within which requests with a key must be answered without the document store, in addition to the time in
 * which this machine answers a request that needs no engine.
 */
const MAX_RESPONSE_MS = 3_000;
const LONG_WAIT_OPTIONS = { deadlineMs: 90_000 };
/** Maximum number of items in each queue, by the metric that counts them. */
const MAX_QUEUE_LENGTHS = {
  commands_pending: 10_000,
  event_store_appends: 10_000,
  message_broker_waiting: 10_000,
  document_store_operations: 10_000,
  command_channel_calls: 10_000,
  webhook_waiting_in_memory: 20_000,
  webhook_payload_bytes_in_memory: 64 * 1_048_576,
};

/** Engines of this machine behind proxies that can delay them. */
interface SlowableEngines {
  readonly eventStore: DelayingProxy;
  readonly broker: DelayingProxy;
  readonly documentStore: MongoProxy;
  readonly running: TestEngineAddressesAndProcesses;
  readonly folder: TempFolder;
}

async function startSlowableEngines(): Promise<SlowableEngines> {
  const folder = await createTempFolder();
  const broker = await DelayingProxy.startDelayingTcpProxy();
  await mkdir(join(folder.path, 'kafka'), { recursive: true });
  // Clients of Kafka connect to the address that the broker advertises.
  const advertised = `advertised.listeners=PLAINTEXT://127.0.0.1:${broker.port}\n`;
  await writeFile(join(folder.path, 'kafka', 'extra.properties'), advertised);
  const running = await startDatabaseAndBrokerProcesses({ folder: folder.path, enginesDir: TEST_ENGINES_DIR });
  broker.serverPort = parsePortOfLoopbackAddress(running.kafkaBrokers);
  const eventStore = await DelayingProxy.startDelayingTcpProxy(parsePortOfLoopbackAddress(running.eventStoreDbUrl));
  const documentStore = await MongoProxy.startMongoProxy(parsePortOfLoopbackAddress(running.mongoUrl));
  return { eventStore, broker, documentStore, running, folder };
}

const parsePortOfLoopbackAddress = (address: string) => Number(/127\.0\.0\.1:(\d+)/.exec(address)?.[1]);

export function declareSlowEngineTests(): void {
  let engines: SlowableEngines;
  let services: StartedDistributedTestSystem;
  let tenant: TestTenant;
  let receiver: EndpointServer;
  let hook: EndpointWithReceivedDeliveries;
  const figures: string[] = [];

  beforeAll(async () => {
    engines = await startSlowableEngines();
    const { eventStore, broker, documentStore } = engines;
    services = await startServices(
      { RATE_LIMIT_PER_MINUTE: '1000000' },
      {
        replicas: 1,
        eventStoreDbUrl: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
        eventStoreDbStart: undefined,
        kafkaBrokers: `127.0.0.1:${broker.port}`,
        mongoUrl: documentStore.buildConnectionStringOfDatabase('tracking'),
        mongoStart: undefined,
      },
    );
    tenant = await createTestTenant(services);
    receiver = await EndpointServer.startEndpointServer(0);
    hook = await receiver.createEnabledEndpoint(tenant.api, '/hook', {});
  }, scaleTimeout(240_000));
  afterAll(async () => {
    process.stdout.write(`${figures.join('\n')}\n`);
    await receiver?.closeEndpointServer();
    await services?.stop();
    for (const proxy of [engines?.eventStore, engines?.broker, engines?.documentStore]) await proxy?.closeProxy();
    const { eventStoreDb, kafka, mongo } = engines?.running ?? {};
    await Promise.all([eventStoreDb?.stopProcess(), kafka?.stopProcess(), mongo?.stopProcess()]);
    await engines?.folder.remove();
    expect(services?.deaths).toEqual([]);
  }, scaleTimeout(120_000));

  const replicas = () => Object.values(services.system.services).flat();

  /** Writes until a status other than 503. Returns the id of the shipment. @throws Error for any other answer */
  async function createShipmentUntilAcknowledged(external_id: string, codes: Map<string, number>): Promise<string> {
    for (;;) {
      const answer = await post('/v1/shipments', { external_id });
      if (answer.status === 200 || answer.status === 201) return (answer.data as Shipment).id;
      expectRefusalAndCountReason(answer, codes);
      await waitForSimulatedDelay(50 * Number(answer.headers['retry-after']));
    }
  }

  const post = (path: string, body: object): Promise<AxiosResponse<unknown>> =>
    rejectAfterDeadline(tenant.api.post<unknown>(path, body), ANSWER_TIMEOUT_MS);

  /** @throws Error if the answer is not a 503 with a known code */
  function expectRefusalAndCountReason(
    { status, data, headers }: AxiosResponse<unknown>,
    codes: Map<string, number>,
  ): void {
    const { code, message } = (data as { error: { code: string; message: string } }).error;
    expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
    expect(['busy', 'unavailable', 'read_model_behind']).toContain(code);
    const reason = `${code}: ${message}`;
    codes.set(reason, (codes.get(reason) ?? 0) + 1);
  }

  /** Returns the longest time in which requests without a key, which need no engine, are answered during the work. */
  async function measureMaxResponseTime(work: Promise<unknown>): Promise<number> {
    let isOver = false;
    const working = work.finally(() => (isOver = true));
    const measuring = (async () => {
      let longest = 0;
      while (!isOver) {
        const elapsed = startStopwatch();
        expect((await tenant.api.get('/v1/shipments', { headers: { authorization: '' } })).status).toBe(401);
        longest = Math.max(longest, elapsed());
        await waitForSimulatedDelay(50);
      }
      return longest;
    })();
    const [longest] = await Promise.all([measuring, working]);
    return longest;
  }

  async function expectQueueLengthsWithinBounds(): Promise<void> {
    for (const [metric, bound] of Object.entries(MAX_QUEUE_LENGTHS)) {
      for (const replica of replicas()) {
        // A reader of metrics may get a connection that the server is closing.
        const count = await eventually(() => readMetricTotal(replica, metric));
        expect(count).toBeLessThanOrEqual(bound);
      }
    }
  }

  /** Writes from many clients at once, and many commands for one shipment. Returns the ids of all shipments. */
  async function writeFromManyClients(name: string, codes: Map<string, number>): Promise<readonly string[]> {
    const hot = await createShipmentUntilAcknowledged(`${name}-hot`, codes);
    const clients = Array.from({ length: CONCURRENT_CLIENT_COUNT }, async (_, client) => {
      const ids: string[] = [];
      for (let n = 0; n < WRITES_PER_CLIENT; n += 1)
        ids.push(await createShipmentUntilAcknowledged(`${name}-${client}-${n}`, codes));
      return ids;
    });
    const burst = Array.from({ length: CONCURRENT_COMMAND_COUNT }, async (_, n) => {
      const occurred_at = new Date(Date.UTC(2025, 0, 1) + n * 60_000).toISOString();
      const answer = await post(`/v1/shipments/${hot}/milestones`, { code: 'vessel_departed', occurred_at });
      if (answer.status !== 201) expectRefusalAndCountReason(answer, codes);
      return answer.status === 201;
    });
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        await expectQueueLengthsWithinBounds();
        await waitForSimulatedDelay(200);
      }
    })();
    const writing = Promise.all([Promise.all(clients), Promise.all(burst)]).finally(() => (isOver = true));
    const [[written, acknowledged]] = await Promise.all([writing, watching]);
    figures.push(
      `${name}: ${acknowledged.filter(Boolean).length} of ${CONCURRENT_COMMAND_COUNT} commands for one shipment accepted`,
    );
    return [hot, ...written.flat()];
  }

  /** Checks that all shipments are listed, and that the receiver got an event of each. */
  async function expectShipmentsListedAndWebhooksDelivered(ids: readonly string[], name: string): Promise<void> {
    await eventually(async () => {
      const listed = await listAllItems<Shipment>(tenant.api, '/v1/shipments');
      const found = new Set(listed.map(({ id }) => id));
      expect(ids.filter((id) => !found.has(id))).toEqual([]);
    }, LONG_WAIT_OPTIONS);
    await eventually(async () => {
      const params = { type: 'shipment.created' };
      const events = await listAllItems<EventEnvelope>(tenant.api, '/v1/events', params);
      const own = events.filter(({ data }) => ids.includes(String(data['shipment_id'])));
      expect([name, own.length]).toEqual([name, ids.length]);
      expect(own.filter(({ id }) => !hook.came.has(id))).toEqual([]);
    }, LONG_WAIT_OPTIONS);
  }

  const slowable: readonly (readonly [name: string, setDelay: (ms: number) => void])[] = [
    ['event store', (ms) => (engines.eventStore.delayMs = ms)],
    ['message broker', (ms) => (engines.broker.delayMs = ms)],
    ['document store', (ms) => (engines.documentStore.delayMs = 2 * ms)],
  ];
  test.each(slowable)(
    'with a slow %s, queues keep their bounds, writes wait or get 503, and nothing is lost',
    async (name, setDelay) => {
      const codes = new Map<string, number>();
      const elapsed = startStopwatch();
      setDelay(ENGINE_DELAY_MS);
      let ids: readonly string[];
      try {
        ids = await writeFromManyClients(name, codes);
      } finally {
        setDelay(0);
      }
      const slowMs = elapsed();
      await expectShipmentsListedAndWebhooksDelivered(ids, name);
      const refusals = JSON.stringify(Object.fromEntries(codes));
      const silences = replicas().map((replica) => readMetricTotal(replica, 'document_store_silences_total'));
      figures.push(`silences of the document store by replica: ${(await Promise.all(silences)).join(', ')}`);
      figures.push(
        `slow ${name}: ${Math.round(slowMs)} ms, 503 by reason ${refusals}; all delivered ${Math.round(elapsed() - slowMs)} ms later`,
      );
      await eventually(async () => {
        for (const replica of replicas()) expect(await readMetricTotal(replica, 'commands_pending')).toBe(0);
      }, LONG_WAIT_OPTIONS);
    },
    scaleTimeout(300_000),
  );

  test(
    'with a hung document store, every request with a key is answered within the promised time',
    async () => {
      const shipment = await createShipmentUntilAcknowledged('HUNG', new Map());
      const occurred_at = '2025-01-01T00:00:00Z';
      const requests: Readonly<Record<string, () => Promise<AxiosResponse<unknown>>>> = {
        list: () => tenant.api.get('/v1/shipments'),
        read: () => tenant.api.get(`/v1/shipments/${shipment}`),
        events: () => tenant.api.get('/v1/events'),
        endpoints: () => tenant.api.get('/v1/webhook_endpoints'),
        create: () => tenant.api.post('/v1/shipments', { external_id: 'HUNG-2' }),
        'create without reference': () => tenant.api.post('/v1/shipments', { house_bill: 'HUNG' }),
        milestone: () => tenant.api.post(`/v1/shipments/${shipment}/milestones`, { code: 'gated_in', occurred_at }),
        'safe retry': () =>
          tenant.api.post('/v1/shipments', { external_id: 'HUNG-3' }, { headers: { 'Idempotency-Key': 'hung' } }),
        endpoint: () => tenant.api.post('/v1/webhook_endpoints', { url: 'https://example.com/', event_types: ['*'] }),
      };
      const slowest = new Map<string, number>();
      const late: string[] = [];
      engines.documentStore.hangConnections();
      try {
        for (let round = 0; round < 4; round += 1) {
          const times = new Map<string, number>();
          const sending = Promise.all(
            Object.entries(requests).map(async ([name, send]) => {
              const elapsed = startStopwatch();
              const { status } = await send();
              expect([name, [200, 201, 503].includes(status)]).toEqual([name, true]);
              times.set(name, elapsed());
            }),
          );
          const machineMs = await measureMaxResponseTime(sending);
          for (const [name, ms] of times) {
            if (ms > MAX_RESPONSE_MS + machineMs) late.push(`${name} in round ${round}: ${Math.round(ms)} ms`);
            slowest.set(name, Math.max(slowest.get(name) ?? 0, Math.round(ms)));
          }
        }
      } finally {
        engines.documentStore.resumeConnections();
      }
      figures.push(`hung document store, slowest answers in ms: ${JSON.stringify(Object.fromEntries(slowest))}`);
      expect(late).toEqual([]);
      await eventually(async () => expect((await tenant.api.get('/v1/shipments')).status).toBe(200), LONG_WAIT_OPTIONS);
      await createShipmentUntilAcknowledged('HUNG-4', new Map());
    },
    scaleTimeout(120_000),
  );
}
