import { type AttemptOutcome, INITIAL_ENDPOINT_STATE } from '@tracking/webhooks-domain';
import type { EndpointDocument, EndpointHealthDocument } from '../endpoints/endpoint-document.ts';
import { DeliveryState, IllegalTransition, type RunningReplay } from './delivery-state.ts';
import { TIME_OF_NEVER_SET_CLOCK } from '../../test/unset-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SETTINGS = { recoveryAfterMs: 10 * MINUTE, random: () => 0.5 };
const SUCCESS: AttemptOutcome = { kind: 'success' };
const ERROR = { code: 'timeout', message: '' };
const FAILURE: AttemptOutcome = { kind: 'failure', error: ERROR };
const GONE: AttemptOutcome = { kind: 'gone', error: ERROR };
const HOLD: AttemptOutcome = { kind: 'hold', error: ERROR, holdMs: 30_000 };
const ENDPOINT = {
  ...INITIAL_ENDPOINT_STATE,
  id: 'whe_1',
  workspace_id: 'wsp_1',
  status: 'enabled',
  verified: true,
  url: 'https://a.example.com/',
  max_concurrency: 16,
  deleted: false,
  revision: 1,
} as unknown as EndpointDocument;
const MOVED: EndpointDocument = { ...ENDPOINT, url: 'https://b.example.com/', url_revision: 2, revision: 2 };
const DISABLED: EndpointDocument = { ...ENDPOINT, status: 'disabled', disabled_reason: 'gone', revision: 2 };

const opening = () => new DeliveryState(ENDPOINT, TIME_OF_NEVER_SET_CLOCK);

/** A state whose URL answered with this outcome, at the beginning of the epoch. */
function serving(...outcomes: readonly AttemptOutcome[]): DeliveryState {
  const state = opening();
  state.setHealth(undefined, SETTINGS);
  for (const outcome of outcomes) state.recordOutcome(ENDPOINT, outcome, 0, 0);
  return state;
}

const gone = () => serving(GONE);

function replay(id = 'rpl_1', wantsMore = true): RunningReplay & { rereads: number } {
  return {
    id,
    rereads: 0,
    needsMoreDeliveries: () => wantsMore,
    getNextStoreTime: () => undefined,
    takeDeliveries: () => Promise.resolve(true),
    recordAttempt: () => undefined,
    requestReread() {
      this.rereads += 1;
    },
  };
}

function replaying(running: RunningReplay | undefined = replay()): DeliveryState {
  const state = serving();
  state.endReplayRead(state.beginReplayRead(), running);
  return state;
}

describe('the phase of a URL', () => {
  test('is opening until its health is read, and serving afterwards', () => {
    const state = opening();
    expect([state.phase, state.concurrency]).toEqual(['opening', undefined]);
    state.setHealth(undefined, SETTINGS);
    expect([state.phase, state.concurrency?.allowed]).toEqual(['serving', 4]);
  });

  test.each<[string, Partial<EndpointHealthDocument>, number]>([
    ['its own', {}, 1],
    ['that of another URL, which counts for nothing', { url_revision: 2 }, 4],
  ])('begins with the stored health: %s', (_name, fields, allowed) => {
    const state = opening();
    const held = { held_until: '1970-01-01T00:01:00.000Z', failing_since: null, recovering_since: null };
    state.setHealth({ id: 'whe_1', epoch: 1, ...held, ...fields }, SETTINGS);
    expect(state.concurrency?.allowed).toBe(allowed);
  });

  test('accepts its health only once', () => {
    expect(() => serving().setHealth(undefined, SETTINGS)).toThrow(IllegalTransition);
    expect(() => gone().setHealth(undefined, SETTINGS)).toThrow(IllegalTransition);
  });

  test('is gone after a 410, also before its health is known and once more', () => {
    expect(gone().phase).toBe('gone');
    const state = opening();
    state.recordOutcome(ENDPOINT, GONE, 0, 0);
    expect(state.phase).toBe('gone');
    state.setHealth(undefined, SETTINGS);
    state.recordOutcome(ENDPOINT, GONE, 0, 0);
    expect(state.phase).toBe('gone');
  });

  test.each([
    ['success', SUCCESS],
    ['failure', FAILURE],
    ['hold', HOLD],
  ])('stays unchanged after a %s', (_name, outcome) => {
    expect(serving(outcome).phase).toBe('serving');
    expect(serving(GONE, outcome).phase).toBe('gone');
  });

  test('does not change by an answer of another URL', () => {
    const state = serving();
    state.recordOutcome(MOVED, GONE, 0, 0);
    state.recordOutcome(MOVED, HOLD, 0, 0);
    expect([state.phase, state.concurrency?.heldUntil, state.wasAttempted]).toEqual(['serving', -Infinity, false]);
  });

  test.each([
    ['opening', opening],
    ['serving', () => serving(HOLD)],
    ['gone', gone],
  ])('is opening again after a change of the URL: from %s', (_phase, make) => {
    const state = make();
    expect(state.setEndpoint(MOVED)).toBe(true);
    expect([state.phase, state.concurrency, state.beginDisablingEndpoint()]).toEqual(['opening', undefined, undefined]);
    state.setHealth(undefined, SETTINGS);
    expect([state.phase, state.concurrency?.heldUntil]).toEqual(['serving', -Infinity]);
  });
});

describe('a changed endpoint', () => {
  test('receives other deliveries after it is verified, enabled or disabled', () => {
    const state = serving();
    expect(state.setEndpoint({ ...ENDPOINT, description: 'other', revision: 2 })).toBe(false);
    expect(state.setEndpoint({ ...ENDPOINT, status: 'disabled', revision: 3 })).toBe(true);
    expect(state.setEndpoint({ ...ENDPOINT, status: 'enabled', revision: 4 })).toBe(true);
    expect(state.setEndpoint({ ...ENDPOINT, verified: false, revision: 5 })).toBe(true);
  });

  test('keeps the health of its URL, and applies its new limit', () => {
    const state = serving(SUCCESS);
    state.setEndpoint({ ...ENDPOINT, max_concurrency: 3, revision: 2 });
    expect(state.concurrency).toMatchObject({ limit: 3, allowed: 3, isProven: true });
  });

  test('is ignored in an older revision', () => {
    const state = serving();
    state.setEndpoint(MOVED);
    expect(state.setEndpoint(ENDPOINT)).toBe(false);
    expect(state.endpoint).toBe(MOVED);
  });
});

describe('an attempt', () => {
  test('is in progress, then its outcome is being stored, then it has ended', () => {
    const state = serving();
    state.beginAttempt('dlv_1', false, 0);
    expect([state.attempting, state.underWay.get('dlv_1'), state.isIdle]).toEqual([1, 'attempting', false]);
    state.markAnswered('dlv_1');
    expect([state.attempting, state.underWay.get('dlv_1'), state.isIdle]).toEqual([0, 'storing', false]);
    state.endAttempt('dlv_1');
    expect([state.attempting, state.underWay.size, state.isIdle]).toEqual([0, 0, true]);
  });

  test('may end before it is made', () => {
    const state = serving();
    state.beginAttempt('dlv_1', false, 0);
    state.endAttempt('dlv_1');
    expect([state.attempting, state.underWay.size]).toEqual([0, 0]);
  });

  test.each<[string, (state: DeliveryState) => void]>([
    ['begins twice at once', (state) => state.beginAttempt('dlv_1', false, 0)],
    [
      'begins while its outcome is being stored',
      (state) => {
        state.markAnswered('dlv_1');
        state.beginAttempt('dlv_1', false, 0);
      },
    ],
    [
      'is answered twice',
      (state) => {
        state.markAnswered('dlv_1');
        state.markAnswered('dlv_1');
      },
    ],
    ['is answered and never began', (state) => state.markAnswered('dlv_2')],
    ['ends and never began', (state) => state.endAttempt('dlv_2')],
    [
      'ends twice',
      (state) => {
        state.endAttempt('dlv_1');
        state.endAttempt('dlv_1');
      },
    ],
  ])('never %s', (_name, change) => {
    const state = serving();
    state.beginAttempt('dlv_1', false, 0);
    expect(() => change(state)).toThrow(IllegalTransition);
  });

  test('is known as early until it has ended', () => {
    const state = serving();
    state.beginAttempt('dlv_1', true, 0);
    state.beginAttempt('dlv_2', false, 0);
    expect(state.hasEarlyUnderWay).toBe(true);
    state.endAttempt('dlv_1');
    expect(state.hasEarlyUnderWay).toBe(false);
    state.beginAttempt('dlv_1', false, 0);
    expect(state.hasEarlyUnderWay).toBe(false);
  });

  test('begins after a gap if answers are slow', () => {
    const state = serving();
    state.recordOutcome(ENDPOINT, SUCCESS, 0, 8_000);
    state.beginAttempt('dlv_1', false, 10_000);
    expect(state.concurrency?.restsUntil).toBe(10_000 + 8_000 / (4 * 5));
  });

  test('waits after a local fault', () => {
    const state = serving();
    expect(state.blockedUntil).toBe(-Infinity);
    state.blockAttemptsUntil(5_000);
    expect(state.blockedUntil).toBe(5_000);
  });
});

describe('a recovery', () => {
  test('begins with a success after a long failure, and ends after everything was attempted again', () => {
    const state = serving(FAILURE);
    state.recordOutcome(ENDPOINT, SUCCESS, 10 * MINUTE, 10 * MINUTE);
    expect(state.concurrency?.recoveringSince).toBe(10 * MINUTE);
    state.endRecovery();
    expect(state.concurrency?.recoveringSince).toBeNull();
  });

  test('ends without effect after the URL changed', () => {
    const state = serving(FAILURE);
    state.setEndpoint(MOVED);
    state.endRecovery();
    expect(state.phase).toBe('opening');
  });
});

describe('stored health', () => {
  test('is stored once for each change', () => {
    const state = serving(HOLD);
    const unsaved = state.getUnsavedHealth(0);
    expect(unsaved).toMatchObject({ health: { held_until: '1970-01-01T00:00:30.000Z' }, url_revision: undefined });
    if (unsaved !== undefined) state.markHealthSaved(unsaved);
    expect(state.getUnsavedHealth(0)).toBeUndefined();
    expect(opening().getUnsavedHealth(0)).toBeUndefined();
  });

  test("of a former URL does not mark the current one's health as stored", () => {
    const state = serving(HOLD);
    const unsaved = state.getUnsavedHealth(0);
    state.setEndpoint(MOVED);
    state.setHealth(undefined, SETTINGS);
    state.recordOutcome(MOVED, HOLD, 0, 0);
    if (unsaved !== undefined) state.markHealthSaved(unsaved);
    expect(state.getUnsavedHealth(0)).toMatchObject({ url_revision: 2 });
  });
});

describe('disabling after a 410', () => {
  test('begins once no attempt is in progress, and once at a time', () => {
    const state = gone();
    state.beginAttempt('dlv_1', false, 0);
    expect(state.beginDisablingEndpoint()).toBeUndefined();
    state.endAttempt('dlv_1');
    expect(state.beginDisablingEndpoint()).toBe(ENDPOINT);
    expect(state.beginDisablingEndpoint()).toBeUndefined();
    expect(opening().beginDisablingEndpoint()).toBeUndefined();
    expect(serving(FAILURE).beginDisablingEndpoint()).toBeUndefined();
  });

  test('continues after the endpoint was dropped', () => {
    const state = gone();
    state.dropEndpoint();
    expect([state.isDropped, state.isIdle, state.beginDisablingEndpoint()]).toEqual([true, false, ENDPOINT]);
  });

  test('ends in serving, because the endpoint is disabled', () => {
    const state = gone();
    state.beginDisablingEndpoint();
    state.setEndpoint(DISABLED);
    state.endDisabling(ENDPOINT, true);
    expect([state.phase, state.isIdle, state.beginDisablingEndpoint()]).toEqual(['serving', true, undefined]);
  });

  test('ends in opening while the health is unknown', () => {
    const state = opening();
    state.recordOutcome(ENDPOINT, GONE, 0, 0);
    state.beginDisablingEndpoint();
    state.endDisabling(ENDPOINT, true);
    expect(state.phase).toBe('opening');
  });

  test('begins again if it failed', () => {
    const state = gone();
    state.beginDisablingEndpoint();
    state.endDisabling(ENDPOINT, false);
    expect([state.phase, state.beginDisablingEndpoint()]).toEqual(['gone', ENDPOINT]);
  });

  test('leaves another URL that answered 410 to be disabled next', () => {
    const state = gone();
    state.beginDisablingEndpoint();
    state.setEndpoint(MOVED);
    state.recordOutcome(MOVED, GONE, 0, 0);
    expect(state.beginDisablingEndpoint()).toBeUndefined();
    state.endDisabling(ENDPOINT, true);
    expect([state.phase, state.beginDisablingEndpoint()]).toEqual(['gone', MOVED]);
  });

  test('leaves another URL that serves unchanged', () => {
    const state = gone();
    state.beginDisablingEndpoint();
    state.setEndpoint(MOVED);
    state.setHealth(undefined, SETTINGS);
    state.endDisabling(ENDPOINT, true);
    expect(state.phase).toBe('serving');
  });

  test('never ends before it began', () => {
    expect(() => gone().endDisabling(ENDPOINT, true)).toThrow(IllegalTransition);
  });
});

describe('reporting failures', () => {
  test('is due an hour after the first failure, until the report is made', () => {
    expect(serving().getNextReportTime(HOUR)).toBe(Infinity);
    expect(serving(SUCCESS).getNextReportTime(HOUR)).toBe(Infinity);
    expect(opening().getNextReportTime(HOUR)).toBe(Infinity);
    const state = serving(FAILURE);
    expect(state.getNextReportTime(HOUR)).toBe(HOUR);
    state.beginReporting();
    expect(state.getNextReportTime(HOUR)).toBe(Infinity);
    const report = state.createFailingReport(HOUR);
    expect(report).toMatchObject({ endpoint: ENDPOINT, since: 0, at: HOUR, reason: ERROR });
    if (report !== undefined) state.recordFailureReport(report, false);
    expect(state.createFailingReport(2 * HOUR)).toMatchObject({ at: HOUR });
    if (report !== undefined) state.recordFailureReport(report, true);
    state.endReporting();
    expect(state.getNextReportTime(HOUR)).toBe(Infinity);
  });

  test('is due again if it ended without a report', () => {
    const state = serving(FAILURE);
    state.beginReporting();
    state.endReporting();
    expect(state.getNextReportTime(HOUR)).toBe(HOUR);
  });

  test('is not due after a success, or for an unknown URL', () => {
    expect(serving(FAILURE, SUCCESS).createFailingReport(HOUR)).toBeUndefined();
    expect(opening().createFailingReport(HOUR)).toBeUndefined();
  });

  test('of a former URL does not mark the current one as reported', () => {
    const state = serving(FAILURE);
    const report = state.createFailingReport(HOUR);
    if (report === undefined) throw new Error('nothing to report');
    expect(state.isForCurrentUrl(report)).toBe(true);
    state.setEndpoint(MOVED);
    state.setHealth(undefined, SETTINGS);
    state.recordOutcome(MOVED, FAILURE, 0, 0);
    expect(state.isForCurrentUrl(report)).toBe(false);
    state.recordFailureReport(report, true);
    expect(state.getNextReportTime(HOUR)).toBe(HOUR);
  });

  test('runs once at a time', () => {
    const state = serving(FAILURE);
    expect(() => state.endReporting()).toThrow(IllegalTransition);
    state.beginReporting();
    expect(() => state.beginReporting()).toThrow(IllegalTransition);
    state.endReporting();
    expect(() => state.endReporting()).toThrow(IllegalTransition);
  });
});

describe('a replay', () => {
  test('takes deliveries once at a time, while it wants more', () => {
    const running = replay();
    const state = replaying(running);
    expect([state.hasReplayToContinue(0), state.isIdle]).toEqual([true, false]);
    expect(state.beginReplayTurn()).toBe(running);
    expect(state.hasReplayToContinue(0)).toBe(false);
    expect(() => state.beginReplayTurn()).toThrow(IllegalTransition);
    state.endReplayTurn();
    expect(state.hasReplayToContinue(0)).toBe(true);
    expect(() => state.endReplayTurn()).toThrow(IllegalTransition);
    expect(replaying(replay('rpl_1', false)).hasReplayToContinue(0)).toBe(false);
  });

  test('never takes without a replay', () => {
    expect(serving().hasReplayToContinue(0)).toBe(false);
    expect(() => serving().beginReplayTurn()).toThrow(IllegalTransition);
  });

  test('that is read again is the same one, and reads stored data', () => {
    const running = replay();
    const state = replaying(running);
    state.endReplayRead(state.beginReplayRead(), replay('rpl_1'));
    expect([state.replay, running.rereads]).toEqual([running, 1]);
    const next = replay('rpl_2');
    state.endReplayRead(state.beginReplayRead(), next);
    expect([state.replay, next.rereads]).toEqual([next, 0]);
    state.endReplayRead(state.beginReplayRead(), undefined);
    expect([state.replay, state.isIdle]).toEqual([undefined, true]);
  });

  test('that was read last is kept, although an earlier read is answered later', () => {
    const state = serving();
    const [earlier, later] = [state.beginReplayRead(), state.beginReplayRead()];
    state.endReplayRead(later, replay('rpl_2'));
    state.endReplayRead(earlier, undefined);
    expect(state.replay?.id).toBe('rpl_2');
  });

  test('is never set by a read that did not begin', () => {
    expect(() => serving().endReplayRead(1, replay())).toThrow(IllegalTransition);
  });
});

test('a dropped endpoint stays dropped', () => {
  const state = serving();
  state.dropEndpoint();
  state.dropEndpoint();
  state.setEndpoint(MOVED);
  expect(state.isDropped).toBe(true);
});
