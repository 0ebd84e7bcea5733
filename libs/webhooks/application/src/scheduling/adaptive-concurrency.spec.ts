import type { AttemptOutcome } from '@tracking/webhooks-domain';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const MINUTE = 60_000;
const success: AttemptOutcome = { kind: 'success' };
const failure: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: '' } };
const hold = (holdMs: number): AttemptOutcome => ({ ...failure, kind: 'hold', holdMs });
const half = () => 0.5;
const concurrency = (condition?: ConstructorParameters<typeof AdaptiveConcurrency>[3]) =>
  new AdaptiveConcurrency(16, 10 * MINUTE, { random: half, time: NEVER_SET_PROCESS_CLOCK }, condition);

function answer(subject: AdaptiveConcurrency, outcome: AttemptOutcome, times: number, at = 0): AdaptiveConcurrency {
  for (let n = 0; n < times; n += 1) subject.adaptConcurrencyToAttemptOutcome(outcome, at, at);
  return subject;
}

describe('concurrency of an endpoint’s attempts', () => {
  test('begins with a few attempts, and reaches the limit once as many have succeeded', () => {
    const subject = concurrency();
    expect(subject.allowed).toBe(4);
    answer(subject, success, 11);
    expect(subject.allowed).toBe(15);
    answer(subject, success, 5);
    expect(subject.allowed).toBe(16);
    expect(new AdaptiveConcurrency(2, 10 * MINUTE, { random: half, time: NEVER_SET_PROCESS_CLOCK }).allowed).toBe(2);
  });

  test('stays unchanged while only some attempts fail', () => {
    const subject = answer(concurrency(), success, 12);
    answer(subject, failure, 15);
    expect(subject.allowed).toBe(16);
    answer(subject, success, 1);
    answer(subject, failure, 15);
    expect(subject.allowed).toBe(16);
  });

  test('falls to two probes after as many failures in a row as there may be attempts, and grows again', () => {
    const subject = answer(answer(concurrency(), success, 12), failure, 16);
    expect(subject.allowed).toBe(2);
    answer(subject, success, 3);
    expect(subject.allowed).toBe(5);
    answer(subject, success, 50);
    expect(subject.allowed).toBe(16);
    expect(answer(concurrency(), failure, 3).allowed).toBe(4);
    expect(answer(concurrency(), failure, 4).allowed).toBe(2);
  });

  test('opens the circuit after as many failures in a row as there may be attempts, and closes it with a success', () => {
    const subject = concurrency();
    expect(subject.circuit).toBe('untried');
    expect(answer(subject, success, 1).circuit).toBe('closed');
    expect(answer(subject, failure, 4).circuit).toBe('closed');
    expect(answer(subject, failure, 1).circuit).toBe('open');
    expect(answer(subject, success, 1).circuit).toBe('closed');
  });

  test("pauses after failures in a row for up to a tenth of the last attempt's duration", () => {
    const subject = concurrency();
    subject.adaptConcurrencyToAttemptOutcome(failure, 0, 10_000);
    expect(subject.restsUntil).toBe(-Infinity);
    subject.adaptConcurrencyToAttemptOutcome(failure, 0, 10_000);
    expect(subject.restsUntil).toBe(10_500);
    answer(subject, success, 1);
    subject.adaptConcurrencyToAttemptOutcome(failure, 20_000, 30_000);
    expect(subject.restsUntil).toBe(10_500);
  });

  test('starts attempts one by one if answers are slow, over a quarter of their duration', () => {
    const subject = answer(concurrency(), success, 12);
    subject.adaptConcurrencyToAttemptOutcome(success, 0, 999);
    subject.delayNextAttemptStart(1_000);
    expect(subject.restsUntil).toBe(-Infinity);
    subject.adaptConcurrencyToAttemptOutcome(success, 0, 8_000);
    subject.delayNextAttemptStart(10_000);
    expect(subject.restsUntil).toBe(10_125);
    subject.adaptConcurrencyToAttemptOutcome(success, 10_000, 10_005);
    subject.delayNextAttemptStart(10_200);
    expect(subject.restsUntil).toBe(10_125);
    const single = new AdaptiveConcurrency(1, 10 * MINUTE, { random: half, time: NEVER_SET_PROCESS_CLOCK });
    single.adaptConcurrencyToAttemptOutcome(success, 0, 8_000);
    single.delayNextAttemptStart(10_000);
    expect(single.restsUntil).toBe(-Infinity);
  });

  test('pauses until the requested time, and then starts with one attempt', () => {
    const subject = answer(concurrency(), hold(30_000), 1, 1_000);
    expect(subject).toMatchObject({ heldUntil: 31_000, allowed: 1 });
    answer(subject, hold(5_000), 1, 2_000);
    expect(subject.heldUntil).toBe(31_000);
  });

  test('follows a changed limit', () => {
    const subject = answer(concurrency(), success, 12);
    subject.changeConcurrencyLimit(3);
    expect(subject.allowed).toBe(3);
    subject.changeConcurrencyLimit(20);
    expect(subject.allowed).toBe(20);
    answer(subject, failure, 20);
    subject.changeConcurrencyLimit(30);
    expect(subject.allowed).toBe(2);
    subject.changeConcurrencyLimit(2);
    subject.changeConcurrencyLimit(30);
    expect(subject.allowed).toBe(2);
    answer(subject, success, 1);
    expect(subject.allowed).toBe(3);
  });

  test('recovers by a success after ten minutes without one', () => {
    const long = answer(answer(concurrency(), failure, 1, 0), failure, 1, 9 * MINUTE);
    long.adaptConcurrencyToAttemptOutcome(success, 10 * MINUTE - 1, 10 * MINUTE);
    expect(long.recoveringSince).toBe(10 * MINUTE);
    const short = answer(concurrency(), failure, 1, 0);
    short.adaptConcurrencyToAttemptOutcome(success, 9 * MINUTE, 10 * MINUTE - 1);
    expect(short.recoveringSince).toBeNull();
  });

  test('ends a recovery after three failures in a row', () => {
    const subject = answer(concurrency(), failure, 1, 0);
    answer(subject, success, 1, 11 * MINUTE);
    answer(subject, failure, 2, 12 * MINUTE);
    expect(subject.recoveringSince).not.toBeNull();
    answer(subject, failure, 1, 12 * MINUTE);
    expect(subject.recoveringSince).toBeNull();
  });

  test('is stored only if it has to outlive the process', () => {
    const subject = concurrency();
    answer(subject, failure, 3, 0);
    expect(subject.getUnsavedHealth(1_000)).toBeUndefined();
    // Until it is known to be stored, because the store may be unreachable.
    expect(subject.getUnsavedHealth(MINUTE)).toMatchObject({ failing_since: '1970-01-01T00:00:00.000Z' });
    expect(subject.getUnsavedHealth(MINUTE)).toMatchObject({ failing_since: '1970-01-01T00:00:00.000Z' });
    const save = (now: number) => {
      const state = subject.getUnsavedHealth(now);
      if (state !== undefined) subject.markHealthSaved(state);
      return state;
    };
    save(MINUTE);
    expect(subject.getUnsavedHealth(MINUTE)).toBeUndefined();
    answer(subject, hold(5_000), 1, MINUTE);
    expect(save(MINUTE)).toMatchObject({ held_until: '1970-01-01T00:01:05.000Z' });
    answer(subject, success, 1, 20 * MINUTE);
    expect(subject.getUnsavedHealth(20 * MINUTE)).toMatchObject({
      failing_since: null,
      recovering_since: '1970-01-01T00:20:00.000Z',
    });
  });

  test('is stored with the report of its failures, however short they are', () => {
    const subject = answer(concurrency(), failure, 1, 0);
    subject.recordFailureReport(0, 1_000, false);
    const [failing_since, failing_event_at] = ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'];
    const state = subject.getUnsavedHealth(2_000);
    const reason = { code: 'timeout', message: '' };
    expect(state).toMatchObject({ failing_since, failing_reason: reason, failing_event_at, failing_told: false });
    if (state === undefined) return;
    const next = concurrency(state);
    expect(next.failures).toEqual({ since: 0, latest: 0, first: reason, reason, reportAt: 1_000, isReported: false });
    answer(next, failure, 1, 5_000);
    expect(next.failures).toMatchObject({ since: 0, latest: 5_000, reportAt: 1_000 });
    answer(next, success, 1, 6_000);
    expect(next.getUnsavedHealth(6_000)).toMatchObject({
      failing_since: null,
      failing_event_at: null,
      failing_told: false,
    });
  });

  test('continues from the stored health of another process', () => {
    const condition = {
      held_until: '1970-01-01T00:01:00.000Z',
      failing_since: '1970-01-01T00:00:00.000Z',
    };
    const subject = concurrency({ ...condition, recovering_since: null });
    expect(subject).toMatchObject({ heldUntil: MINUTE, allowed: 1 });
    expect(subject.getUnsavedHealth(2 * MINUTE)).toBeUndefined();
    answer(subject, success, 1, 11 * MINUTE);
    expect(subject.recoveringSince).toBe(11 * MINUTE);
  });

  test('ignores how far ahead the clock was that stored it', () => {
    const ahead = '1970-01-04T00:00:00.000Z';
    const stored = { held_until: ahead, failing_since: ahead, recovering_since: ahead };
    const time = { ...NEVER_SET_PROCESS_CLOCK, now: () => MINUTE };
    const subject = new AdaptiveConcurrency(16, 10 * MINUTE, { random: half, time }, stored);
    expect(subject).toMatchObject({ heldUntil: 61 * MINUTE, failingSince: MINUTE, recoveringSince: MINUTE });
  });

  test.each(['failing_since', 'recovering_since'])('starts with probes if another process stored %s', (since) => {
    const stored = { held_until: null, failing_since: null, recovering_since: null };
    const subject = concurrency({ ...stored, [since]: '1970-01-01T00:00:00.000Z' });
    expect(subject.allowed).toBe(2);
    answer(subject, success, 3, MINUTE);
    expect(subject.allowed).toBe(5);
  });
});
