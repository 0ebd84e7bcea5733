import { type Period, closed, endAfterPauses, opened } from './periods.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const from = (hour: number): Period => ({ from: at(hour), to: null });

describe('periods', () => {
  test('open once and close once', () => {
    const open = opened([], from(1));
    expect(opened(open, from(2))).toBe(open);
    const shut = closed(open, at(3));
    expect(shut).toEqual([{ from: at(1), to: at(3) }]);
    expect(closed(shut, at(4))).toBe(shut);
    expect(closed([], at(4))).toEqual([]);
  });

  test('never end before they begin, even when the clock was set back', () => {
    expect(closed(opened([], from(5)), at(3))).toEqual([{ from: at(5), to: at(5) }]);
  });

  test('are forgotten, the oldest first, when there are more than a hundred', () => {
    let periods = opened([], from(0));
    for (let hour = 1; hour < 300; hour += 2) periods = opened(closed(periods, at(hour)), from(hour + 1));
    expect(periods).toHaveLength(100);
    expect(periods.at(-1)).toEqual({ from: at(300), to: null });
  });

  test('stretch a duration by what of them lies within it', () => {
    const pauses = [
      { from: at(0), to: at(2) }, // before and into it
      { from: at(3), to: at(4) }, // within
      { from: at(6), to: at(7) }, // only reached because of the one before
      { from: at(9), to: null }, // after
    ];
    expect(endAfterPauses(Date.parse(at(1)), 5 * 3_600_000, pauses)).toBe(Date.parse(at(9)));
  });
});
