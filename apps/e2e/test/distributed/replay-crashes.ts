import type { EventEnvelope, Shipment } from '@tracking/contracts';
import type { ManagedProcess } from '@tracking/testing';
import { IS_SOAK_RUN, eventually, itInSoak, scaleTimeout } from '@tracking/testing';
import type { AxiosResponse } from 'axios';
import { LoadGenerator } from '../load.ts';
import { EndpointServer, type EndpointWithReceivedDeliveries } from '../receiver.ts';
import { type StartedSystem, startServices, startStandaloneSystem } from '../subject.ts';
import { type TestTenant, listItemsAfterAllWrites, createTestTenant } from '../tenant.ts';

const SERVICE_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  WEBHOOKS_RETRY_FIRST: '300ms',
  WEBHOOKS_RETRY_FACTOR: '2',
  WEBHOOKS_RETRY_CAP: '2s',
};
/** Number of events to replay. `REPLAY_EVENTS` overrides it. */
const REPLAYED_EVENT_COUNT = Number(process.env['REPLAY_EVENTS'] ?? (IS_SOAK_RUN ? 3_000 : 500));
/** Number of events that the test creates in addition, and that the replay must not send. */
const OTHER_EVENT_COUNT = 100;
const MILESTONES_PER_BULK_REQUEST = 500;
/** Milliseconds that the receiver takes per delivery, so that crashes happen during the replay. */
const RECEIVER_WORK_MS_PER_DELIVERY = 10;
/**
 * Wait options for replays. The read models and the publisher must first process this many events, which slows down the
 * replay.
 */
const LONG_WAIT_OPTIONS = { deadlineMs: 120_000 + REPLAYED_EVENT_COUNT * 10 };
const TEST_TIMEOUT_MS = scaleTimeout(600_000 + REPLAYED_EVENT_COUNT * 40);

interface ReplayProgressResponse {
  readonly id: string;
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

export const LARGE_REPLAY_SUITE_NAME = 'a replay of many events, with kill -9 of each process during the replay';

export function declareReplayCrashTestsInOneProcess(): void {
  test(
    'survives crashes in one process',
    () => replayDuringCrashes(() => startStandaloneSystem(SERVICE_SETTINGS), IS_SOAK_RUN ? 6 : 3),
    TEST_TIMEOUT_MS,
  );
}

export function declareReplayCrashTestsOfServices(): void {
  itInSoak(
    'survives crashes of two replicas of each service',
    () => replayDuringCrashes(() => startServices(SERVICE_SETTINGS), 1),
    TEST_TIMEOUT_MS,
  );
}

/** @param kills number of kills per process */
async function replayDuringCrashes(start: () => Promise<StartedSystem>, kills: number): Promise<void> {
  const subject = await start();
  const receiver = await EndpointServer.startEndpointServer(RECEIVER_WORK_MS_PER_DELIVERY);
  let load: LoadGenerator | undefined;
  try {
    const tenant = await createTestTenant(subject);
    const before = await createShipments(tenant, OTHER_EVENT_COUNT, 'BEFORE');
    // Events must differ by at least a millisecond from the start of the replayed period.
    const since = new Date(Date.now() + 2).toISOString();
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(since)));
    const wanted = await createShipments(tenant, REPLAYED_EVENT_COUNT, 'WANTED');
    const [first = ''] = wanted;
    await createMilestones(tenant, first);

    const hook = await receiver.createEnabledEndpoint(tenant.api, '/replayed');
    const beside = await receiver.createEnabledEndpoint(tenant.api, '/beside');
    const again = new Set<string>();
    let isKilling = true;
    hook.behave = (event, came) => {
      if (isEventOfShipments(wanted, event)) {
        // The replay cannot complete before the last kill, however long a process takes to start.
        if (isKilling && again.size >= REPLAYED_EVENT_COUNT - 1 && !again.has(event.id)) return 503;
        again.add(event.id);
      }
      // Some first attempts of deliveries fail.
      return came === 1 && event.id.endsWith('7') ? 500 : 204;
    };
    load = new LoadGenerator(tenant.gateways, 2, 50);
    const filter = { since, event_types: ['shipment.created'] };
    const made = await tenant.api.post<ReplayProgressResponse>(`/v1/webhook_endpoints/${hook.id}/replay`, filter);
    expect(made.status).toBe(202);
    await killAndRestartProcesses(subject.processes, kills, again);
    isKilling = false;
    const replay = await waitForCompletedReplay(tenant, made.data.id);
    await load.stopLoad();
    expect({ ...replay, done: replay.done + replay.failed }).toMatchObject({
      matched: REPLAYED_EVENT_COUNT,
      done: REPLAYED_EVENT_COUNT,
    });

    const lived = new Set([...load.shipments.values()].map(({ id }) => id));
    const live = await eventually(() => listEventIds(tenant, lived), LONG_WAIT_OPTIONS);
    await eventually(
      () => expect(live.filter((id) => !hook.came.has(id) || !beside.came.has(id))).toEqual([]),
      LONG_WAIT_OPTIONS,
    );
    // Besides live events, exactly the expected events were delivered.
    const came = (at: EndpointWithReceivedDeliveries) =>
      [...at.came.keys()].map((id) => receiver.findEvent(id)).filter((event) => !isEventOfShipments(lived, event));
    expect(new Set(came(hook).map(({ type }) => type))).toEqual(new Set(['shipment.created']));
    expect(came(hook).map(readShipmentIdOfEvent).toSorted()).toEqual([...wanted].toSorted());
    expect(came(hook).filter((event) => isEventOfShipments(before, event))).toEqual([]);
    expect(came(beside)).toEqual([]);
    expect(load.unexpected).toEqual([]);
    expect(receiver.faults).toEqual([]);
  } finally {
    await load?.stopLoad();
    await receiver.closeEndpointServer();
    await subject.stop();
  }
}

/** Creates shipments, with one event each. Returns their ids. */
async function createShipments({ api }: TestTenant, count: number, name: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let from = 0; from < count; from += MILESTONES_PER_BULK_REQUEST) {
    const some = Array.from({ length: Math.min(MILESTONES_PER_BULK_REQUEST, count - from) }, (_, n) => ({
      external_id: `${name}-${from + n}`,
    }));
    const answer: AxiosResponse<{ data: readonly { shipment?: Shipment; status: number }[] }> = await api.post(
      '/v1/shipments/bulk',
      { shipments: some },
    );
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.data)}`);
    for (const { shipment } of answer.data.data) ids.add(shipment?.id ?? '');
  }
  expect(ids.size).toBe(count);
  return ids;
}

/** Creates events of other types in the replayed period. */
async function createMilestones({ api }: TestTenant, shipmentId: string): Promise<void> {
  const some = Array.from({ length: OTHER_EVENT_COUNT }, (_, n) => ({
    shipment_id: shipmentId,
    code: 'gated_in',
    occurred_at: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
  }));
  const { status } = await api.post('/v1/milestones/bulk', { milestones: some });
  expect(status).toBe(200);
}

/**
 * Kills and restarts each process the given number of times, in random order, spread over the replay.
 * @param again ids of events that the replay has delivered so far
 */
async function killAndRestartProcesses(
  processes: readonly ManagedProcess[],
  kills: number,
  again: ReadonlySet<string>,
): Promise<void> {
  const starting = new Map<ManagedProcess, Promise<unknown>>();
  const victims = Array.from({ length: kills }, () => processes)
    .flat()
    .map((victim) => ({ victim, turn: Math.random() }))
    .toSorted((one, other) => one.turn - other.turn);
  for (const [index, { victim }] of victims.entries()) {
    const due = ((index + Math.random()) * REPLAYED_EVENT_COUNT) / (victims.length + 1);
    await eventually(() => expect(again.size).toBeGreaterThan(due), LONG_WAIT_OPTIONS);
    await starting.get(victim);
    expect(again.size).toBeLessThan(REPLAYED_EVENT_COUNT);
    await victim.killProcess();
    starting.set(victim, victim.startProcess());
  }
  await Promise.all(starting.values());
}

function waitForCompletedReplay({ api }: TestTenant, id: string): Promise<ReplayProgressResponse> {
  return eventually(async () => {
    const { data } = await api.get<ReplayProgressResponse>(`/v1/webhook_replays/${id}`);
    expect(data.status).toBe('completed');
    return data;
  }, LONG_WAIT_OPTIONS);
}

/** Returns the ids of all events of the shipments. */
async function listEventIds({ api }: TestTenant, ids: ReadonlySet<string>): Promise<readonly string[]> {
  const found = await Promise.all(
    [...ids].map((shipment_id) => listItemsAfterAllWrites<EventEnvelope>(api, '/v1/events', { shipment_id })),
  );
  return found.flat().map(({ id }) => id);
}

function readShipmentIdOfEvent({ data }: EventEnvelope): string {
  return String(data['shipment_id']);
}

function isEventOfShipments(ids: ReadonlySet<string>, event: EventEnvelope): boolean {
  return ids.has(readShipmentIdOfEvent(event));
}
