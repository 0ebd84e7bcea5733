import type { Lease } from '@tracking/ports';
import { type AttemptOutcome, DEFAULT_MAX_CONCURRENCY, NEW_ENDPOINT, newDelivery } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, toDocument } from '../store/delivery-document.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import { OwnedEndpoint, type RunningReplay } from './owned-endpoint.ts';
import { toPending } from './priority-queue.ts';

const START = Date.UTC(2026, 0, 1);
const SUCCESS: AttemptOutcome = { kind: 'success' };
const FAILURE: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: '' } };
const ENDPOINT: EndpointDocument = {
  ...NEW_ENDPOINT,
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

/** A lease that is held until the test says otherwise. */
function lease(): Lease & { isOver: boolean } {
  return {
    name: 'webhooks-shard-01',
    epoch: 1,
    lost: new AbortController().signal,
    isOver: false,
    isHeld() {
      return !this.isOver;
    },
    release: () => Promise.resolve(),
  };
}

function owned(...outcomes: readonly AttemptOutcome[]): OwnedEndpoint {
  return ownedUnder(lease(), ...outcomes);
}

function ownedUnder(held: Lease, ...outcomes: readonly AttemptOutcome[]): OwnedEndpoint {
  const opened = new OwnedEndpoint(ENDPOINT, held, true);
  opened.concurrency = new AdaptiveConcurrency(DEFAULT_MAX_CONCURRENCY, 600_000, () => 0);
  for (const outcome of outcomes) opened.concurrency.answered(outcome, START, START);
  return opened;
}

/** So many that come due a millisecond after each other, from the start on. */
function wait(at: OwnedEndpoint, count: number): OwnedEndpoint {
  for (let n = 0; n < count; n += 1) {
    const due = new Date(START + n).toISOString();
    const event = { event_id: `evt_${n}`, event_type: 'shipment.created', event_created_at: due };
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const about = { ...event, workspace_id, environment, endpoint_id, payload_id: 'p', sandbox: false };
    at.window.add(toPending(toDocument(newDelivery({ ...about, id: `dlv_${n}` }, due)), 0), at.room);
  }
  return at;
}

const timeAt = (ms: number) => new Date(START + ms).toISOString();

/** A delivery of an event of the start with these fields instead. */
function delivery(id: string, fields: Partial<DeliveryDocument> = {}): DeliveryDocument {
  const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
  const event = { event_id: id, event_type: 'shipment.created', event_created_at: timeAt(0), payload_id: 'p' };
  const made = newDelivery({ ...event, id, workspace_id, environment, endpoint_id, sandbox: false }, timeAt(0));
  return toDocument({ ...made, ...fields });
}

const replay = (id: string): RunningReplay => ({
  id,
  wantsMore: () => false,
  nextMoment: () => undefined,
  takeMore: () => Promise.resolve(true),
  note: () => undefined,
  lookAgain: () => undefined,
});

describe('an endpoint that this process owns', () => {
  test('holds little while it is not known whether the endpoint answers, and plenty once it does', () => {
    expect(owned().room).toBe(4 * 8);
    expect(owned(SUCCESS).room).toBe(5 * 64);
    expect(owned(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(5 * 64);
    expect(owned(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(2 * 8);
    const off = owned(SUCCESS);
    off.setEndpoint({ ...ENDPOINT, status: 'disabled', revision: 2 });
    expect(off.room).toBe(0);
  });

  test('keeps up until more waits than it holds, or nothing but failures comes back', () => {
    expect(owned().keepsUp).toBe(true);
    expect(wait(owned(), 32).keepsUp).toBe(true);
    expect(wait(owned(), 33).keepsUp).toBe(false);
    expect(owned(FAILURE, FAILURE, FAILURE).keepsUp).toBe(true);
    expect(owned(FAILURE, FAILURE, FAILURE, FAILURE).keepsUp).toBe(false);
    expect(owned(FAILURE, FAILURE, FAILURE, FAILURE, SUCCESS).keepsUp).toBe(true);
  });

  test('gives no delivery once its lease is over by the clock, before anybody told so, and waits for none', () => {
    const held = lease();
    const endpoint = wait(ownedUnder(held), 2);
    expect(endpoint.take(START + 10)?.id).toBe('dlv_0');
    expect(endpoint.nextMoment).toBeLessThanOrEqual(START + 10);
    held.isOver = true;
    expect(endpoint.isOurs).toBe(false);
    expect(endpoint.take(START + 10)).toBeUndefined();
    expect(endpoint.nextMoment).toBeUndefined();
  });

  test('gives what a replay sent before its time where nothing is due, also behind a retry that waits for its own', async () => {
    const endpoint = owned(SUCCESS);
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const hold = (id: string, fields: object) => {
      const made = newDelivery({ ...event, id, event_id: id, workspace_id, environment, endpoint_id }, at(0));
      endpoint.window.add(toPending(toDocument({ ...made, ...fields }), 0), endpoint.room);
    };
    const failed = { status: 'retrying', attempts_count: 1, first_attempt_at: at(0) } as const;
    hold('dlv_retry', { ...failed, next_attempt_at: at(500) });
    hold('dlv_replayed', { replay_id: 'rpl_1', next_attempt_at: at(1_000) });
    await endpoint.readReplay(() => Promise.resolve(replay('rpl_1')));
    expect(endpoint.canTake(START)).toBe(true);
    expect(endpoint.take(START)?.id).toBe('dlv_replayed');
    expect(endpoint.take(START + 499)).toBeUndefined();
    expect(endpoint.nextMoment).toBe(START + 500);
    expect(endpoint.take(START + 500)?.id).toBe('dlv_retry');
  });

  test('gives what failed before it recovered ahead of its time, until three failures in a row', () => {
    const endpoint = owned(...Array.from({ length: 4 }, () => FAILURE));
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const hold = (id: string, last_attempt_at: string, next_attempt_at: string) => {
      const made = newDelivery({ ...event, id, event_id: id, workspace_id, environment, endpoint_id }, at(0));
      const failed = { ...made, status: 'retrying', attempts_count: 1, last_attempt_at, next_attempt_at } as const;
      endpoint.window.add(toPending(toDocument(failed), 0), endpoint.room);
    };
    hold('dlv_since', at(600_001), at(700_000));
    hold('dlv_one', at(1), at(800_000));
    hold('dlv_two', at(1), at(900_000));
    expect(endpoint.canTake(START + 600_002)).toBe(false);
    endpoint.concurrency?.answered(SUCCESS, START + 600_000, START + 600_000);
    expect([endpoint.isRecovering, endpoint.hasRecovered]).toEqual([true, false]);
    expect(endpoint.take(START + 600_002)?.id).toBe('dlv_one');
    for (let n = 0; n < 3; n += 1) endpoint.concurrency?.answered(FAILURE, START + 600_003, START + 600_003);
    expect([endpoint.isRecovering, endpoint.canTake(START + 699_999)]).toEqual([false, false]);
    expect(endpoint.nextMoment).toBe(START + 700_000);
  });

  test('has recovered once nothing that failed before waits or is being attempted, whatever else is', () => {
    const endpoint = owned(FAILURE);
    endpoint.concurrency?.answered(SUCCESS, START + 600_000, START + 600_000);
    expect(endpoint.hasRecovered).toBe(true);
    const failed = { status: 'retrying', attempts_count: 1, last_attempt_at: timeAt(1) } as const;
    endpoint.hold(delivery('dlv_failed', { ...failed, next_attempt_at: timeAt(900_000) }), 0);
    expect(endpoint.hasRecovered).toBe(false);
    expect(endpoint.take(START + 600_001)?.id).toBe('dlv_failed');
    expect(endpoint.hasRecovered).toBe(false);
    const live = timeAt(600_002);
    endpoint.hold(delivery('dlv_live', { event_created_at: live, next_attempt_at: live }), 0);
    expect(endpoint.take(START + 600_002)?.id).toBe('dlv_live');
    endpoint.busy.delete('dlv_failed');
    expect([endpoint.busy.size, endpoint.hasRecovered]).toEqual([1, true]);
    endpoint.window.forget();
    expect(endpoint.hasRecovered).toBe(false);
  });

  test('forgets how a former URL answered, and gives at once what was last attempted there', () => {
    const endpoint = owned({ ...FAILURE, kind: 'hold', holdMs: 3_600_000 });
    const at = (ms: number) => new Date(START + ms).toISOString();
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const event = { event_type: 'shipment.created', event_created_at: at(0), payload_id: 'p', sandbox: false };
    const made = newDelivery(
      { ...event, id: 'dlv_1', event_id: 'evt_1', workspace_id, environment, endpoint_id },
      at(0),
    );
    const failed = { ...made, status: 'retrying', attempts_count: 1, last_attempt_at: at(1) } as const;
    const document = toDocument({ ...failed, next_attempt_at: at(3_600_000) });
    endpoint.gone = ENDPOINT;
    endpoint.setEndpoint({ ...ENDPOINT, url: 'https://b.example.com/', url_revision: 2, revision: 2 });
    expect([endpoint.concurrency, endpoint.gone]).toEqual([undefined, undefined]);
    endpoint.concurrency = new AdaptiveConcurrency(DEFAULT_MAX_CONCURRENCY, 600_000, () => 0);
    endpoint.hold(document, 0);
    expect([endpoint.window.complete, endpoint.take(START + 2)?.id]).toEqual([false, undefined]);
    const refill = endpoint.window.beginRefill(endpoint.room);
    endpoint.window.endRefill(refill, { scheduled: [document], express: [] }, endpoint.busy, 0);
    expect(endpoint.take(START + 2)?.id).toBe('dlv_1');
    endpoint.busy.clear();
    endpoint.hold({ ...document, url_revision: 2, revision: 2 }, 0);
    expect(endpoint.nextMoment).toBe(START + 3_600_000);
  });

  test('gives live events before what a replay sends again after attempts at a former URL', () => {
    const endpoint = owned(SUCCESS);
    endpoint.setEndpoint({ ...ENDPOINT, url: 'https://b.example.com/', url_revision: 2, revision: 2 });
    endpoint.concurrency = new AdaptiveConcurrency(DEFAULT_MAX_CONCURRENCY, 600_000, () => 0);
    const refill = endpoint.window.beginRefill(endpoint.room);
    const live = delivery('dlv_live', { event_created_at: timeAt(10), next_attempt_at: timeAt(10) });
    const attempted = { attempts_count: 1, last_attempt_at: timeAt(1) };
    const replayed = delivery('dlv_replayed', { ...attempted, replay_id: 'rpl_1', next_attempt_at: timeAt(1_020) });
    const scheduled = [live, replayed];
    endpoint.window.endRefill(refill, { scheduled, express: [] }, endpoint.busy, 0);
    expect([endpoint.take(START + 20)?.id, endpoint.take(START + 20)?.id]).toEqual(['dlv_live', 'dlv_replayed']);
  });

  test('keeps the replay that was read last, although an earlier read is answered after it', async () => {
    const endpoint = owned();
    const { promise: answered, resolve: answer } = Promise.withResolvers<RunningReplay | undefined>();
    const earlier = endpoint.readReplay(() => answered);
    await endpoint.readReplay(() => Promise.resolve(replay('rpl_2')));
    answer(undefined);
    await earlier;
    expect(endpoint.replay?.id).toBe('rpl_2');
  });
});
