import {
  type EndpointState,
  NEW_ENDPOINT,
  disabled,
  enabled,
  isAttempted,
  urlChanged,
  verificationEnded,
} from './endpoint.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const passed = (hour: number) => ({ at: at(hour), ok: true, error: null });
const failed = (hour: number) => ({ at: at(hour), ok: false, error: { code: 'timeout', message: 'no answer' } });

function enable(endpoint: EndpointState, hour: number): EndpointState {
  const after = enabled(endpoint, at(hour));
  if (after === undefined) throw new Error('not verified');
  return after;
}
const verified = verificationEnded(NEW_ENDPOINT, passed(0));
const running = enable(verified, 1);

describe('an endpoint', () => {
  test('is pending verification, verified, enabled', () => {
    expect(NEW_ENDPOINT.status).toBe('pending_verification');
    expect(verified).toMatchObject({ status: 'verified', last_verification: passed(0) });
    expect(running).toMatchObject({ status: 'enabled', enabled_periods: [{ from: at(1), to: null }], pauses: [] });
    expect(isAttempted(running)).toBe(true);
  });

  test('cannot be enabled before it was verified', () => {
    expect(enabled(NEW_ENDPOINT, at(1))).toBeUndefined();
    expect(enabled(disabled(NEW_ENDPOINT, 'manual', at(1)), at(2))).toBeUndefined();
    expect(enabled(verificationEnded(NEW_ENDPOINT, failed(1)), at(2))).toBeUndefined();
  });

  test('tells the outcome of its last verification, and a failed one takes nothing away', () => {
    expect(verificationEnded(NEW_ENDPOINT, failed(1))).toMatchObject({
      status: 'pending_verification',
      last_verification: { ok: false, error: { code: 'timeout' } },
    });
    expect(verificationEnded(running, failed(2))).toMatchObject({ status: 'enabled', verified: true });
  });

  test('records nothing while disabled, and its deliveries’ windows stand still', () => {
    const off = disabled(running, 'manual', at(3));
    expect(off).toMatchObject({
      status: 'disabled',
      disabled_reason: 'manual',
      enabled_periods: [{ from: at(1), to: at(3) }],
      pauses: [{ from: at(3), to: null }],
    });
    expect(enable(off, 5)).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      enabled_periods: [
        { from: at(1), to: at(3) },
        { from: at(5), to: null },
      ],
      pauses: [{ from: at(3), to: at(5) }],
    });
  });

  test('is disabled once: the first reason stays', () => {
    const gone = disabled(running, 'gone', at(3));
    expect(disabled(gone, 'manual', at(4))).toBe(gone);
  });

  test('goes back to pending verification with a changed URL, and goes on recording if it was enabled', () => {
    const moved = urlChanged(running, at(3));
    expect(moved).toMatchObject({
      status: 'pending_verification',
      last_verification: null,
      enabled_periods: [{ from: at(1), to: null }],
      pauses: [{ from: at(3), to: null }],
    });
    expect(enabled(moved, at(4))).toBeUndefined();
    const again = enable(verificationEnded(moved, passed(4)), 5);
    expect(again).toMatchObject({ enabled_periods: [{ from: at(1), to: null }], pauses: [{ from: at(3), to: at(5) }] });
  });

  test('does not begin to record by a changed URL', () => {
    const moved = urlChanged(disabled(running, 'manual', at(2)), at(3));
    expect(moved).toMatchObject({ status: 'pending_verification', enabled_periods: [{ from: at(1), to: at(2) }] });
  });

  test('stays disabled when it is verified again', () => {
    const off = disabled(running, 'gone', at(2));
    expect(verificationEnded(off, passed(3))).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  });
});
