import { type AttemptOutcome, INITIAL_ENDPOINT_STATE } from '@tracking/webhooks-domain';
import type { EndpointDocument, EndpointHealthDocument } from '../endpoints/endpoint-document.ts';
import { EndpointDeliveryState, IllegalTransitionError, type RunningReplay } from './delivery-state.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

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

const opening = () => new EndpointDeliveryState(ENDPOINT, NEVER_SET_PROCESS_CLOCK);

/** A state whose URL answered with this outcome, at the beginning of the epoch. */
function serving(...outcomes: readonly AttemptOutcome[]): EndpointDeliveryState {
  const state = opening();
  state.restoreEndpointHealth(undefined, SETTINGS);
  for (const outcome of outcomes) state.recordAttemptOutcome(ENDPOINT, outcome, 0, 0);
  return state;
}

const gone = () => serving(GONE);

function replay(id = 'rpl_1', wantsMore = true): RunningReplay & { rereads: number } {
  return {
    id,
    rereads: 0,
    isReplayReadyForMoreDeliveries: () => wantsMore,
    getNextOutcomeStoreTime: () => undefined,
    takeDeliveriesToReplay: () => Promise.resolve(true),
    countReplayedDelivery: () => undefined,
    requestReplayReread() {
      this.rereads += 1;
    },
  };
}

function replaying(running: RunningReplay | undefined = replay()): EndpointDeliveryState {
  const state = serving();
  state.setRunningReplayUnlessReadIsOutdated(state.assignReplayReadNumber(), running);
  return state;
}

describe('the phase of a URL', () => {
  test('is opening until its health is read, and serving afterwards', () => {
    const state = opening();
    expect([state.phase, state.concurrency]).toEqual(['opening', undefined]);
    state.restoreEndpointHealth(undefined, SETTINGS);
    expect([state.phase, state.concurrency?.allowed]).toEqual(['serving', 4]);
  });

  test.each<[string, Partial<EndpointHealthDocument>, number]>([
    ['its own', {}, 1],
    ['that of another URL, which counts for nothing', { url_revision: 2 }, 4],
  ])('begins with the stored health: %s', (_name, fields, allowed) => {
    const state = opening();
    const held = { held_until: '1970-01-01T00:01:00.000Z', failing_since: null, recovering_since: null };
    state.restoreEndpointHealth({ id: 'whe_1', epoch: 1, ...held, ...fields }, SETTINGS);
    expect(state.concurrency?.allowed).toBe(allowed);
  });

  test('accepts its health only once', () => {
    expect(() => serving().restoreEndpointHealth(undefined, SETTINGS)).toThrow(IllegalTransitionError);
    expect(() => gone().restoreEndpointHealth(undefined, SETTINGS)).toThrow(IllegalTransitionError);
  });

  test('is gone after a 410, also before its health is known and once more', () => {
    expect(gone().phase).toBe('gone');
    const state = opening();
    state.recordAttemptOutcome(ENDPOINT, GONE, 0, 0);
    expect(state.phase).toBe('gone');
    state.restoreEndpointHealth(undefined, SETTINGS);
    state.recordAttemptOutcome(ENDPOINT, GONE, 0, 0);
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
    state.recordAttemptOutcome(MOVED, GONE, 0, 0);
    state.recordAttemptOutcome(MOVED, HOLD, 0, 0);
    expect([state.phase, state.concurrency?.heldUntil, state.wasAttempted]).toEqual(['serving', -Infinity, false]);
  });

  test.each([
    ['opening', opening],
    ['serving', () => serving(HOLD)],
    ['gone', gone],
  ])('is opening again after a change of the URL: from %s', (_phase, make) => {
    const state = make();
    expect(state.setEndpointUnlessOutdated(MOVED)).toBe(true);
    expect([state.phase, state.concurrency, state.beginDisablingGoneEndpoint()]).toEqual([
      'opening',
      undefined,
      undefined,
    ]);
    state.restoreEndpointHealth(undefined, SETTINGS);
    expect([state.phase, state.concurrency?.heldUntil]).toEqual(['serving', -Infinity]);
  });
});

describe('a changed endpoint', () => {
  test('receives other deliveries after it is verified, enabled or disabled', () => {
    const state = serving();
    expect(state.setEndpointUnlessOutdated({ ...ENDPOINT, description: 'other', revision: 2 })).toBe(false);
    expect(state.setEndpointUnlessOutdated({ ...ENDPOINT, status: 'disabled', revision: 3 })).toBe(true);
    expect(state.setEndpointUnlessOutdated({ ...ENDPOINT, status: 'enabled', revision: 4 })).toBe(true);
    expect(state.setEndpointUnlessOutdated({ ...ENDPOINT, verified: false, revision: 5 })).toBe(true);
  });

  test('keeps the health of its URL, and applies its new limit', () => {
    const state = serving(SUCCESS);
    state.setEndpointUnlessOutdated({ ...ENDPOINT, max_concurrency: 3, revision: 2 });
    expect(state.concurrency).toMatchObject({ limit: 3, allowed: 3, isProven: true });
  });

  test('is ignored in an older revision', () => {
    const state = serving();
    state.setEndpointUnlessOutdated(MOVED);
    expect(state.setEndpointUnlessOutdated(ENDPOINT)).toBe(false);
    expect(state.endpoint).toBe(MOVED);
  });
});

describe('an attempt', () => {
  test('is in progress, then its outcome is being stored, then it has ended', () => {
    const state = serving();
    state.recordAttemptBegin('dlv_1', false, 0);
    expect([state.attempting, state.underWay.get('dlv_1'), state.isIdle]).toEqual([1, 'attempting', false]);
    state.markDeliveryAnswered('dlv_1');
    expect([state.attempting, state.underWay.get('dlv_1'), state.isIdle]).toEqual([0, 'storing', false]);
    state.markDeliveryNoLongerInProgress('dlv_1');
    expect([state.attempting, state.underWay.size, state.isIdle]).toEqual([0, 0, true]);
  });

  test('may end before it is made', () => {
    const state = serving();
    state.recordAttemptBegin('dlv_1', false, 0);
    state.markDeliveryNoLongerInProgress('dlv_1');
    expect([state.attempting, state.underWay.size]).toEqual([0, 0]);
  });

  test.each<[string, (state: EndpointDeliveryState) => void]>([
    ['begins twice at once', (state) => state.recordAttemptBegin('dlv_1', false, 0)],
    [
      'begins while its outcome is being stored',
      (state) => {
        state.markDeliveryAnswered('dlv_1');
        state.recordAttemptBegin('dlv_1', false, 0);
      },
    ],
    [
      'is answered twice',
      (state) => {
        state.markDeliveryAnswered('dlv_1');
        state.markDeliveryAnswered('dlv_1');
      },
    ],
    ['is answered and never began', (state) => state.markDeliveryAnswered('dlv_2')],
    ['ends and never began', (state) => state.markDeliveryNoLongerInProgress('dlv_2')],
    [
      'ends twice',
      (state) => {
        state.markDeliveryNoLongerInProgress('dlv_1');
        state.markDeliveryNoLongerInProgress('dlv_1');
      },
    ],
  ])('never %s', (_name, change) => {
    const state = serving();
    state.recordAttemptBegin('dlv_1', false, 0);
    expect(() => change(state)).toThrow(IllegalTransitionError);
  });

  test('is known as early until it has ended', () => {
    const state = serving();
    state.recordAttemptBegin('dlv_1', true, 0);
    state.recordAttemptBegin('dlv_2', false, 0);
    expect(state.hasEarlyUnderWay).toBe(true);
    state.markDeliveryNoLongerInProgress('dlv_1');
    expect(state.hasEarlyUnderWay).toBe(false);
    state.recordAttemptBegin('dlv_1', false, 0);
    expect(state.hasEarlyUnderWay).toBe(false);
  });

  test('begins after a gap if answers are slow', () => {
    const state = serving();
    state.recordAttemptOutcome(ENDPOINT, SUCCESS, 0, 8_000);
    state.recordAttemptBegin('dlv_1', false, 10_000);
    expect(state.concurrency?.restsUntil).toBe(10_000 + 8_000 / (4 * 5));
  });

  test('waits after a local fault', () => {
    const state = serving();
    expect(state.blockedUntil).toBe(-Infinity);
    state.blockDeliveryAttemptsUntil(5_000);
    expect(state.blockedUntil).toBe(5_000);
  });
});

describe('a recovery', () => {
  test('begins with a success after a long failure, and ends after everything was attempted again', () => {
    const state = serving(FAILURE);
    state.recordAttemptOutcome(ENDPOINT, SUCCESS, 10 * MINUTE, 10 * MINUTE);
    expect(state.concurrency?.recoveringSince).toBe(10 * MINUTE);
    state.endEndpointRecovery();
    expect(state.concurrency?.recoveringSince).toBeNull();
  });

  test('ends without effect after the URL changed', () => {
    const state = serving(FAILURE);
    state.setEndpointUnlessOutdated(MOVED);
    state.endEndpointRecovery();
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
    state.setEndpointUnlessOutdated(MOVED);
    state.restoreEndpointHealth(undefined, SETTINGS);
    state.recordAttemptOutcome(MOVED, HOLD, 0, 0);
    if (unsaved !== undefined) state.markHealthSaved(unsaved);
    expect(state.getUnsavedHealth(0)).toMatchObject({ url_revision: 2 });
  });
});

describe('disabling after a 410', () => {
  test('begins once no attempt is in progress, and once at a time', () => {
    const state = gone();
    state.recordAttemptBegin('dlv_1', false, 0);
    expect(state.beginDisablingGoneEndpoint()).toBeUndefined();
    state.markDeliveryNoLongerInProgress('dlv_1');
    expect(state.beginDisablingGoneEndpoint()).toBe(ENDPOINT);
    expect(state.beginDisablingGoneEndpoint()).toBeUndefined();
    expect(opening().beginDisablingGoneEndpoint()).toBeUndefined();
    expect(serving(FAILURE).beginDisablingGoneEndpoint()).toBeUndefined();
  });

  test('continues after the endpoint was dropped', () => {
    const state = gone();
    state.markEndpointDropped();
    expect([state.isDropped, state.isIdle, state.beginDisablingGoneEndpoint()]).toEqual([true, false, ENDPOINT]);
  });

  test('ends in serving, because the endpoint is disabled', () => {
    const state = gone();
    state.beginDisablingGoneEndpoint();
    state.setEndpointUnlessOutdated(DISABLED);
    state.endDisablingOfGoneEndpoint(ENDPOINT, true);
    expect([state.phase, state.isIdle, state.beginDisablingGoneEndpoint()]).toEqual(['serving', true, undefined]);
  });

  test('ends in opening while the health is unknown', () => {
    const state = opening();
    state.recordAttemptOutcome(ENDPOINT, GONE, 0, 0);
    state.beginDisablingGoneEndpoint();
    state.endDisablingOfGoneEndpoint(ENDPOINT, true);
    expect(state.phase).toBe('opening');
  });

  test('begins again if it failed', () => {
    const state = gone();
    state.beginDisablingGoneEndpoint();
    state.endDisablingOfGoneEndpoint(ENDPOINT, false);
    expect([state.phase, state.beginDisablingGoneEndpoint()]).toEqual(['gone', ENDPOINT]);
  });

  test('leaves another URL that answered 410 to be disabled next', () => {
    const state = gone();
    state.beginDisablingGoneEndpoint();
    state.setEndpointUnlessOutdated(MOVED);
    state.recordAttemptOutcome(MOVED, GONE, 0, 0);
    expect(state.beginDisablingGoneEndpoint()).toBeUndefined();
    state.endDisablingOfGoneEndpoint(ENDPOINT, true);
    expect([state.phase, state.beginDisablingGoneEndpoint()]).toEqual(['gone', MOVED]);
  });

  test('leaves another URL that serves unchanged', () => {
    const state = gone();
    state.beginDisablingGoneEndpoint();
    state.setEndpointUnlessOutdated(MOVED);
    state.restoreEndpointHealth(undefined, SETTINGS);
    state.endDisablingOfGoneEndpoint(ENDPOINT, true);
    expect(state.phase).toBe('serving');
  });

  test('never ends before it began', () => {
    expect(() => gone().endDisablingOfGoneEndpoint(ENDPOINT, true)).toThrow(IllegalTransitionError);
  });
});

describe('reporting failures', () => {
  test('is due an hour after the first failure, until the report is made', () => {
    expect(serving().getTimeToReportFailingEndpoint(HOUR)).toBe(Infinity);
    expect(serving(SUCCESS).getTimeToReportFailingEndpoint(HOUR)).toBe(Infinity);
    expect(opening().getTimeToReportFailingEndpoint(HOUR)).toBe(Infinity);
    const state = serving(FAILURE);
    expect(state.getTimeToReportFailingEndpoint(HOUR)).toBe(HOUR);
    state.beginReportingFailures();
    expect(state.getTimeToReportFailingEndpoint(HOUR)).toBe(Infinity);
    const report = state.createFailurePeriodReport(HOUR);
    expect(report).toMatchObject({ endpoint: ENDPOINT, since: 0, at: HOUR, reason: ERROR });
    if (report !== undefined) state.recordFailureReport(report, false);
    expect(state.createFailurePeriodReport(2 * HOUR)).toMatchObject({ at: HOUR });
    if (report !== undefined) state.recordFailureReport(report, true);
    state.endFailureReportTask();
    expect(state.getTimeToReportFailingEndpoint(HOUR)).toBe(Infinity);
  });

  test('is due again if it ended without a report', () => {
    const state = serving(FAILURE);
    state.beginReportingFailures();
    state.endFailureReportTask();
    expect(state.getTimeToReportFailingEndpoint(HOUR)).toBe(HOUR);
  });

  test('is not due after a success, or for an unknown URL', () => {
    expect(serving(FAILURE, SUCCESS).createFailurePeriodReport(HOUR)).toBeUndefined();
    expect(opening().createFailurePeriodReport(HOUR)).toBeUndefined();
  });

  test('of a former URL does not mark the current one as reported', () => {
    const state = serving(FAILURE);
    const report = state.createFailurePeriodReport(HOUR);
    if (report === undefined) throw new Error('nothing to report');
    expect(state.isFailureReportForCurrentUrl(report)).toBe(true);
    state.setEndpointUnlessOutdated(MOVED);
    state.restoreEndpointHealth(undefined, SETTINGS);
    state.recordAttemptOutcome(MOVED, FAILURE, 0, 0);
    expect(state.isFailureReportForCurrentUrl(report)).toBe(false);
    state.recordFailureReport(report, true);
    expect(state.getTimeToReportFailingEndpoint(HOUR)).toBe(HOUR);
  });

  test('runs once at a time', () => {
    const state = serving(FAILURE);
    expect(() => state.endFailureReportTask()).toThrow(IllegalTransitionError);
    state.beginReportingFailures();
    expect(() => state.beginReportingFailures()).toThrow(IllegalTransitionError);
    state.endFailureReportTask();
    expect(() => state.endFailureReportTask()).toThrow(IllegalTransitionError);
  });
});

describe('a replay', () => {
  test('takes deliveries once at a time, while it wants more', () => {
    const running = replay();
    const state = replaying(running);
    expect([state.hasReplayToContinue(0), state.isIdle]).toEqual([true, false]);
    expect(state.beginReplayTurn()).toBe(running);
    expect(state.hasReplayToContinue(0)).toBe(false);
    expect(() => state.beginReplayTurn()).toThrow(IllegalTransitionError);
    state.endReplayTurn();
    expect(state.hasReplayToContinue(0)).toBe(true);
    expect(() => state.endReplayTurn()).toThrow(IllegalTransitionError);
    expect(replaying(replay('rpl_1', false)).hasReplayToContinue(0)).toBe(false);
  });

  test('never takes without a replay', () => {
    expect(serving().hasReplayToContinue(0)).toBe(false);
    expect(() => serving().beginReplayTurn()).toThrow(IllegalTransitionError);
  });

  test('that is read again is the same one, and reads stored data', () => {
    const running = replay();
    const state = replaying(running);
    state.setRunningReplayUnlessReadIsOutdated(state.assignReplayReadNumber(), replay('rpl_1'));
    expect([state.replay, running.rereads]).toEqual([running, 1]);
    const next = replay('rpl_2');
    state.setRunningReplayUnlessReadIsOutdated(state.assignReplayReadNumber(), next);
    expect([state.replay, next.rereads]).toEqual([next, 0]);
    state.setRunningReplayUnlessReadIsOutdated(state.assignReplayReadNumber(), undefined);
    expect([state.replay, state.isIdle]).toEqual([undefined, true]);
  });

  test('that was read last is kept, although an earlier read is answered later', () => {
    const state = serving();
    const [earlier, later] = [state.assignReplayReadNumber(), state.assignReplayReadNumber()];
    state.setRunningReplayUnlessReadIsOutdated(later, replay('rpl_2'));
    state.setRunningReplayUnlessReadIsOutdated(earlier, undefined);
    expect(state.replay?.id).toBe('rpl_2');
  });

  test('is never set by a read that did not begin', () => {
    expect(() => serving().setRunningReplayUnlessReadIsOutdated(1, replay())).toThrow(IllegalTransitionError);
  });
});

test('a dropped endpoint stays dropped', () => {
  const state = serving();
  state.markEndpointDropped();
  state.markEndpointDropped();
  state.setEndpointUnlessOutdated(MOVED);
  expect(state.isDropped).toBe(true);
});
