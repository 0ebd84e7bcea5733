import { STANDARD_EVENT_TYPES } from '@tracking/contracts';
import {
  type EnabledPeriod,
  type EndpointState,
  type LogPosition,
  INITIAL_ENDPOINT_STATE,
  type TimePeriod,
  ENDPOINT_SHARD_COUNT,
  addOpenEnabledPeriodOfEndpoint,
  closeOpenTimePeriod,
  markEndpointDeleted,
  disableEndpoint,
  enableEndpoint,
  computeEndExcludingPauses,
  closeEnabledPeriod,
  isInEnabledPeriod,
  isEndpointEnabled,
  appendPeriodUnlessLastIsOpen,
  computeShardOfEndpoint,
  resetEndpointForNewUrl,
  recordVerificationResult,
  doesEndpointReceiveEvent,
} from './endpoint.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
/** Head of the log at that hour. */
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
  const after = enableEndpoint(endpoint, moment(hour));
  if (after === undefined) throw new Error('not verified');
  return after;
}
const verified = recordVerificationResult(INITIAL_ENDPOINT_STATE, passed(0));
const running = enable(verified, 1);

describe('an endpoint', () => {
  test('is pending verification, then verified, then enabled', () => {
    expect(INITIAL_ENDPOINT_STATE.status).toBe('pending_verification');
    expect(verified).toMatchObject({ status: 'verified', last_verification: passed(0) });
    expect(running).toMatchObject({ status: 'enabled', enabled_periods: [period(1, null)], pauses: [] });
    expect(isEndpointEnabled(running)).toBe(true);
  });

  test('cannot be enabled before it was verified', () => {
    expect(enableEndpoint(INITIAL_ENDPOINT_STATE, moment(1))).toBeUndefined();
    expect(enableEndpoint(disableEndpoint(INITIAL_ENDPOINT_STATE, 'manual', moment(1)), moment(2))).toBeUndefined();
    expect(enableEndpoint(recordVerificationResult(INITIAL_ENDPOINT_STATE, failed(1)), moment(2))).toBeUndefined();
  });

  test('has the result of its last verification; a failed one changes no status', () => {
    expect(recordVerificationResult(INITIAL_ENDPOINT_STATE, failed(1))).toMatchObject({
      status: 'pending_verification',
      last_verification: { ok: false, error: { code: 'timeout' } },
    });
    expect(recordVerificationResult(running, failed(2))).toMatchObject({ status: 'enabled', verified: true });
  });

  test('records nothing while disabled, and its deliveries’ windows are extended', () => {
    const off = disableEndpoint(running, 'manual', moment(3));
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

  test('is disabled once, and the first reason is kept', () => {
    const gone = disableEndpoint(running, 'gone', moment(3));
    expect(disableEndpoint(gone, 'manual', moment(4))).toBe(gone);
  });

  test('is pending verification with a changed URL, and continues recording if it was enabled', () => {
    const moved = resetEndpointForNewUrl(running, at(3), 4);
    expect(moved).toMatchObject({
      status: 'pending_verification',
      last_verification: null,
      enabled_periods: [period(1, null)],
      pauses: [{ from: at(3), to: null }],
    });
    expect(enableEndpoint(moved, moment(4))).toBeUndefined();
    const again = enable(recordVerificationResult(moved, passed(4)), 5);
    expect(again).toMatchObject({ enabled_periods: [period(1, null)], pauses: [{ from: at(3), to: at(5) }] });
  });

  test('does not start recording by a changed URL', () => {
    const moved = resetEndpointForNewUrl(disableEndpoint(running, 'manual', moment(2)), at(3), 4);
    expect(moved).toMatchObject({ status: 'pending_verification', enabled_periods: [period(1, 2)] });
  });

  test('records nothing and is no longer attempted after its deletion', () => {
    const gone = markEndpointDeleted(running, at(3));
    expect(gone).toMatchObject({ status: 'disabled', disabled_reason: 'manual', verified: false, enabled_periods: [] });
    expect(gone.pauses).toEqual([{ from: at(3), to: null }]);
    expect(markEndpointDeleted(disableEndpoint(running, 'gone', moment(2)), at(3))).toMatchObject({
      disabled_reason: 'gone',
    });
  });

  test('stays disabled when it is verified again', () => {
    const off = disableEndpoint(running, 'gone', moment(2));
    expect(recordVerificationResult(off, passed(3))).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  });
});

const enabled_periods = [{ from: '2026-01-03T00:00:00.000Z', to: null, places: { after: '10', up_to: null } }];
const event = (type: string, place = '11') => ({ type, created_at: '2026-01-04T00:00:00.000Z', place });

describe('an endpoint', () => {
  test('receives the types that it names', () => {
    const endpoint = { event_types: ['shipment.created', 'milestone.retracted'], enabled_periods };
    expect(doesEndpointReceiveEvent(endpoint, event('shipment.created'))).toBe(true);
    expect(doesEndpointReceiveEvent(endpoint, event('milestone.retracted'))).toBe(true);
    expect(doesEndpointReceiveEvent(endpoint, event('shipment.updated'))).toBe(false);
  });

  test('receives the six standard types by "*", and no others', () => {
    const endpoint = { event_types: ['*'], enabled_periods };
    expect(STANDARD_EVENT_TYPES.every((type) => doesEndpointReceiveEvent(endpoint, event(type)))).toBe(true);
    expect(doesEndpointReceiveEvent(endpoint, event('milestone.retracted'))).toBe(false);
    expect(doesEndpointReceiveEvent(endpoint, event('something.new'))).toBe(false);
    expect(
      doesEndpointReceiveEvent(
        { ...endpoint, event_types: ['*', 'milestone.retracted'] },
        event('milestone.retracted'),
      ),
    ).toBe(true);
  });

  test('receives events that are live for it', () => {
    const endpoint = { event_types: ['*'], enabled_periods };
    expect(doesEndpointReceiveEvent(endpoint, event('shipment.created', '10'))).toBe(false);
    expect(doesEndpointReceiveEvent({ ...endpoint, enabled_periods: [] }, event('shipment.created'))).toBe(false);
  });
});

describe('enabled periods', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
  const moment = (head: LogPosition, hour = 1) => ({ at: at(hour), head });
  /** Positions among these that lie in one of the periods. */
  const live = (periods: readonly EnabledPeriod[], ...places: readonly LogPosition[]) =>
    places.filter((place) => isInEnabledPeriod(periods, { created_at: at(1), place }));

  describe('an event is live for an endpoint that', () => {
    test("was enabled before the event's log position, and not disabled", () => {
      const periods = addOpenEnabledPeriodOfEndpoint([], moment('02'));
      expect(live(periods, '01', '02', '03', '99')).toEqual(['03', '99']);
      expect(live(closeEnabledPeriod(periods, moment('04')), '02', '03', '04', '05')).toEqual(['03', '04']);
    });

    test('was enabled when the log was empty', () => {
      expect(live(addOpenEnabledPeriodOfEndpoint([], moment('')), '01', '02')).toEqual(['01', '02']);
      expect(live(closeEnabledPeriod(addOpenEnabledPeriodOfEndpoint([], moment('')), moment('')), '01')).toEqual([]);
    });

    test('was enabled at that log position, whatever the clocks say', () => {
      const periods = closeEnabledPeriod(addOpenEnabledPeriodOfEndpoint([], moment('02', 9)), moment('04', 5));
      for (const created_at of [at(0), at(9), at(12)]) {
        expect(isInEnabledPeriod(periods, { created_at, place: '03' })).toBe(true);
        expect(isInEnabledPeriod(periods, { created_at, place: '05' })).toBe(false);
      }
    });

    test('was enabled at that position, in any of its periods', () => {
      const first = closeEnabledPeriod(addOpenEnabledPeriodOfEndpoint([], moment('02')), moment('04'));
      const periods = closeEnabledPeriod(addOpenEnabledPeriodOfEndpoint(first, moment('06')), moment('08'));
      expect(live(periods, '02', '03', '04', '05', '06', '07', '08', '09')).toEqual(['03', '04', '07', '08']);
    });

    test('is unchanged if enabled or disabled again', () => {
      const open = addOpenEnabledPeriodOfEndpoint([], moment('02'));
      expect(addOpenEnabledPeriodOfEndpoint(open, moment('05'))).toBe(open);
      const shut = closeEnabledPeriod(open, moment('06'));
      expect(closeEnabledPeriod(shut, moment('08'))).toBe(shut);
      expect(closeEnabledPeriod([], moment('08'))).toEqual([]);
    });
  });

  test('an event that is in no log is live for an enabled endpoint, and afterwards by time', () => {
    const message = (hour: number) => ({ created_at: at(hour), place: undefined });
    const open = addOpenEnabledPeriodOfEndpoint([], moment('02', 5));
    expect([isInEnabledPeriod(open, message(1)), isInEnabledPeriod(open, message(9))]).toEqual([true, true]);
    const shut = closeEnabledPeriod(open, moment('04', 7));
    expect([4, 5, 6, 7].filter((hour) => isInEnabledPeriod(shut, message(hour)))).toEqual([5, 6]);
  });

  describe('a period without places, as in a faulty document', () => {
    const faulty = (period: TimePeriod) => [period as EnabledPeriod];

    test('includes every event while open, and the earlier ones after it was closed', () => {
      const open = faulty({ from: at(5), to: null });
      expect(live(open, '01', '09')).toEqual(['01', '09']);
      expect(live(closeEnabledPeriod(open, moment('04', 7)), '01', '04', '05')).toEqual(['01', '04']);
    });

    test('includes the events of its time if it is stored as closed', () => {
      const shut = faulty({ from: at(1), to: at(3) });
      const hours = [0, 1, 2, 3].filter((hour) => isInEnabledPeriod(shut, { created_at: at(hour), place: '09' }));
      expect(hours).toEqual([1, 2]);
    });
  });
});

describe('periods', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
  const from = (hour: number): TimePeriod => ({ from: at(hour), to: null });

  describe('periods', () => {
    test('open once and close once', () => {
      const open = appendPeriodUnlessLastIsOpen([], from(1));
      expect(appendPeriodUnlessLastIsOpen(open, from(2))).toBe(open);
      const shut = closeOpenTimePeriod(open, at(3));
      expect(shut).toEqual([{ from: at(1), to: at(3) }]);
      expect(closeOpenTimePeriod(shut, at(4))).toBe(shut);
      expect(closeOpenTimePeriod([], at(4))).toEqual([]);
    });

    test('never end before they begin, even if the clock was set back', () => {
      expect(closeOpenTimePeriod(appendPeriodUnlessLastIsOpen([], from(5)), at(3))).toEqual([
        { from: at(5), to: at(5) },
      ]);
    });

    test('are dropped, oldest first, if there are more than a hundred', () => {
      let periods = appendPeriodUnlessLastIsOpen([], from(0));
      for (let hour = 1; hour < 300; hour += 2)
        periods = appendPeriodUnlessLastIsOpen(closeOpenTimePeriod(periods, at(hour)), from(hour + 1));
      expect(periods).toHaveLength(100);
      expect(periods.at(-1)).toEqual({ from: at(300), to: null });
    });

    test('extend a duration by their part within it', () => {
      const pauses = [
        { from: at(0), to: at(2) }, // before and into it
        { from: at(3), to: at(4) }, // within
        { from: at(6), to: at(7) }, // only reached because of the one before
        { from: at(9), to: null }, // after
      ];
      expect(computeEndExcludingPauses(Date.parse(at(1)), 5 * 3_600_000, pauses)).toBe(Date.parse(at(9)));
    });
  });
});

describe('shards', () => {
  test('never change: leases are named after them', () => {
    expect(['whe_a', 'whe_b', 'whe_0123456789abcdef'].map(computeShardOfEndpoint)).toEqual([21, 28, 46]);
  });

  test('distribute endpoints evenly', () => {
    const counts = Array<number>(ENDPOINT_SHARD_COUNT).fill(0);
    for (let n = 0; n < 6_400; n += 1) counts[computeShardOfEndpoint(`whe_${n.toString(16).padStart(32, '0')}`)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(Math.max(...counts)).toBeLessThan(150);
  });
});
