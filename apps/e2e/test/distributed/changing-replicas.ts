import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventEnvelope, Milestone, Shipment } from '@tracking/contracts';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { SERVICE_NAMES, type ServiceName, type ServiceReplica } from '@tracking/system';
import { eventually, scaleTimeout, waitForSimulatedDelay, startStopwatch } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { LoadGenerator } from '../load.ts';
import { EndpointServer, type EndpointWithReceivedDeliveries } from '../receiver.ts';
import { startServices, type StartedDistributedTestSystem } from '../subject.ts';
import {
  createTestTenant,
  listAllItems,
  listItemsAfterAllWrites,
  createReadAfterWriteHeaders,
  type TestTenant,
} from '../tenant.ts';
import { readTopic } from '../topic.ts';
import { computeShardLeaseName, LeaseObserver, type LeaseReport, readLeaseReport } from './lease-observer.ts';

const TEST_SERVICE_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  WEBHOOKS_RETRY_FIRST: '300ms',
  WEBHOOKS_RETRY_FACTOR: '2',
  WEBHOOKS_RETRY_CAP: '2s',
};
const [MAX_REPLICAS, LEFT_REPLICAS] = [4, 2];
/** Number of processes that are killed and restarted while four replicas of each service run. */
const KILLED_PROCESS_COUNT = 5;
/**
 * Milliseconds within which the shares must become even: 15 s, and 7 s for pauses of processes on a busy machine. A
 * takeover is later by such a pause.
 */
const SHARE_BALANCING_TIMEOUT_MS = 15_000 + 7_000;
/**
 * Maximum concurrency of each endpoint. The first endpoint also requests pauses, and the last one fails some attempts.
 * The second one gets one event at a time and fails none, so it gets the events of a shipment in order.
 */
const ENDPOINT_CONCURRENCY_LIMITS = [1, 1, 2, 3];
const RECEIVER_WORK_MS_PER_DELIVERY = 50;
/** Seconds of a pause, which is longer than the time until another replica takes over from a killed owner. */
const RETRY_AFTER_SECONDS = 14;
const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };
/** Seed of the random choices. */
const RANDOM_CHOICES_SEED = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 1_000_000);

/** An attempt at an endpoint. */
interface ObservedAttempt {
  readonly eventId: string;
  /** Time of arrival in epoch milliseconds. */
  readonly at: number;
  readonly status: number;
}

export function declareReplicaChangeTests(): void {
  let services: StartedDistributedTestSystem;
  let tenant: TestTenant;
  let receiver: EndpointServer;
  let hooks: readonly EndpointWithReceivedDeliveries[];
  let load: LoadGenerator;
  let observer: LeaseObserver;
  /** Replicas that run, and clients of the gateways that a load balancer would use. */
  const running = new Set<ServiceReplica>();
  const gateways = new Map<ServiceReplica, AxiosInstance>();
  const balanced: AxiosInstance[] = [];
  const attempts = new Map<string, ObservedAttempt[]>();
  /** Attempts that arrived during a pause. */
  const early: string[] = [];
  const pause = { isDue: false, until: 0 };
  const figures: string[] = [];
  const random = new RandomChoices(RANDOM_CHOICES_SEED);
  const elapsed = startStopwatch();

  beforeAll(async () => {
    services = await startServices(TEST_SERVICE_SETTINGS, { replicas: MAX_REPLICAS, startedReplicas: 1 });
    tenant = await createTestTenant(services);
    services.system.services.gateway.forEach((replica, index) =>
      gateways.set(replica, tenant.gateways[index] as AxiosInstance),
    );
    for (const service of SERVICE_NAMES) addRunningReplica(replicaOf(service, 0));
    receiver = await EndpointServer.startEndpointServer(RECEIVER_WORK_MS_PER_DELIVERY);
    hooks = await Promise.all(
      ENDPOINT_CONCURRENCY_LIMITS.map((max_concurrency, index) =>
        receiver.createEnabledEndpoint(balanced[0] as AxiosInstance, `/hook-${index}`, { max_concurrency }),
      ),
    );
    for (const hook of hooks) respondAndObserveAttempts(hook);
    observer = await LeaseObserver.startObservingLeases(services.system.engines.mongoUrl, () => running);
    load = new LoadGenerator(balanced, 3, 450);
  }, scaleTimeout(240_000));
  afterAll(async () => {
    process.stdout.write(`${figures.join('\n')}\n`);
    await load?.stopLoad();
    await observer?.stopObservingLeases();
    await receiver?.closeEndpointServer();
    await services?.stop();
  }, scaleTimeout(120_000));

  const replicaOf = (service: ServiceName, index: number) => services.system.services[service][index] as ServiceReplica;
  const runningOf = (service: ServiceName) => services.system.services[service].filter((one) => running.has(one));

  function addRunningReplica(replica: ServiceReplica): void {
    running.add(replica);
    const client = gateways.get(replica);
    if (client !== undefined && !balanced.includes(client)) balanced.push(client);
  }
  function removeReplicaFromBalancer(replica: ServiceReplica): void {
    const at = balanced.indexOf(gateways.get(replica) as AxiosInstance);
    if (at >= 0) balanced.splice(at, 1);
  }
  async function startReplica(replica: ServiceReplica): Promise<void> {
    await replica.process.startProcess();
    addRunningReplica(replica);
  }
  async function killReplica(replica: ServiceReplica): Promise<void> {
    running.delete(replica);
    figures.push(`${Math.round(elapsed())} ms: killed ${replica.process.spec.name}`);
    await replica.process.killProcess();
  }
  async function stopReplica(replica: ServiceReplica): Promise<void> {
    removeReplicaFromBalancer(replica);
    await replica.process.stopProcess();
    running.delete(replica);
  }

  /** Lets the endpoint respond with 204, except where its role is another, and records all attempts. */
  function respondAndObserveAttempts(hook: EndpointWithReceivedDeliveries): void {
    const observed: ObservedAttempt[] = [];
    attempts.set(hook.id, observed);
    const respond = (eventId: string, came: number, at: number) => {
      if (hook === hooks.at(-1)) return came === 1 && eventId.endsWith('7') ? 500 : 204;
      if (hook !== hooks[0]) return 204;
      if (at < pause.until) early.push(`${eventId} arrived ${pause.until - at} ms before the end of the pause`);
      if (!pause.isDue) return 204;
      pause.isDue = false;
      pause.until = Date.now() + RETRY_AFTER_SECONDS * 1_000;
      return { status: 429, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } };
    };
    hook.behave = ({ id }, came, arrival) => {
      const answer = respond(id, came, arrival.at);
      // The sender has not received the response if it has disconnected.
      const status = arrival.isOpen ? (typeof answer === 'number' ? answer : answer.status) : 0;
      observed.push({ eventId: id, at: arrival.at, status });
      return answer;
    };
  }

  /** Requests a pause of the first endpoint. Returns the replica that attempts it, once the pause is stored. */
  async function pauseEndpointAndFindReplica(): Promise<ServiceReplica> {
    const { id } = hooks[0] as EndpointWithReceivedDeliveries;
    pause.isDue = true;
    await eventually(async () => {
      expect(pause.isDue).toBe(false);
      expect(await observer.findStoredEndpointPause(id)).toBeGreaterThanOrEqual(pause.until);
    }, LONG_WAIT_OPTIONS);
    return findHolder('webhooks', new RegExp(`^${computeShardLeaseName(id)}$`));
  }

  const findHolder = (service: ServiceName, lease: RegExp) =>
    eventually(async () => {
      const pid = await observer.findLeaseHolderProcess(lease);
      const holder = runningOf(service).find(({ process }) => process.pid === pid);
      expect(holder).toBeDefined();
      return holder as ServiceReplica;
    }, LONG_WAIT_OPTIONS);

  /**
   * Waits until the running replicas of each service share all leases of each group, and their numbers of leases differ
   * by at most one. The time to do so starts again if a process loses leases, because a machine that gives processes no
   * CPU time for seconds says nothing about it.
   */
  async function expectEvenLeaseShares(totals: ReadonlyMap<string, number>): Promise<void> {
    const waiting = startStopwatch();
    const findUnevenShares = async () => {
      const reports = await Promise.all(
        [...running].map(async (replica) => (await readLeaseReport(replica))?.leases ?? {}),
      );
      return [...totals].flatMap(([group, total]) => {
        const shares = reports.flatMap(({ [group]: share }) => share ?? []);
        const held = shares.map((share) => share.held);
        const isEven =
          held.reduce((sum, one) => sum + one, 0) === total &&
          Math.max(...held) - Math.min(...held) <= 1 &&
          shares.every(({ members }) => members === shares.length);
        return isEven ? [] : [{ group, total, shares }];
      });
    };
    const startedAt = Date.now();
    await eventually(async () => expect(await findUnevenShares()).toEqual([]), LONG_WAIT_OPTIONS);
    const evenAt = Date.now();
    const changedAt = Math.max(startedAt, await findLastLeaseLoss(services.folder));
    expect(evenAt).toBeLessThanOrEqual(changedAt + scaleTimeout(SHARE_BALANCING_TIMEOUT_MS));
    figures.push(
      `${Math.round(elapsed())} ms: even shares of ${running.size} processes, after ${Math.round(waiting())} ms`,
    );
  }

  /** Returns the number of leases in each group, all of which the only replica of a service holds. */
  const countLeases = (): Promise<ReadonlyMap<string, number>> =>
    eventually(async () => {
      const totals = new Map<string, number>();
      for (const service of SERVICE_NAMES) {
        const leases: LeaseReport = (await readLeaseReport(replicaOf(service, 0)))?.leases ?? {};
        for (const [group, { held, members }] of Object.entries(leases)) if (members > 0) totals.set(group, held);
      }
      // The numbers of shards and of partitions are documented.
      expect(Object.fromEntries(totals)).toMatchObject({ webhook_shards: 64, publisher: 16 });
      expect([...totals.keys()].sort()).toEqual(LEASE_GROUPS);
      return totals;
    }, LONG_WAIT_OPTIONS);

  /** Kills random processes, most of them while others restart. The first is the given one. */
  async function killRandomServiceReplicas(first: ServiceReplica): Promise<void> {
    const restarts: Promise<void>[] = [];
    for (let kill = 0; kill < KILLED_PROCESS_COUNT; kill += 1) {
      const victim = kill === 0 ? first : random.pickRandomItem([...running]);
      await killReplica(victim);
      restarts.push(waitForSimulatedDelay(random.chooseNumberBelow(3_000)).then(() => startReplica(victim)));
      await waitForSimulatedDelay(random.chooseNumberBelow(2_500));
    }
    await Promise.all(restarts);
  }

  /** Ends one of the replicas with SIGKILL and another with SIGTERM, in random order. */
  async function stopTwoReplicas(
    service: ServiceName,
    killed = random.pickRandomItem(runningOf(service)),
  ): Promise<void> {
    const stopped = random.pickRandomItem(runningOf(service).filter((one) => one !== killed));
    const steps = random.shuffleItems([
      async () => {
        await killReplica(killed);
        removeReplicaFromBalancer(killed);
      },
      () => stopReplica(stopped),
    ]);
    for (const step of steps) await step();
  }

  /**
   * Writes and reads lists until the change has ended and a list is current. Each list contains the client's last write
   * or states its age.
   * @returns the number of lists that stated their age
   */
  async function readListsDuringChange(change: Promise<void>, name: string): Promise<number> {
    let hasChanged = false;
    const changing = change.finally(() => (hasChanged = true));
    const reading = async () => {
      let aged = 0;
      for (let turn = 0; ; turn += 1) {
        // A write before the change says nothing about lists after it.
        const isAfterChange = hasChanged;
        const [writer, reader] = [0, 1].map((index) => balanced[(turn + index) % balanced.length] as AxiosInstance);
        const isCurrent = await createShipmentAndFindInList(
          writer as AxiosInstance,
          reader as AxiosInstance,
          `${name}-${turn}`,
        );
        if (!isCurrent) aged += 1;
        else if (isAfterChange) return aged;
        await waitForSimulatedDelay(200);
      }
    };
    const [aged] = await Promise.all([reading(), changing]);
    return aged;
  }

  /** @returns false if the list stated its age */
  async function createShipmentAndFindInList(
    writer: AxiosInstance,
    reader: AxiosInstance,
    external_id: string,
  ): Promise<boolean> {
    const write = await eventually(async () => {
      const answer = await writer.post<Shipment>('/v1/shipments', { external_id });
      expect([200, 201]).toContain(answer.status);
      return answer;
    }, LONG_WAIT_OPTIONS);
    const options = { headers: createReadAfterWriteHeaders(write) };
    const { id } = write.data;
    const ask = () => reader.get('/v1/shipments', { ...options, params: { external_id } });
    let listed: AxiosResponse<{ data: readonly Shipment[] }> = await ask();
    // On a busy machine, a list can fail once, after it waited as long as a list waits.
    if (listed.status === 503) listed = await ask();
    const age = listed.headers['read-model-age'] as string | undefined;
    expect([listed.status, age ?? '0']).toEqual([200, expect.stringMatching(/^\d+$/)]);
    if (age === undefined) expect(listed.data.data.map((shipment) => shipment.id)).toEqual([id]);
    const read = await reader.get<Shipment>(`/v1/shipments/${id}`, options);
    expect([read.status, read.data.external_id]).toEqual([200, external_id]);
    return age === undefined;
  }

  test(
    'one, four and two replicas of each service share all leases evenly, whatever replicas are killed',
    async () => {
      const totals = await countLeases();
      for (let index = 1; index < MAX_REPLICAS; index += 1) {
        await Promise.all(SERVICE_NAMES.map((service) => startReplica(replicaOf(service, index))));
      }
      await expectEvenLeaseShares(totals);
      await killRandomServiceReplicas(await pauseEndpointAndFindReplica());
      await expectEvenLeaseShares(totals);

      await stopTwoReplicas('shipments');
      await stopTwoReplicas('gateway');
      await stopTwoReplicas('webhooks', await pauseEndpointAndFindReplica());
      // The lists of shipments need all partitions. Any of them serves.
      const findProjector = () => findHolder('projections', /^shipments\.g\d+\.v\d+\.shipment-a-/);
      const killed = await findProjector();
      expect(await readListsDuringChange(killReplica(killed), 'KILL')).toBeGreaterThan(0);
      await readListsDuringChange(stopReplica(await findProjector()), 'STOP');
      for (const service of SERVICE_NAMES) expect(runningOf(service)).toHaveLength(LEFT_REPLICAS);
      await expectEvenLeaseShares(totals);
    },
    scaleTimeout(240_000),
  );

  describe('checks after all changes', () => {
    let events: readonly EventEnvelope[];
    const api = () => balanced[0] as AxiosInstance;

    beforeAll(async () => {
      await load.stopLoad();
      // Other gateways acknowledged some of the last writes. The token of a later write includes all of them.
      events = await eventually(async () => {
        const last = await api().post<Shipment>('/v1/shipments', { external_id: 'LAST', mode: 'ocean' });
        return listItemsAfterAllWrites<EventEnvelope>(api(), '/v1/events', {}, createReadAfterWriteHeaders(last));
      }, LONG_WAIT_OPTIONS);
      figures.push(
        `seed ${RANDOM_CHOICES_SEED}: ${load.acknowledged} writes acknowledged, ${load.refusals} refused, ${events.length} events`,
      );
    }, scaleTimeout(120_000));

    test(
      'every acknowledged write is stored, and is one event',
      async () => {
        expect(load.unexpected).toEqual([]);
        const told = Map.groupBy(events, ({ data }) => String(data['shipment_id']));
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        for (const [external_id, { id, bills, milestones }] of load.shipments) {
          const stored = await api().get<Shipment>(`/v1/shipments/${id}`);
          expect(stored.data).toMatchObject({ external_id, house_bill: bills.at(-1) });
          const listed = await listItemsAfterAllWrites<Milestone>(api(), `/v1/shipments/${id}/milestones`);
          expect(listed.map((milestone) => milestone.id).sort()).toEqual([...milestones].sort());
          const written = (told.get(id) ?? []).flatMap((event) => getClientGivenIdOfEvent(event) ?? []);
          expect(written.toSorted()).toEqual([...bills, ...milestones].sort());
        }
      },
      scaleTimeout(120_000),
    );

    test(
      'the events of each shipment are in order, at /v1/events and in the topic',
      async () => {
        expectOrderPerShipment(events);
        const messages = await readTopic(services.system.engines.kafkaBrokers, SHIPMENT_EVENTS_TOPIC.name);
        const published = messages.map(({ value }) => JSON.parse(value) as EventEnvelope);
        // Events that were published again follow their first message.
        const ids = new Set<string>();
        expectOrderPerShipment(published.filter(({ id }) => ids.size < ids.add(id).size));
        expect(events.filter(({ id }) => !ids.has(id))).toEqual([]);
        figures.push(`${messages.length} messages in the topic, ${ids.size} events`);
      },
      scaleTimeout(120_000),
    );

    test(
      'every event was delivered to every endpoint, again only by another owner, within all limits and pauses',
      async () => {
        for (const hook of hooks) {
          const delivered = () => (attempts.get(hook.id) ?? []).filter(({ status }) => status === 204);
          await eventually(() => {
            const ids = new Set(delivered().map(({ eventId }) => eventId));
            expect(events.filter(({ id }) => !ids.has(id))).toEqual([]);
          }, LONG_WAIT_OPTIONS);
          await eventually(async () => {
            const params = { endpoint_id: hook.id };
            const deliveries = await listAllItems<{ status: string }>(api(), '/v1/webhook_deliveries', params);
            expect(deliveries.map(({ status }) => status)).toEqual(events.map(() => 'succeeded'));
          }, LONG_WAIT_OPTIONS);
          const again = [...Map.groupBy(delivered(), ({ eventId }) => eventId).values()].flatMap((times) =>
            times.slice(1).map(({ at }, index) => ({ from: times[index]?.at ?? 0, to: at })),
          );
          const lease = computeShardLeaseName(hook.id);
          expect(again.filter(({ from, to }) => !observer.mayLeaseHaveMoved(lease, from, to))).toEqual([]);
          expect(hook.excesses).toEqual([]);
          figures.push(`${delivered().length} deliveries, ${again.length} repeated, ${hook.mostAtOnce} at once`);
        }
        expect(receiver.faults).toEqual([]);
        expect(early).toEqual([]);
      },
      scaleTimeout(180_000),
    );

    test('an endpoint without failures, and with one attempt at a time, gets the events of each shipment in order of time', () => {
      const known = new Map(events.map((event) => [event.id, event]));
      const observed = attempts.get(hooks[1]?.id ?? '') ?? [];
      const arrived = [...new Set(observed.map(({ eventId }) => eventId))].flatMap((id) => known.get(id) ?? []);
      for (const [id, some] of Map.groupBy(arrived, ({ data }) => data['shipment_id'])) {
        // Events of one millisecond, such as those of one change, arrive in any order.
        const times = some.map(({ created_at }) => created_at);
        expect([id, times]).toEqual([id, times.toSorted()]);
      }
    });

    test('each lease had one owner at any time, and no earlier owner wrote', async () => {
      expect(observer.violations).toEqual([]);
      figures.push(`${observer.comparisons} comparisons, highest epoch ${observer.maxEpoch}`);
      expect(observer.comparisons).toBeGreaterThan(0);
      expect(services.deaths).toEqual([]);
    });
  });
}

/** Groups of leases, as docs/reference/running.md lists them. */
const LEASE_GROUPS = ['gateway_jobs', 'publisher', 'read_models', 'shipment_jobs', 'webhook_jobs', 'webhook_shards'];

/** Returns the value by which the client that caused the event knows it; undefined for events of other causes. */
function getClientGivenIdOfEvent({ type, data }: EventEnvelope): string | undefined {
  if (type === 'milestone.recorded') return (data['milestone'] as { id: string }).id;
  if (type === 'shipment.created') return (data['shipment'] as { house_bill?: string }).house_bill;
  if (type === 'shipment.updated') return (data['changes'] as { house_bill?: { to: string } }).house_bill?.to;
  return undefined;
}

function expectOrderPerShipment(events: readonly EventEnvelope[]): void {
  for (const [id, some] of Map.groupBy(events, ({ data }) => data['shipment_id'])) {
    const versions = some.map(({ data }) => Number(data['shipment_version']));
    expect([id, versions]).toEqual([id, versions.toSorted((one, other) => one - other)]);
  }
}

/**
 * Returns when a running process last lost leases, in epoch milliseconds; 0 if none did.
 * @param folder folder of the logs
 */
async function findLastLeaseLoss(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) =>
    SERVICE_NAMES.some((service) => name.startsWith(`${service}-`)),
  );
  const logs = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  // The last line of a killed process may be incomplete, so lines are not parsed.
  const times = logs.flatMap((log) => [...log.matchAll(/"time":"([^"]+)".*"lost":\[/g)].map(([, time = '']) => time));
  return Math.max(0, ...times.map((time) => Date.parse(time)));
}

/** Pseudo-random choices that depend only on a seed. */
class RandomChoices {
  constructor(private state: number) {}

  /** Returns an integer from 0 to `limit` - 1. */
  chooseNumberBelow(limit: number): number {
    // mulberry32
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  /** @throws Error if there are no values */
  pickRandomItem<T>(values: readonly T[]): T {
    if (values.length === 0) throw new Error('there is nothing to choose from');
    return values[this.chooseNumberBelow(values.length)] as T;
  }

  shuffleItems<T>(values: readonly T[]): readonly T[] {
    return values
      .map((value) => ({ value, turn: this.chooseNumberBelow(2 ** 31) }))
      .toSorted((one, other) => one.turn - other.turn)
      .map(({ value }) => value);
  }
}
