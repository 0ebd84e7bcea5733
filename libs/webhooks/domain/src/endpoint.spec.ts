import {
  type EndpointState,
  NEW_ENDPOINT,
  deleted,
  disabled,
  enabled,
  isAttempted,
  urlChanged,
  verificationEnded,
} from './endpoint.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
/** Where the log has come to by that hour. */
const head = (hour: number) => `p${String(hour).padStart(2, '0')}`;
const moment = (hour: number) => ({ at: at(hour), head: head(hour) });
const period = (from: number, to: number | null) => ({
  from: at(from),
  to: to === null ? null : at(to),
  places: { after: head(from), up_to: to === null ? null : head(to) },
});
const passed = (hour: number) => ({ at: at(hour), ok: true, error: null });
const failed = (hour: number) => ({ at: at(hour), ok: false, error: { code: 'timeout', message: 'no answer' } });

function enable(endpoint: EndpointState, hour: number): EndpointState {
  const after = enabled(endpoint, moment(hour));
  if (after === undefined) throw new Error('not verified');
  return after;
}
const verified = verificationEnded(NEW_ENDPOINT, passed(0));
const running = enable(verified, 1);

describe('an endpoint', () => {
  test('is pending verification, verified, enabled', () => {
    expect(NEW_ENDPOINT.status).toBe('pending_verification');
    expect(verified).toMatchObject({ status: 'verified', last_verification: passed(0) });
    expect(running).toMatchObject({ status: 'enabled', enabled_periods: [period(1, null)], pauses: [] });
    expect(isAttempted(running)).toBe(true);
  });

  test('cannot be enabled before it was verified', () => {
    expect(enabled(NEW_ENDPOINT, moment(1))).toBeUndefined();
    expect(enabled(disabled(NEW_ENDPOINT, 'manual', moment(1)), moment(2))).toBeUndefined();
    expect(enabled(verificationEnded(NEW_ENDPOINT, failed(1)), moment(2))).toBeUndefined();
  });

  test('tells the outcome of its last verification, and a failed one takes nothing away', () => {
    expect(verificationEnded(NEW_ENDPOINT, failed(1))).toMatchObject({
      status: 'pending_verification',
      last_verification: { ok: false, error: { code: 'timeout' } },
    });
    expect(verificationEnded(running, failed(2))).toMatchObject({ status: 'enabled', verified: true });
  });

  test('records nothing while disabled, and its deliveries’ windows stand still', () => {
    const off = disabled(running, 'manual', moment(3));
    expect(off).toMatchObject({
      status: 'disabled',
      disabled_reason: 'manual',
      enabled_periods: [period(1, 3)],
      pauses: [{ from: at(3), to: null }],
    });
    expect(enable(off, 5)).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      enabled_periods: [period(1, 3), period(5, null)],
      pauses: [{ from: at(3), to: at(5) }],
    });
  });

  test('is disabled once: the first reason stays', () => {
    const gone = disabled(running, 'gone', moment(3));
    expect(disabled(gone, 'manual', moment(4))).toBe(gone);
  });

  test('goes back to pending verification with a changed URL, and goes on recording if it was enabled', () => {
    const moved = urlChanged(running, at(3), 4);
    expect(moved).toMatchObject({
      status: 'pending_verification',
      last_verification: null,
      enabled_periods: [period(1, null)],
      pauses: [{ from: at(3), to: null }],
    });
    expect(enabled(moved, moment(4))).toBeUndefined();
    const again = enable(verificationEnded(moved, passed(4)), 5);
    expect(again).toMatchObject({ enabled_periods: [period(1, null)], pauses: [{ from: at(3), to: at(5) }] });
  });

  test('does not begin to record by a changed URL', () => {
    const moved = urlChanged(disabled(running, 'manual', moment(2)), at(3), 4);
    expect(moved).toMatchObject({ status: 'pending_verification', enabled_periods: [period(1, 2)] });
  });

  test('records nothing and is attempted no more once it is deleted', () => {
    const gone = deleted(running, at(3));
    expect(gone).toMatchObject({ status: 'disabled', disabled_reason: 'manual', verified: false, enabled_periods: [] });
    expect(gone.pauses).toEqual([{ from: at(3), to: null }]);
    expect(deleted(disabled(running, 'gone', moment(2)), at(3))).toMatchObject({ disabled_reason: 'gone' });
  });

  test('stays disabled when it is verified again', () => {
    const off = disabled(running, 'gone', moment(2));
    expect(verificationEnded(off, passed(3))).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  });
});
