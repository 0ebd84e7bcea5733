import type { Shipment } from '@tracking/contracts';
import type { ServiceReplica } from '@tracking/system';
import { eventually, scaleTimeout } from '@tracking/testing';
import { MongoClient } from 'mongodb';
import {
  EndpointServer,
  type Answer,
  type ReceivedRequest,
  type Behaviour,
  type EndpointWithReceivedDeliveries,
} from '../receiver.ts';
import { readMetricTotal, startServices, type StartedDistributedTestSystem } from '../subject.ts';
import { listAllItems, createTestTenant, type TestTenant } from '../tenant.ts';

const SERVICE_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  // Settings with a retry schedule under which no retry happens during the test.
  WEBHOOKS_RETRY_FIRST: '6h',
  // Milliseconds of the pause, which is shorter than the time until another replica takes over from a killed owner.
  WEBHOOKS_RECOVERY_AFTER: '2s',
  // The receivers respond only when the test calls for a response.
  WEBHOOKS_TIMEOUT: '5m',
};
const EVENT_FILTER = { event_types: ['shipment.created'] };
const LONG_WAIT_OPTIONS = { deadlineMs: 90_000 };
/** Maximum number of concurrent attempts at an endpoint that has failed and has not yet responded with 2xx again. */
const MAX_CONCURRENT_ATTEMPTS_AFTER_FAILURE = 2;
const MAX_RECOVERY_CONCURRENCY = 10;
/** Number of waiting deliveries. It exceeds the number of deliveries that the service attempts at once. */
const WAITING_DELIVERY_COUNT = 80;
/** Seconds of the pause, which is much longer than the time until another replica takes over from a killed owner. */
const RETRY_AFTER_SECONDS = 25;

export function declareDeliveryPacingTests(): void {
  let services: StartedDistributedTestSystem;
  let tenant: TestTenant;
  let receiver: EndpointServer;
  let mongo: MongoClient;
  /** Events created for this test. */
  let shipments: number;

  beforeAll(async () => {
    services = await startServices(SERVICE_SETTINGS);
    mongo = new MongoClient(services.system.engines.mongoUrl);
  }, scaleTimeout(240_000));
  beforeEach(async () => {
    tenant = await createTestTenant(services);
    receiver = await EndpointServer.startEndpointServer();
    shipments = 0;
  });
  afterEach(async () => {
    await receiver?.closeEndpointServer();
    expect(receiver.faults).toEqual([]);
    expect(services.deaths.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await services?.stop();
    await mongo?.close();
  }, scaleTimeout(120_000));

  const newEvents = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const made = await tenant.api.post<Shipment>('/v1/shipments', { external_id: `PACE-${(shipments += 1)}` });
      expect(made.status).toBe(201);
    }
  };
  /** Stored condition of the endpoint, which a new owner of the endpoint would read. */
  const stored = async ({ id }: EndpointWithReceivedDeliveries) => {
    const conditions = mongo.db().collection<EndpointCondition>('webhook_endpoint_conditions');
    return conditions.findOne({ _id: id });
  };
  const statuses = async ({ id }: EndpointWithReceivedDeliveries) => {
    const deliveries = await listAllItems<{ status: string }>(tenant.api, '/v1/webhook_deliveries', {
      endpoint_id: id,
    });
    return deliveries.map(({ status }) => status);
  };
  /** Replica with the most pending attempts. */
  const owner = () =>
    eventually(async () => {
      const replicas = services.system.services.webhooks;
      const underWay = await Promise.all(replicas.map((one) => readMetricTotal(one, 'webhook_attempts_in_flight')));
      const most = Math.max(...underWay);
      expect(most).toBeGreaterThan(0);
      return replicas[underWay.indexOf(most)] as ServiceReplica;
    }, LONG_WAIT_OPTIONS);
  /** Kills the replica and restarts it at once. The restarted replica then competes for ownership like any other. */
  const killAndRestart = async ({ process }: ServiceReplica) => {
    await process.killProcess();
    await process.startProcess();
  };

  test(
    'retries waiting deliveries at once when the endpoint recovers, one more at a time with each success, whichever replica owns it',
    async () => {
      const fields = { ...EVENT_FILTER, max_concurrency: MAX_RECOVERY_CONCURRENCY };
      const hook = await receiver.createEnabledEndpoint(tenant.api, '/recovering', fields);
      hook.behave = () => 500;
      await newEvents(WAITING_DELIVERY_COUNT);
      await eventually(async () => {
        await newEvents(1);
        expect(await stored(hook)).toMatchObject({ failing_since: expect.any(String) });
      }, LONG_WAIT_OPTIONS);
      const every = (status: string) => Array<string>(shipments).fill(status);
      await eventually(async () => expect(await statuses(hook)).toEqual(every('retrying')), LONG_WAIT_OPTIONS);

      const gate = new ManualReceiver();
      hook.behave = gate.behave;
      /** Each success allows one more concurrent attempt. */
      const succeeds = async (times: number) => {
        for (let time = 1; time <= times; time += 1) {
          await eventually(
            () => expect(gate.waiting.length).toBeGreaterThanOrEqual(Math.min(time, MAX_RECOVERY_CONCURRENCY)),
            LONG_WAIT_OPTIONS,
          );
          gate.respondToOldest(204);
        }
      };
      await newEvents(1);
      await killAndRestart(await owner());
      await succeeds(4);
      await killAndRestart(await owner());
      await succeeds(MAX_RECOVERY_CONCURRENCY + 1);
      gate.respondToAllRequests(204);

      await eventually(async () => expect(await statuses(hook)).toEqual(every('succeeded')), LONG_WAIT_OPTIONS);
      expect(hook.came.size).toBe(shipments);
      const tooMany = gate.arrivals.filter(
        ({ underWay, succeeded }) => underWay > MAX_CONCURRENT_ATTEMPTS_AFTER_FAILURE + succeeded,
      );
      expect(tooMany).toEqual([]);
      expect(hook.mostAtOnce).toBe(MAX_RECOVERY_CONCURRENCY);
    },
    scaleTimeout(300_000),
  );

  test(
    'makes no attempt before the time that an endpoint requested, whichever replica owns it',
    async () => {
      const replies = [
        createRetryAfterSecondsAnswer,
        createRetryAfterSecondsAnswer,
        createRetryAfterDateAnswer,
        createRetryAfterDateAnswer,
      ];
      const held = await Promise.all(
        replies.map(async (reply, number) => {
          const hook = await receiver.createEnabledEndpoint(tenant.api, `/held-${number}`, {
            ...EVENT_FILTER,
            max_concurrency: 1,
          });
          const gate = new ManualReceiver();
          hook.behave = gate.behave;
          return { hook, gate, reply };
        }),
      );
      await newEvents(3);
      await eventually(async () => {
        for (const { hook, gate } of held) {
          expect([gate.waiting.length, await statuses(hook)]).toEqual([1, ['pending', 'pending', 'pending']]);
        }
      }, LONG_WAIT_OPTIONS);
      const busiest = await owner();
      const told = held.map(({ hook, gate, reply }) => {
        const { until, answer } = reply();
        const live: EventArrival[] = [];
        const sandbox: EventArrival[] = [];
        hook.behave = ({ id, ...event }, _came, { at }) => {
          (event.sandbox ? sandbox : live).push({ id, at });
          return 204;
        };
        gate.respondToOldest(answer);
        return { hook, until, live, sandbox };
      });
      await eventually(async () => {
        for (const { hook } of told) expect(await stored(hook)).toMatchObject({ held_until: expect.any(String) });
      }, LONG_WAIT_OPTIONS);
      await killAndRestart(busiest);

      // The pause does not apply to manual retries. They come from the current owner, which knows the waiting
      // deliveries.
      for (const { hook, sandbox, until } of told) {
        await eventually(async () => {
          const test = `/v1/webhook_endpoints/${hook.id}/test`;
          expect((await tenant.api.post(test, { type: 'shipment.created' })).status).toBe(202);
        }, LONG_WAIT_OPTIONS);
        await eventually(() => expect(sandbox.length).toBeGreaterThan(0), LONG_WAIT_OPTIONS);
        expect(sandbox[0]?.at).toBeLessThan(until);
      }
      await newEvents(1);
      for (const { live, until } of told) {
        await eventually(() => expect(new Set(live.map(({ id }) => id)).size).toBe(shipments), LONG_WAIT_OPTIONS);
        expect(live.filter(({ at }) => at < until)).toEqual([]);
      }
    },
    scaleTimeout(300_000),
  );
}

/** An event and its arrival in epoch milliseconds. */
interface EventArrival {
  readonly id: string;
  readonly at: number;
}

interface EndpointCondition {
  readonly _id: string;
  readonly held_until: string | null;
  readonly failing_since: string | null;
}

/** A receiver that responds only when the test calls for a response. */
class ManualReceiver {
  readonly arrivals: ReceivedRequest[] = [];
  private asked: { readonly arrival: ReceivedRequest; readonly reply: (answer: Answer) => void }[] = [];
  private always: Answer | undefined;

  readonly behave: Behaviour = (_event, _came, arrival) => {
    this.arrivals.push(arrival);
    return this.always ?? new Promise((reply) => this.asked.push({ arrival, reply }));
  };

  /** Requests whose sender still waits for a response. */
  get waiting() {
    return this.asked.filter(({ arrival }) => arrival.isOpen);
  }

  /** Responds to the request that has waited longest for a response. */
  respondToOldest(answer: Answer): void {
    const [first, ...others] = this.waiting;
    this.asked = others;
    first?.reply(answer);
  }

  /** Responds to all waiting requests, and immediately to all later requests. */
  respondToAllRequests(answer: Answer): void {
    this.always = answer;
    for (const { reply } of this.waiting) reply(answer);
  }
}

/** Creates a response that requests a pause, with the end of the pause in epoch milliseconds. */
type Hold = () => { readonly until: number; readonly answer: Answer };

const createRetryAfterSecondsAnswer: Hold = () => ({
  until: Date.now() + RETRY_AFTER_SECONDS * 1_000,
  answer: { status: 429, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
});

const createRetryAfterDateAnswer: Hold = () => {
  const date = new Date((Math.ceil(Date.now() / 1_000) + RETRY_AFTER_SECONDS) * 1_000);
  return { until: date.getTime(), answer: { status: 503, headers: { 'retry-after': date.toUTCString() } } };
};
