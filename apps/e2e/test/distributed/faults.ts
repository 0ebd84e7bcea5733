import type { EventEnvelope, Milestone, Shipment } from '@tracking/contracts';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { type ServiceReplica, SERVICE_NAMES, type ServiceName } from '@tracking/system';
import {
  eventually,
  itInSoak,
  testIfSupported,
  scaleTimeout,
  type ManagedProcess,
  startStopwatch,
} from '@tracking/testing';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { LoadGenerator } from '../load.ts';
import { EndpointServer, type EndpointWithReceivedDeliveries } from '../receiver.ts';
import {
  DOCUMENT_STORE_NOT_KILLABLE_REASON,
  EVENT_STORE_NOT_KILLABLE_REASON,
  runCli,
  runCliJson,
  readMetricTotal,
  startServices,
  type StartedDistributedTestSystem,
} from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';
import { createKafkaClient, readTopic } from '../topic.ts';

const TEST_SERVICE_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  WEBHOOKS_RETRY_FIRST: '300ms',
  WEBHOOKS_RETRY_FACTOR: '2',
  WEBHOOKS_RETRY_CAP: '2s',
};
const ENDPOINT_COUNT = 4;
const MAX_ENDPOINT_CONCURRENCY = 2;
const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };
/** Milliseconds from now to the ETD of a departure that becomes overdue now. */
const OVERDUE_ETD_OFFSET_MS = -12 * 3_600_000;
/** Messages that are not events. */
const MESSAGES_THAT_ARE_NO_EVENTS = ['not JSON', '{"id": 1}', '', null];

export function declareEngineFaultTests(): void {
  let services: StartedDistributedTestSystem;
  let tenant: TestTenant;
  /** Client of the same workspace whose key never wrote anything. */
  let reader: Omit<TestTenant, 'workspace'>;
  let receiver: EndpointServer;
  let hooks: readonly EndpointWithReceivedDeliveries[];
  let load: LoadGenerator;
  let probes = 0;
  const figures: string[] = [];

  beforeAll(async () => {
    services = await startServices(TEST_SERVICE_SETTINGS);
    tenant = await createTestTenant(services);
    reader = await createKey(services, tenant.workspace, 'viewer');
    receiver = await EndpointServer.startEndpointServer(30);
    const paths = Array.from({ length: ENDPOINT_COUNT }, (_, n) => `/hook-${n}`);
    hooks = await Promise.all(
      paths.map((path) =>
        receiver.createEnabledEndpoint(tenant.api, path, { max_concurrency: MAX_ENDPOINT_CONCURRENCY }),
      ),
    );
    // The endpoint fails some first attempts of deliveries.
    for (const hook of hooks) hook.behave = ({ id }, came) => (came === 1 && id.endsWith('7') ? 500 : 204);
    load = new LoadGenerator(tenant.gateways, 3, 150);
  }, scaleTimeout(240_000));
  // Only one test reports each fault.
  afterEach(() => {
    expect(services.deaths.splice(0)).toEqual([]);
    expect(load.unexpected.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    process.stdout.write(`${figures.join('\n')}\n`);
    await load?.stopLoad();
    await receiver?.closeEndpointServer();
    await services?.stop();
  }, scaleTimeout(120_000));

  const replica = (service: ServiceName, index: number): ManagedProcess => {
    const found = services.system.services[service][index]?.process;
    if (!found) throw new Error(`no ${service} ${index}`);
    return found;
  };
  const engine = (name: 'eventStoreDb' | 'kafka' | 'mongo'): ManagedProcess => {
    const found = services.system.engines[name];
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  /** Waits until every endpoint has received the event of the write. */
  const told = (write: AxiosResponse<Shipment>) =>
    eventually(async () => {
      const params = { shipment_id: write.data.id };
      const [event] = await listAllItems<EventEnvelope>(
        reader.api,
        '/v1/events',
        params,
        createReadAfterWriteHeaders(write),
      );
      expect(hooks.map(({ came }) => came.has(event?.id ?? ''))).toEqual(hooks.map(() => true));
    }, LONG_WAIT_OPTIONS);
  /** Waits until a new write is acknowledged, listed by the gateways, and delivered to every endpoint. */
  const writeReachesAll = async (what: string, gateways = reader.gateways) => {
    const since = startStopwatch();
    const external_id = `PROBE-${(probes += 1)}`;
    const write = await eventually(async () => {
      const answer = await tenant.api.post<Shipment>('/v1/shipments', { external_id });
      expect([200, 201]).toContain(answer.status);
      return answer;
    }, LONG_WAIT_OPTIONS);
    const written = Math.round(since());
    for (const gateway of gateways) {
      await eventually(async () => {
        const listed = await gateway.get('/v1/shipments', {
          params: { external_id },
          headers: createReadAfterWriteHeaders(write),
        });
        expect([listed.status, listed.data.data?.[0]?.id]).toEqual([200, write.data.id]);
      }, LONG_WAIT_OPTIONS);
    }
    const listed = Math.round(since());
    await told(write);
    figures.push(
      `${what}: stored after ${written} ms, listed after ${listed} ms, delivered to all endpoints after ${Math.round(since())} ms`,
    );
  };
  const writesContinue = (count = 20) => {
    const before = load.acknowledged;
    return eventually(() => expect(load.acknowledged).toBeGreaterThanOrEqual(before + count), LONG_WAIT_OPTIONS);
  };
  /** Replica of a service that did the largest share of the measured work. */
  const busiestReplica = async (service: ServiceName, work: string) => {
    const counts = () => Promise.all(services.system.services[service].map((one) => readMetricTotal(one, work)));
    const before = await counts();
    await writesContinue();
    const done = (await counts()).map((count, index) => count - (before[index] ?? 0));
    return done.indexOf(Math.max(...done));
  };
  const health = (service: ServiceName) =>
    axios.get(`${services.system.services[service][0]?.managementUrl}/health/ready`, { validateStatus: () => true });

  for (const [service, index] of SERVICE_NAMES.flatMap((each) => [0, 1].map((number) => [each, number] as const))) {
    (index === 0 ? test : itInSoak)(
      `kill -9 of ${service} ${index}`,
      async () => {
        await writesContinue();
        await replica(service, index).killProcess();
        try {
          const left = reader.gateways.filter((_, number) => service !== 'gateway' || number !== index);
          await writeReachesAll(`kill -9 of ${service} ${index}`, left);
        } finally {
          await replica(service, index).startProcess();
        }
      },
      scaleTimeout(150_000),
    );
  }

  test(
    'accepts writes without the broker, and delays their events',
    async () => {
      await engine('kafka').killProcess();
      await writesContinue(40);
      await eventually(async () => {
        const { status, data } = await health('shipments');
        expect([status, data.status, data.engines['message broker']]).toEqual([
          200,
          'degraded',
          expect.not.stringMatching(/^ok$/),
        ]);
      }, LONG_WAIT_OPTIONS);
      const write = await tenant.api.post<Shipment>('/v1/shipments', { external_id: 'NO-BROKER' });
      expect(write.status).toBe(201);
      const params = { shipment_id: write.data.id };
      expect(await listAllItems(tenant.api, '/v1/events', params, createReadAfterWriteHeaders(write))).toHaveLength(1);
      await engine('kafka').startProcess();
      await told(write);
      await writeReachesAll('the message broker is available again');
    },
    scaleTimeout(240_000),
  );

  const withoutEventStore = 'writes get 503 and reads continue without the event store';
  testIfSupported(EVENT_STORE_NOT_KILLABLE_REASON === undefined, String(EVENT_STORE_NOT_KILLABLE_REASON))(
    withoutEventStore,
    async () => {
      const listed = await reader.api.get('/v1/shipments', { params: { external_id: 'PROBE-1' } });
      await engine('eventStoreDb').killProcess();
      const references = [1, 2, 3].map((n) => `NO-EVENT-STORE-${n}`);
      const upserts = (api: AxiosInstance) =>
        Promise.all(references.map((external_id) => api.post<Shipment>('/v1/shipments', { external_id })));
      for (const refused of (await Promise.all(tenant.gateways.map(upserts))).flat()) {
        expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
      }
      for (const gateway of reader.gateways) {
        const still = await gateway.get('/v1/shipments', { params: { external_id: 'PROBE-1' } });
        expect([still.status, still.data.data[0].id]).toEqual([200, listed.data.data[0].id]);
      }
      await eventually(async () => expect((await health('gateway')).data.status).toBe('degraded'), LONG_WAIT_OPTIONS);
      await engine('eventStoreDb').startProcess();
      await writeReachesAll('the event store is available again');
      expect((await upserts(tenant.api)).map(({ data }) => data.version)).toEqual([1, 1, 1]);
    },
    scaleTimeout(240_000),
  );

  testIfSupported(DOCUMENT_STORE_NOT_KILLABLE_REASON === undefined, String(DOCUMENT_STORE_NOT_KILLABLE_REASON))(
    'responds with 503 to authenticated requests without the document store',
    async () => {
      await engine('mongo').killProcess();
      const asked = (gateway: AxiosInstance) =>
        Promise.all([gateway.get('/v1/shipments'), gateway.post('/v1/shipments', { external_id: 'NO' })]);
      await eventually(async () => {
        const refused = (await Promise.all(tenant.gateways.map(asked))).flat();
        expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      }, LONG_WAIT_OPTIONS);
      await engine('mongo').startProcess();
      await writeReachesAll('the document store is available again');
    },
    scaleTimeout(240_000),
  );

  itInSoak(
    'delivers all events despite a rebalance of a consumer group under load',
    async () => {
      await writesContinue();
      await replica('webhooks', 1).stopProcess();
      await writeReachesAll('one webhooks replica is stopped');
      await replica('webhooks', 1).startProcess();
      await writesContinue();
      await writeReachesAll('the webhooks replica is available again');
    },
    scaleTimeout(150_000),
  );

  test(
    'parks messages that are not events, and processes all other messages',
    async () => {
      const kafka = createKafkaClient(services.system.engines.kafkaBrokers);
      const producer = kafka.producer();
      await producer.connect();
      const { name } = SHIPMENT_EVENTS_TOPIC;
      await producer.send({
        topic: name,
        messages: MESSAGES_THAT_ARE_NO_EVENTS.map((value) => ({ key: 'poison', value })),
      });
      await producer.disconnect();
      await eventually(async () => {
        const { data } = await runCliJson<{ data: { topic: string }[] }>(services, 'parked', 'list');
        expect(data.map(({ topic }) => topic)).toEqual(MESSAGES_THAT_ARE_NO_EVENTS.map(() => name));
      }, LONG_WAIT_OPTIONS);
      const admin = kafka.admin();
      await admin.connect();
      const parked = await admin.fetchTopicOffsets(`${name}-parked`);
      await admin.disconnect();
      expect(parked.reduce((sum, { high }) => sum + Number(high), 0)).toBeGreaterThanOrEqual(
        MESSAGES_THAT_ARE_NO_EVENTS.length,
      );
      await writeReachesAll('invalid messages in the topic');
    },
    scaleTimeout(150_000),
  );

  for (const [isShort, service, work] of [
    [false, 'projections', 'read_model_events_projected_total'],
    [true, 'webhooks', 'webhook_attempts_total'],
    [false, 'shipments', 'publisher_events_published_total'],
  ] as const) {
    (isShort ? test : itInSoak)(
      `a suspended ${service} replica resumes after another one took over`,
      async () => {
        const index = await busiestReplica(service, work);
        replica(service, index).suspendProcess();
        try {
          await writeReachesAll(`${service} ${index} is held`);
        } finally {
          replica(service, index).resumeProcess();
        }
        await eventually(
          () => readMetricTotal(services.system.services[service][index] as ServiceReplica, work),
          LONG_WAIT_OPTIONS,
        );
        await writesContinue();
        await writeReachesAll(`${service} ${index} woke up`);
      },
      scaleTimeout(240_000),
    );
  }

  test(
    'exceptions that become due while the replica with the clock is suspended open once, even after it resumes',
    async () => {
      const index = await busiestReplica('shipments', 'clock_looks_total');
      // The shipments become overdue one by one, every half second, starting in two seconds.
      const dueIn = (ms: number) => new Date(Date.now() + ms + OVERDUE_ETD_OFFSET_MS).toISOString();
      const due = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          tenant.api.post<Shipment>('/v1/shipments', { external_id: `DUE-${n}`, etd: dueIn(2_000 + 500 * n) }),
        ),
      );
      const opened = () =>
        Promise.all(
          due.map(async ({ data }) => {
            const params = { shipment_id: data.id, type: 'exception.opened' };
            return (await listAllItems<EventEnvelope>(reader.api, '/v1/events', params)).length;
          }),
        );
      const once = due.map(() => 1);
      replica('shipments', index).suspendProcess();
      try {
        await eventually(async () => expect(await opened()).toEqual(once), LONG_WAIT_OPTIONS);
      } finally {
        replica('shipments', index).resumeProcess();
      }
      const countLooks = async () => {
        const counts = services.system.services.shipments.map((each) => readMetricTotal(each, 'clock_looks_total'));
        return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      };
      const looks = await countLooks();
      await writesContinue();
      // The clock continues in the other replica, or in the resumed one, which gets its share of the leases back.
      await eventually(async () => expect(await countLooks()).toBeGreaterThan(looks + 1), LONG_WAIT_OPTIONS);
      expect(await opened()).toEqual(once);
    },
    scaleTimeout(240_000),
  );

  test(
    'everything is stopped and restarted',
    async () => {
      await writesContinue();
      await services.system.stopSystem();
      await services.system.restartStoppedProcesses();
      await writeReachesAll('every process restarts');
    },
    scaleTimeout(240_000),
  );

  test(
    'services that start before their engines wait for them',
    async () => {
      await services.system.stopSystem();
      const starting = services.system.startServices();
      for (const service of SERVICE_NAMES) {
        await eventually(async () => {
          const { status, data } = await health(service);
          expect([status, data.status]).toEqual([503, 'starting']);
        }, LONG_WAIT_OPTIONS);
      }
      await services.system.startDatabaseAndBrokerProcesses();
      await starting;
      await writeReachesAll('the engines start after the services');
    },
    scaleTimeout(240_000),
  );

  describe('checks after all faults', () => {
    beforeAll(() => load.stopLoad(), scaleTimeout(120_000));

    test(
      'every acknowledged write is stored with its content',
      async () => {
        const shipments = new Map(
          (await listAllItems<Shipment>(tenant.api, '/v1/shipments')).map((one) => [one.external_id, one]),
        );
        const events = await listAllItems<EventEnvelope>(tenant.api, '/v1/events');
        const told = new Map<string, Set<string>>();
        const tell = (id: string, what: unknown) => told.set(id, (told.get(id) ?? new Set()).add(String(what)));
        for (const { data, type } of events) {
          const id = String(data['shipment_id']);
          if (type === 'milestone.recorded') tell(id, (data['milestone'] as { id: string }).id);
          if (type === 'shipment.created') tell(id, (data['shipment'] as { house_bill?: string }).house_bill);
          if (type === 'shipment.updated')
            tell(id, (data['changes'] as { house_bill?: { to: string } }).house_bill?.to);
        }
        for (const [external_id, { id, bills, milestones }] of load.shipments) {
          expect(shipments.get(external_id)).toMatchObject({ id, house_bill: bills.at(-1) });
          const listed = await listAllItems<Milestone>(tenant.api, `/v1/shipments/${id}/milestones`);
          expect(listed.map((milestone) => milestone.id).sort()).toEqual([...milestones].sort());
          expect([...bills, ...milestones].filter((what) => !told.get(id)?.has(what))).toEqual([]);
        }
        figures.push(`${load.acknowledged} writes acknowledged, ${load.refusals} refused; ${events.length} events`);
      },
      scaleTimeout(120_000),
    );

    test(
      'every event was delivered to every endpoint with the same bytes, within the concurrency limit',
      async () => {
        const events = await listAllItems<EventEnvelope>(tenant.api, '/v1/events');
        const listed = new Set(events.map(({ id }) => id));
        for (const hook of hooks) {
          await eventually(() => expect(events.filter(({ id }) => !hook.came.has(id))).toEqual([]), LONG_WAIT_OPTIONS);
          expect([...hook.came.keys()].filter((id) => !listed.has(id))).toEqual([]);
          expect(hook.excesses).toEqual([]);
          expect(hook.mostAtOnce).toBe(MAX_ENDPOINT_CONCURRENCY);
        }
        for (const event of events) expect(receiver.findEvent(event.id)).toEqual(event);
        expect(receiver.faults).toEqual([]);
        const came = hooks.flatMap((hook) => [...hook.came].map(([id, times]) => times - (id.endsWith('7') ? 1 : 0)));
        const repeats = came.reduce((sum, times) => sum + times - 1, 0);
        figures.push(`${came.length} deliveries, ${repeats} repeated`);
      },
      scaleTimeout(120_000),
    );

    test(
      'the topic holds the events of each shipment in order',
      async () => {
        const seen = await readTopic(services.system.engines.kafkaBrokers, SHIPMENT_EVENTS_TOPIC.name);
        const versions = new Map<string, number>();
        const ids = new Set<string>();
        for (const { key, value } of seen) {
          const event = parseEventMessage(value);
          if (event === undefined || ids.has(event.id)) continue;
          ids.add(event.id);
          const version = Number(event.data['shipment_version']);
          expect([key, version >= (versions.get(key) ?? 0)]).toEqual([event.data['shipment_id'], true]);
          versions.set(key, version);
        }
        const events = await listAllItems<EventEnvelope>(tenant.api, '/v1/events');
        expect(events.filter(({ id }) => !ids.has(id))).toEqual([]);
        figures.push(`${seen.length} messages in the topic, ${ids.size} events`);
      },
      scaleTimeout(120_000),
    );

    test(
      'read models equal rebuilt ones',
      async () => {
        const read = async () => {
          const shipments = await listAllItems<Shipment>(tenant.api, '/v1/shipments');
          const milestones = [];
          for (const { id } of shipments)
            milestones.push(await listAllItems(tenant.api, `/v1/shipments/${id}/milestones`));
          return { shipments, milestones, events: await listAllItems(tenant.api, '/v1/events') };
        };
        const before = await read();
        await runCli(services, 'read-models', 'rebuild');
        expect(await read()).toEqual(before);
      },
      scaleTimeout(180_000),
    );

    test('no further messages are parked', async () => {
      expect((await runCliJson<{ data: unknown[] }>(services, 'parked', 'list')).data).toHaveLength(
        MESSAGES_THAT_ARE_NO_EVENTS.length,
      );
    });
  });
}

/** Parses a message of the topic. Returns undefined if the message is not an event. */
function parseEventMessage(text: string): EventEnvelope | undefined {
  try {
    const event = JSON.parse(text) as Partial<EventEnvelope> | null;
    return typeof event?.data === 'object' ? (event as EventEnvelope) : undefined;
  } catch {
    return undefined;
  }
}
