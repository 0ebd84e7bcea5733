import {
  type Delivery,
  endDeliveryOfDeletedEndpoint,
  markDeliveryDiscarded,
  createDelivery,
  resetDeliveryRetrySchedule,
  requestExtraAttempt,
} from './delivery.ts';
import type { AttemptOutcome } from './outcome.ts';
import { DEFAULT_RETRY_POLICY, applyFinishedAttempt } from './retry-schedule.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(START + ms).toISOString();
const fresh = createDelivery(
  {
    id: 'dlv_1',
    workspace_id: 'wsp_1',
    environment: 'live',
    endpoint_id: 'whe_1',
    event_id: 'evt_1',
    event_type: 'shipment.created',
    event_created_at: at(-5),
    payload_id: 'evt_1.2026-11-01',
    sandbox: false,
  },
  at(0),
);
const success: AttemptOutcome = { kind: 'success' };
const failure: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: 'no answer' } };
const gone: AttemptOutcome = {
  kind: 'gone',
  error: { code: 'unexpected_status', message: 'The endpoint answered 410.' },
};
const hold = (holdMs: number): AttemptOutcome => ({ ...failure, kind: 'hold', holdMs });

interface Attempted {
  readonly outcome: AttemptOutcome;
  readonly began: number;
  readonly ended?: number;
  readonly manual?: boolean;
  readonly pauses?: Parameters<typeof applyFinishedAttempt>[2]['pauses'];
  /** Revision of the endpoint's URL after the attempt, which was made at the URL of revision 0. */
  readonly urlRevision?: number;
}
function attempted(
  delivery: Delivery,
  { outcome, began, ended, manual = false, pauses = [], urlRevision = 0 }: Attempted,
): Delivery {
  const finished = { startedAt: at(began), endedAt: at(ended ?? began), manual, outcome, urlRevision: 0 };
  return applyFinishedAttempt(delivery, finished, {
    policy: DEFAULT_RETRY_POLICY,
    pauses,
    random: () => 0.5,
    urlRevision,
  });
}
const retrying = attempted(fresh, { outcome: failure, began: 1_000, ended: 11_000 });
const dead = attempted(retrying, { outcome: failure, began: 1_000 + 72 * HOUR });
const succeeded = attempted(fresh, { outcome: success, began: 1_000 });

describe('a delivery', () => {
  test('begins pending, with its first attempt due immediately', () => {
    expect(fresh).toMatchObject({ status: 'pending', next_attempt_at: at(0), attempts_count: 0, last_error: null });
  });

  test('counts only a success at a former URL, and is due immediately at the current one', () => {
    const late = { began: 100 * HOUR, urlRevision: 7 };
    const due = { status: 'retrying', next_attempt_at: at(100 * HOUR), failures: retrying.failures };
    for (const outcome of [failure, gone, hold(60_000)]) {
      expect(attempted(retrying, { ...late, outcome })).toMatchObject({ ...due, attempts_count: 2 });
    }
    const requested = requestExtraAttempt(retrying, at(90 * HOUR));
    expect(attempted(requested, { ...late, outcome: gone, manual: true })).toMatchObject({ ...due, manual_at: null });
    expect(attempted(retrying, { ...late, outcome: success }).status).toBe('succeeded');
  });

  test('ends with a success', () => {
    expect(succeeded).toMatchObject({
      status: 'succeeded',
      next_attempt_at: null,
      completed_at: at(1_000),
      attempts_count: 1,
      last_error: null,
    });
  });

  test('is retried after a failure, with a delay from its end', () => {
    expect(retrying).toMatchObject({
      status: 'retrying',
      next_attempt_at: at(16_000),
      completed_at: null,
      attempts_count: 1,
      last_error: { code: 'timeout' },
    });
  });

  test('clears its last error after a success', () => {
    expect(attempted(retrying, { outcome: success, began: 16_000 }).last_error).toBeNull();
  });

  test('has its last attempt 72 h after the first began, and then becomes a dead letter', () => {
    const late = attempted({ ...retrying, failures: 11 }, { outcome: failure, began: 71 * HOUR });
    expect(late).toMatchObject({ status: 'retrying', next_attempt_at: at(1_000 + 72 * HOUR) });
    expect(attempted(late, { outcome: failure, began: 1_000 + 72 * HOUR })).toMatchObject({
      status: 'dead_lettered',
      next_attempt_at: null,
      announced_at: null,
    });
    expect(attempted(late, { outcome: success, began: 1_000 + 72 * HOUR }).status).toBe('succeeded');
  });

  test('still has its last attempt if the previous one began inside the window and ended after it', () => {
    const slow = attempted(retrying, { outcome: failure, began: 72 * HOUR, ended: 72 * HOUR + 10_000 });
    expect(slow).toMatchObject({ status: 'retrying', next_attempt_at: at(1_000 + 72 * HOUR) });
  });

  test('does not become a dead letter during an outage without a last attempt', () => {
    const after = attempted(retrying, { outcome: failure, began: 200 * HOUR });
    expect(after).toMatchObject({ status: 'dead_lettered', attempts_count: 2 });
    const first = attempted(fresh, { outcome: failure, began: 200 * HOUR });
    expect(first).toMatchObject({ status: 'retrying', next_attempt_at: at(200 * HOUR + 5_000) });
  });

  test('becomes a dead letter immediately after a 410', () => {
    expect(attempted(fresh, { outcome: gone, began: 0 }).status).toBe('dead_lettered');
  });

  test('consumes no attempt of its schedule by a hold', () => {
    const held = attempted(retrying, { outcome: hold(60_000), began: 16_000 });
    expect(held).toMatchObject({ status: 'retrying', next_attempt_at: at(76_000), failures: 1, attempts_count: 2 });
    expect(attempted(held, { outcome: failure, began: 76_000 })).toMatchObject({
      next_attempt_at: at(76_000 + 15_000),
    });
  });

  test('has its last attempt after a hold that ends beyond the window', () => {
    const held = attempted(retrying, { outcome: hold(HOUR), began: 72 * HOUR });
    expect(held).toMatchObject({ status: 'retrying', next_attempt_at: at(73 * HOUR) });
    expect(attempted(held, { outcome: hold(HOUR), began: 73 * HOUR }).status).toBe('dead_lettered');
  });

  test('has its window extended while its endpoint is paused', () => {
    const pauses = [{ from: at(HOUR), to: at(101 * HOUR) }];
    const later = attempted(retrying, { outcome: failure, began: 120 * HOUR, pauses });
    expect(later.status).toBe('retrying');
    expect(attempted(later, { outcome: failure, began: 1_000 + 172 * HOUR, pauses }).status).toBe('dead_lettered');
    const open = [{ from: at(HOUR), to: null }];
    expect(attempted(retrying, { outcome: failure, began: 500 * HOUR, pauses: open }).status).toBe('retrying');
  });

  describe('of a sandbox event', () => {
    const sandbox = { ...fresh, sandbox: true };
    test('has one attempt and no retries', () => {
      expect(attempted(sandbox, { outcome: failure, began: 0 })).toMatchObject({
        status: 'discarded',
        next_attempt_at: null,
        last_error: { code: 'timeout' },
      });
      expect(attempted(sandbox, { outcome: success, began: 0 }).status).toBe('succeeded');
    });
  });

  describe('retried manually', () => {
    test('keeps its schedule', () => {
      const asked = requestExtraAttempt(retrying, at(12_000));
      expect(asked).toMatchObject({ status: 'retrying', next_attempt_at: at(16_000), manual_at: at(12_000) });
      const tried = attempted(asked, { outcome: failure, began: 12_000, manual: true });
      expect(tried).toMatchObject({ status: 'retrying', next_attempt_at: at(16_000), manual_at: null, failures: 1 });
    });

    test('stays a dead letter if it fails again, and is not announced again', () => {
      const announcedDead = { ...dead, announced_at: at(80 * HOUR) };
      const tried = attempted(requestExtraAttempt(announcedDead, at(0)), {
        outcome: failure,
        began: 90 * HOUR,
        manual: true,
      });
      expect(tried).toMatchObject({ status: 'dead_lettered', announced_at: at(80 * HOUR), attempts_count: 3 });
    });

    test('succeeds from any status', () => {
      for (const before of [retrying, dead, markDeliveryDiscarded(retrying, at(1))]) {
        const tried = attempted(requestExtraAttempt(before, at(2)), {
          outcome: success,
          began: 90 * HOUR,
          manual: true,
        });
        expect(tried).toMatchObject({ status: 'succeeded', next_attempt_at: null, manual_at: null, last_error: null });
      }
    });

    test('stays a success when a repetition fails', () => {
      const tried = attempted(requestExtraAttempt(succeeded, at(2)), { outcome: failure, began: 3, manual: true });
      expect(tried).toMatchObject({ status: 'succeeded', last_error: null, attempts_count: 2, manual_at: null });
    });

    test('is requested once, however often', () => {
      const asked = requestExtraAttempt(retrying, at(12_000));
      expect(requestExtraAttempt(asked, at(13_000))).toBe(asked);
    });
  });

  describe('discarded', () => {
    test('is no longer sent', () => {
      expect(markDeliveryDiscarded(retrying, at(5))).toMatchObject({
        status: 'discarded',
        next_attempt_at: null,
        completed_at: at(5),
      });
      expect(markDeliveryDiscarded(dead, at(5)).status).toBe('discarded');
      expect(markDeliveryDiscarded(succeeded, at(5))).toBe(succeeded);
    });

    test('during an attempt stays discarded if that fails, and is a success if it was delivered', () => {
      const off = markDeliveryDiscarded(retrying, at(12_000));
      expect(attempted(off, { outcome: failure, began: 11_500 })).toMatchObject({
        status: 'discarded',
        attempts_count: 2,
      });
      expect(attempted(off, { outcome: success, began: 11_500 }).status).toBe('succeeded');
    });

    test('is discarded with its endpoint if pending, and otherwise keeps its status', () => {
      expect(endDeliveryOfDeletedEndpoint(retrying, at(9)).status).toBe('discarded');
      expect(endDeliveryOfDeletedEndpoint(requestExtraAttempt(dead, at(8)), at(9))).toMatchObject({
        status: 'dead_lettered',
        manual_at: null,
      });
      expect(endDeliveryOfDeletedEndpoint(succeeded, at(9))).toBe(succeeded);
    });
  });

  test('has a new schedule and window after a replay, and keeps its log', () => {
    const again = resetDeliveryRetrySchedule(dead, at(100 * HOUR));
    expect(again).toMatchObject({ status: 'pending', next_attempt_at: at(100 * HOUR), attempts_count: 2, failures: 0 });
    const failed = attempted(again, { outcome: failure, began: 100 * HOUR });
    expect(failed).toMatchObject({ status: 'retrying', next_attempt_at: at(100 * HOUR + 5_000), attempts_count: 3 });
    expect(attempted(failed, { outcome: failure, began: 171 * HOUR }).status).toBe('retrying');
    expect(attempted(failed, { outcome: failure, began: 172 * HOUR }).status).toBe('dead_lettered');
  });

  test('has a new revision with every change, so that outdated writers are refused', () => {
    const steps = [
      fresh,
      retrying,
      requestExtraAttempt(retrying, at(1)),
      markDeliveryDiscarded(requestExtraAttempt(retrying, at(1)), at(2)),
    ];
    expect(steps.map(({ revision }) => revision)).toEqual([1, 2, 3, 4]);
  });
});
