import type { Lease } from '@tracking/ports';
import {
  DEFAULT_RETRY_POLICY,
  type AttemptOutcome,
  DEFAULT_MAX_CONCURRENCY,
  INITIAL_ENDPOINT_STATE,
  createDelivery,
} from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, convertToDeliveryDocument } from '../store/delivery-document.ts';
import type { RunningReplay } from './delivery-state.ts';
import { OwnedEndpoint } from './owned-endpoint.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const TIMING = { time: NEVER_SET_PROCESS_CLOCK, policy: DEFAULT_RETRY_POLICY };

const START = Date.UTC(2026, 0, 1);
const SUCCESS: AttemptOutcome = { kind: 'success' };
const FAILURE: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: '' } };
const ENDPOINT: EndpointDocument = {
  ...INITIAL_ENDPOINT_STATE,
  id: 'whe_1',
  workspace_id: 'wsp_1',
  environment: 'live',
  status: 'enabled',
  url: 'https://a.example.com/',
  event_types: ['shipment.created'],
  description: null,
  api_version: '2026-11-01',
  headers: {},
  max_concurrency: DEFAULT_MAX_CONCURRENCY,
  deleted: false,
  secrets: [],
  created_at: new Date(START).toISOString(),
  updated_at: new Date(START).toISOString(),
  revision: 1,
};

const SETTINGS = { recoveryAfterMs: 600_000, random: () => 0 };

/** The endpoint answers an attempt, this many milliseconds after the start. */
function answer(at: OwnedEndpoint, outcome: AttemptOutcome, ms: number): void {
  at.state.recordAttemptOutcome(at.endpoint, outcome, START + ms, START + ms);
}

/** A lease that is held until the test ends it. */
function lease(): Lease & { isOver: boolean } {
  return {
    name: 'webhooks-shard-01',
    epoch: 1,
    lost: new AbortController().signal,
    handOverRequested: new AbortController().signal,
    isOver: false,
    isLeaseHeld() {
      return !this.isOver;
    },
    releaseLease: () => Promise.resolve(),
  };
}

function owned(...outcomes: readonly AttemptOutcome[]): OwnedEndpoint {
  return ownedUnder(lease(), ...outcomes);
}

function ownedUnder(held: Lease, ...outcomes: readonly AttemptOutcome[]): OwnedEndpoint {
  const opened = new OwnedEndpoint(ENDPOINT, held, true, TIMING);
  opened.state.restoreEndpointHealth(undefined, SETTINGS);
  for (const outcome of outcomes) answer(opened, outcome, 0);
  return opened;
}

/** This many deliveries, due a millisecond after each other from the start on. */
function wait(at: OwnedEndpoint, count: number): OwnedEndpoint {
  for (let n = 0; n < count; n += 1) {
    const due = new Date(START + n).toISOString();
    const event = { event_id: `evt_${n}`, event_type: 'shipment.created', event_created_at: due };
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const about = { ...event, workspace_id, environment, endpoint_id, payload_id: 'p', sandbox: false };
    at.queueStoredDelivery(convertToDeliveryDocument(createDelivery({ ...about, id: `dlv_${n}` }, due)), 0, at.room);
  }
  return at;
}

const timeAt = (ms: number) => new Date(START + ms).toISOString();

/** A delivery of an event at the start, with these fields replaced. */
function delivery(id: string, fields: Partial<DeliveryDocument> = {}): DeliveryDocument {
  const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
  const event = { event_id: id, event_type: 'shipment.created', event_created_at: timeAt(0), payload_id: 'p' };
  const made = createDelivery({ ...event, id, workspace_id, environment, endpoint_id, sandbox: false }, timeAt(0));
  return convertToDeliveryDocument({ ...made, ...fields });
}

const replay = (id: string): RunningReplay => ({
  id,
  isReplayReadyForMoreDeliveries: () => false,
  getNextOutcomeStoreTime: () => undefined,
  takeDeliveriesToReplay: () => Promise.resolve(true),
  countReplayedDelivery: () => undefined,
  requestReplayReread: () => undefined,
});

describe('an endpoint that this process owns', () => {
  test('holds few deliveries until the endpoint is known to answer, and more afterwards', () => {
    expect(owned().room).toBe(4 * 8);
    expect(owned(SUCCESS).room).toBe(5 * 64);
    expect(owned(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(5 * 64);
    expect(owned(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(2 * 8);
    const off = owned(SUCCESS);
    off.setEndpointUnlessOutdated({ ...ENDPOINT, status: 'disabled', revision: 2 });
    expect(off.room).toBe(0);
  });

  test('keeps up until more deliveries wait than it holds, or only failures occur', () => {
    expect(owned().isKeepingUp).toBe(true);
    expect(wait(owned(), 32).isKeepingUp).toBe(true);
    expect(wait(owned(), 33).isKeepingUp).toBe(false);
    expect(owned(FAILURE, FAILURE, FAILURE).isKeepingUp).toBe(true);
    expect(owned(FAILURE, FAILURE, FAILURE, FAILURE).isKeepingUp).toBe(false);
    expect(owned(FAILURE, FAILURE, FAILURE, FAILURE, SUCCESS).isKeepingUp).toBe(true);
  });

  test('returns no delivery after its lease expired, and has no next time', () => {
    const held = lease();
    const endpoint = wait(ownedUnder(held), 2);
    expect(endpoint.takeDelivery(START + 10)?.id).toBe('dlv_0');
    expect(endpoint.nextMoment).toBeLessThanOrEqual(START + 10);
    held.isOver = true;
    expect(endpoint.isOwned).toBe(false);
    expect(endpoint.takeDelivery(START + 10)).toBeUndefined();
    expect(endpoint.nextMoment).toBeUndefined();
  });

  test('returns a replayed delivery early if nothing is due, even behind a waiting retry', () => {
    const endpoint = owned(SUCCESS);
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const hold = (id: string, fields: object) => {
      const made = createDelivery({ ...event, id, event_id: id, workspace_id, environment, endpoint_id }, at(0));
      endpoint.queueStoredDelivery(convertToDeliveryDocument({ ...made, ...fields }), 0, endpoint.room);
    };
    const failed = { status: 'retrying', attempts_count: 1, first_attempt_at: at(0) } as const;
    hold('dlv_retry', { ...failed, next_attempt_at: at(500) });
    hold('dlv_replayed', { replay_id: 'rpl_1', next_attempt_at: at(1_000) });
    endpoint.state.setRunningReplayUnlessReadIsOutdated(endpoint.state.assignReplayReadNumber(), replay('rpl_1'));
    expect(endpoint.canTakeDelivery(START)).toBe(true);
    expect(endpoint.takeDelivery(START)?.id).toBe('dlv_replayed');
    expect(endpoint.takeDelivery(START + 499)).toBeUndefined();
    expect(endpoint.nextMoment).toBe(START + 500);
    expect(endpoint.takeDelivery(START + 500)?.id).toBe('dlv_retry');
  });

  test('returns deliveries that failed before the recovery early, until three failures in a row', () => {
    const endpoint = owned(...Array.from({ length: 4 }, () => FAILURE));
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const hold = (id: string, last_attempt_at: string, next_attempt_at: string) => {
      const made = createDelivery({ ...event, id, event_id: id, workspace_id, environment, endpoint_id }, at(0));
      const failed = { ...made, status: 'retrying', attempts_count: 1, last_attempt_at, next_attempt_at } as const;
      endpoint.queueStoredDelivery(convertToDeliveryDocument(failed), 0, endpoint.room);
    };
    hold('dlv_since', at(600_001), at(700_000));
    hold('dlv_one', at(1), at(800_000));
    hold('dlv_two', at(1), at(900_000));
    expect(endpoint.canTakeDelivery(START + 600_002)).toBe(false);
    answer(endpoint, SUCCESS, 600_000);
    expect([endpoint.isRecovering, endpoint.hasRecovered]).toEqual([true, false]);
    expect(endpoint.takeDelivery(START + 600_002)?.id).toBe('dlv_one');
    for (let n = 0; n < 3; n += 1) answer(endpoint, FAILURE, 600_003);
    expect([endpoint.isRecovering, endpoint.canTakeDelivery(START + 699_999)]).toEqual([false, false]);
    expect(endpoint.nextMoment).toBe(START + 700_000);
  });

  test('has recovered once no delivery that failed before is pending or being attempted', () => {
    const endpoint = owned(FAILURE);
    answer(endpoint, SUCCESS, 600_000);
    expect(endpoint.hasRecovered).toBe(true);
    const failed = { status: 'retrying', attempts_count: 1, last_attempt_at: timeAt(1) } as const;
    endpoint.replaceDelivery(delivery('dlv_failed', { ...failed, next_attempt_at: timeAt(900_000) }), 0);
    expect(endpoint.hasRecovered).toBe(false);
    expect(endpoint.takeDelivery(START + 600_001)?.id).toBe('dlv_failed');
    expect(endpoint.hasRecovered).toBe(false);
    const live = timeAt(600_002);
    endpoint.replaceDelivery(delivery('dlv_live', { event_created_at: live, next_attempt_at: live }), 0);
    expect(endpoint.takeDelivery(START + 600_002)?.id).toBe('dlv_live');
    endpoint.endWorkOnDelivery('dlv_failed', undefined, 0, endpoint.room);
    expect([endpoint.attempting, endpoint.hasRecovered]).toEqual([1, true]);
    endpoint.markPendingDeliveriesForReread();
    expect(endpoint.hasRecovered).toBe(false);
  });

  test('resets the health of a former URL, and returns deliveries last attempted there immediately', () => {
    const endpoint = owned({ ...FAILURE, kind: 'hold', holdMs: 3_600_000 });
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const made = createDelivery(
      { ...event, id: 'dlv_1', event_id: 'evt_1', workspace_id, environment, endpoint_id },
      at(0),
    );
    const failed = { ...made, status: 'retrying', attempts_count: 1, last_attempt_at: at(1) } as const;
    const document = convertToDeliveryDocument({ ...failed, next_attempt_at: at(3_600_000) });
    answer(endpoint, { ...FAILURE, kind: 'gone' }, 0);
    endpoint.setEndpointUnlessOutdated({ ...ENDPOINT, url: 'https://b.example.com/', url_revision: 2, revision: 2 });
    expect([endpoint.state.concurrency, endpoint.state.phase]).toEqual([undefined, 'opening']);
    endpoint.state.restoreEndpointHealth(undefined, SETTINGS);
    endpoint.replaceDelivery(document, 0);
    expect([endpoint.isKeepingUp, endpoint.takeDelivery(START + 2)?.id]).toEqual([false, undefined]);
    endpoint.addRefilledDeliveries(
      endpoint.beginDeliveriesRefill(endpoint.room),
      { scheduled: [document], express: [] },
      0,
    );
    expect(endpoint.takeDelivery(START + 2)?.id).toBe('dlv_1');
    endpoint.endWorkOnDelivery('dlv_1', undefined, 0, endpoint.room);
    endpoint.replaceDelivery({ ...document, url_revision: 2, revision: 2 }, 0);
    expect(endpoint.nextMoment).toBe(START + 3_600_000);
  });

  test('returns live events before replayed deliveries that were attempted at a former URL', () => {
    const endpoint = owned(SUCCESS);
    endpoint.setEndpointUnlessOutdated({ ...ENDPOINT, url: 'https://b.example.com/', url_revision: 2, revision: 2 });
    endpoint.state.restoreEndpointHealth(undefined, SETTINGS);
    const refill = endpoint.beginDeliveriesRefill(endpoint.room);
    const live = delivery('dlv_live', { event_created_at: timeAt(10), next_attempt_at: timeAt(10) });
    const attempted = { attempts_count: 1, last_attempt_at: timeAt(1) };
    const replayed = delivery('dlv_replayed', { ...attempted, replay_id: 'rpl_1', next_attempt_at: timeAt(1_020) });
    const scheduled = [live, replayed];
    endpoint.addRefilledDeliveries(refill, { scheduled, express: [] }, 0);
    expect([endpoint.takeDelivery(START + 20)?.id, endpoint.takeDelivery(START + 20)?.id]).toEqual([
      'dlv_live',
      'dlv_replayed',
    ]);
  });

  test('leaves a delivery in progress to the end of its attempt, and reads again if a newer form was stored', () => {
    const endpoint = wait(owned(), 1);
    const taken = endpoint.takeDelivery(START)?.delivery;
    if (taken === undefined) throw new Error('nothing was due');
    const newer = { ...taken, revision: 7, status: 'retrying' } as const;
    endpoint.replaceDelivery(newer, 0);
    endpoint.queueStoredDelivery(newer, 0, endpoint.room);
    expect([endpoint.waiting, endpoint.takeDelivery(START)]).toEqual([0, undefined]);
    expect(endpoint.endWorkOnDelivery(taken.id, { ...taken, revision: 2 }, 0, endpoint.room)).toBe(true);
    expect([endpoint.waiting, endpoint.needsStoredDeliveries(endpoint.room)]).toEqual([0, true]);
  });

  test('holds a delivery with attempts left again, unless the endpoint was dropped or deleted', () => {
    const retried = () => {
      const endpoint = wait(owned(), 1);
      const taken = endpoint.takeDelivery(START)?.delivery as DeliveryDocument;
      return { endpoint, after: convertToDeliveryDocument({ ...taken, status: 'retrying', revision: 2 }) };
    };
    const { endpoint, after } = retried();
    expect([endpoint.endWorkOnDelivery(after.id, after, 0, endpoint.room), endpoint.waiting]).toEqual([true, 1]);
    const dropped = retried();
    dropped.endpoint.state.markEndpointDropped();
    expect(dropped.endpoint.endWorkOnDelivery(after.id, after, 0, 32)).toBe(true);
    expect(dropped.endpoint.waiting).toBe(0);
    const deleted = retried();
    deleted.endpoint.setEndpointUnlessOutdated({ ...ENDPOINT, deleted: true, revision: 2 });
    expect(deleted.endpoint.endWorkOnDelivery(after.id, after, 0, 32)).toBe(false);
  });

  test('waits five seconds after an impossible attempt, and half a second for a single missing payload', () => {
    const endpoint = wait(owned(), 2);
    const first = endpoint.takeDelivery(START + 10);
    if (first === undefined) throw new Error('nothing was due');
    expect(endpoint.makeDeliveryPendingAgain(first, true, START + 10)).toBe(true);
    expect(endpoint.takeDelivery(START + 10)?.id).toBe('dlv_1');
    expect([endpoint.takeDelivery(START + 509), endpoint.takeDelivery(START + 510)?.id]).toEqual([undefined, first.id]);
    const blocked = wait(owned(), 2);
    const tried = blocked.takeDelivery(START + 10);
    if (tried === undefined) throw new Error('nothing was due');
    expect(blocked.makeDeliveryPendingAgain(tried, false, START + 10)).toBe(true);
    expect(blocked.nextMoment).toBe(START + 5_010);
    expect(blocked.takeDelivery(START + 5_010)?.id).toBe('dlv_0');
  });

  test('attempts the next delivery after a gap if answers are slow, and after a hold', () => {
    const gap = 8_000 / (4 * 6);
    const late = new OwnedEndpoint(ENDPOINT, lease(), true, TIMING);
    late.state.restoreEndpointHealth(undefined, { ...SETTINGS, random: () => 0.5 });
    for (const ms of [-16_000, -8_000])
      late.state.recordAttemptOutcome(ENDPOINT, SUCCESS, START + ms, START + ms + 8_000);
    wait(late, 2);
    expect(late.takeDelivery(START + 10)?.id).toBe('dlv_0');
    expect(late.nextMoment).toBe(START + 10 + gap);
    const held = wait(owned({ ...FAILURE, kind: 'hold', holdMs: 30_000 }), 1);
    expect([held.canTakeDelivery(START + 29_999), held.nextMoment]).toEqual([false, START + 30_000]);
  });

  test('reads past express deliveries in progress', () => {
    const endpoint = owned();
    endpoint.queueStoredDelivery(delivery('dlv_1', { manual_at: timeAt(0) }), 0, endpoint.room);
    expect(endpoint.takeDelivery(START)?.id).toBe('dlv_1');
    endpoint.markPendingDeliveriesForReread();
    expect(endpoint.beginDeliveriesRefill(endpoint.room).expressLimit).toBe(101);
  });

  test('is idle after five minutes without work, counted from the first check', () => {
    const endpoint = wait(owned(), 1);
    expect([endpoint.isEndpointIdleTooLong(0), endpoint.isEndpointIdleTooLong(900_000)]).toEqual([false, false]);
    endpoint.takeDelivery(START);
    expect(endpoint.isEndpointIdleTooLong(1_000_000)).toBe(false);
    endpoint.endWorkOnDelivery('dlv_0', undefined, 0, endpoint.room);
    expect([1_000_001, 1_300_001, 1_300_002].map((now) => endpoint.isEndpointIdleTooLong(now))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('reports failures of an earlier owner only if a failed delivery is left or an attempt failed here', () => {
    const stored = { held_until: null, failing_since: timeAt(0), recovering_since: null };
    const reason = { code: 'timeout', message: '' };
    const opened = new OwnedEndpoint(ENDPOINT, lease(), true, TIMING);
    opened.state.restoreEndpointHealth({ id: 'whe_1', epoch: 1, ...stored, failing_reason: reason }, SETTINGS);
    expect(opened.getTimeToReportFailingEndpoint(3_600_000)).toBe(Infinity);
    const left = delivery('dlv_1', { status: 'retrying', attempts_count: 1, next_attempt_at: timeAt(1) });
    opened.queueStoredDelivery(left, 0, opened.room);
    expect(opened.getTimeToReportFailingEndpoint(3_600_000)).toBe(START + 3_600_000);
    opened.state.markEndpointDropped();
    expect(opened.getTimeToReportFailingEndpoint(3_600_000)).toBe(Infinity);
  });
});

describe('a time that is too far ahead', () => {
  const DAYS = 259_200_000;
  const AHEAD = START + DAYS;
  const at = (ms: number) => new Date(ms).toISOString();
  const created = () => {
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at(AHEAD), payload_id: 'p' };
    return createDelivery({ ...event, workspace_id, environment, endpoint_id, id: 'dlv_1', sandbox: false }, at(AHEAD));
  };
  const failed = (failures: number, endedAt: number, waitMs: number) => ({
    ...created(),
    ...({ status: 'retrying', attempts_count: failures, failures, first_attempt_at: at(endedAt) } as const),
    ...{ last_attempt_at: at(endedAt), next_attempt_at: at(endedAt + waitMs) },
  });

  test.each([
    ['untried', created(), 0],
    ['attempted by a clock that was ahead', failed(2, AHEAD, 15_000), 15_000],
    ['attempted by a correct clock since', failed(1, START - 1_000, DAYS), 3_600_000],
    ['attempted often', failed(20, START - 1_000, DAYS), 95_040_000],
    ['within its wait', failed(20, START - 1_000, 80_000_000), 79_999_000],
  ])('is pulled in for a delivery that is %s', (_name, delivery, waitMs) => {
    const time = { ...NEVER_SET_PROCESS_CLOCK, now: () => START };
    const endpoint = new OwnedEndpoint(ENDPOINT, lease(), true, { ...TIMING, time });
    endpoint.state.restoreEndpointHealth(undefined, SETTINGS);
    const stored = convertToDeliveryDocument(delivery);
    endpoint.queueStoredDelivery(stored, 0, endpoint.room);
    expect(endpoint.nextMoment).toBe(START + waitMs);
    const taken = endpoint.takeDelivery(START + waitMs);
    expect(endpoint.isDeliveryDue(stored, START + waitMs, taken)).toBe(true);
  });
});
