import { tellsFailingAt } from './failing.ts';

const at = (minute: number) => Date.UTC(2026, 4, 1, 12, minute);
const pause = (from: number, to: number | null) => ({
  from: new Date(at(from)).toISOString(),
  to: to === null ? null : new Date(at(to)).toISOString(),
});
const HOUR = 3_600_000;

describe('that an endpoint fails is told', () => {
  test('an hour after the first failure', () => {
    expect(tellsFailingAt({ since: at(0), latest: at(30) }, [], HOUR)).toBe(at(60));
    expect(tellsFailingAt({ since: at(10), latest: at(10) }, [pause(0, 5)], HOUR)).toBe(at(70));
  });

  test('not while it is not attempted', () => {
    expect(tellsFailingAt({ since: at(0), latest: at(30) }, [pause(31, null)], HOUR)).toBe(Infinity);
  });

  test('once it was enabled again, an hour later, if it was attempted since and failed', () => {
    const pauses = [pause(5, 6), pause(31, 45)];
    expect(tellsFailingAt({ since: at(0), latest: at(30) }, pauses, HOUR)).toBe(Infinity);
    expect(tellsFailingAt({ since: at(0), latest: at(45) }, pauses, HOUR)).toBe(at(105));
  });
});
