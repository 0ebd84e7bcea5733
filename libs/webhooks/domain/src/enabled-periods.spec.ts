import { type EnabledPeriod, type LogPlace, begun, ended, includes } from './enabled-periods.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const moment = (head: LogPlace, hour = 1) => ({ at: at(hour), head });
/** The places of these that lie in one of the periods. */
const live = (periods: readonly EnabledPeriod[], ...places: readonly LogPlace[]) =>
  places.filter((place) => includes(periods, { created_at: at(1), place }));

describe('what is live for an endpoint', () => {
  test('comes after the head of the log at enabling, and not after that at disabling', () => {
    const periods = begun([], moment('02'));
    expect(live(periods, '01', '02', '03', '99')).toEqual(['03', '99']);
    expect(live(ended(periods, moment('04')), '02', '03', '04', '05')).toEqual(['03', '04']);
  });

  test('is everything, for one that was enabled when nothing was in the log yet', () => {
    expect(live(begun([], moment('')), '01', '02')).toEqual(['01', '02']);
    expect(live(ended(begun([], moment('')), moment('')), '01')).toEqual([]);
  });

  test('is the same whatever clocks said', () => {
    const periods = ended(begun([], moment('02', 9)), moment('04', 5));
    for (const created_at of [at(0), at(9), at(12)]) {
      expect(includes(periods, { created_at, place: '03' })).toBe(true);
      expect(includes(periods, { created_at, place: '05' })).toBe(false);
    }
  });

  test('lies in any of its periods', () => {
    const first = ended(begun([], moment('02')), moment('04'));
    const periods = ended(begun(first, moment('06')), moment('08'));
    expect(live(periods, '02', '03', '04', '05', '06', '07', '08', '09')).toEqual(['03', '04', '07', '08']);
  });

  test('does not change by enabling or disabling again', () => {
    const open = begun([], moment('02'));
    expect(begun(open, moment('05'))).toBe(open);
    const shut = ended(open, moment('06'));
    expect(ended(shut, moment('08'))).toBe(shut);
    expect(ended([], moment('08'))).toEqual([]);
  });
});

describe('what an earlier version left', () => {
  const message = (hour: number) => ({ created_at: at(hour), place: undefined });

  test('is open from the beginning of the log where a period is open', () => {
    const open = [{ from: at(5), to: null }];
    expect(live(open, '01')).toEqual(['01']);
    expect(includes(open, message(1))).toBe(true);
    expect(live(ended(open, moment('04')), '01', '04', '05')).toEqual(['01', '04']);
  });

  test('is told by the times where a period is closed', () => {
    const shut = [{ from: at(1), to: at(3) }];
    const hours = (place: string | undefined) =>
      [0, 1, 2, 3].filter((hour) => includes(shut, { created_at: at(hour), place }));
    expect([hours('09'), hours(undefined)]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test('is live for whoever is enabled, where a message does not say its place', () => {
    const open = begun([], moment('02', 5));
    expect([includes(open, message(1)), includes(open, message(9))]).toEqual([true, true]);
    const shut = ended(open, moment('04', 7));
    expect([4, 5, 6, 7].filter((hour) => includes(shut, message(hour)))).toEqual([5, 6]);
  });
});
