import { WallClockWithoutSteps } from './steady-time.ts';

const HOUR = 3_600_000;

describe('steady time', () => {
  let wall = 1_000_000;
  let elapsed = 0;
  let time: WallClockWithoutSteps;
  beforeEach(() => {
    wall = 1_000_000;
    elapsed = 50.5;
    time = new WallClockWithoutSteps(
      () => new Date(wall),
      () => elapsed,
    );
  });

  test.each([HOUR, -HOUR])('stays the same when the wall clock is set by %i ms', (step) => {
    expect([time.now(), time.steps]).toEqual([1_000_000, 0]);
    wall += step;
    expect([time.now(), time.steps]).toEqual([1_000_000, 1]);
    expect([time.convertSteadyTimeToWallClockTime(1_000_000), time.toSteadyTime(wall)]).toEqual([wall, 1_000_000]);
    wall += 10;
    elapsed += 10;
    expect([time.now(), time.steps]).toEqual([1_000_010, 1]);
  });

  test('follows the wall clock while it is corrected gradually', () => {
    wall += 499;
    expect([time.now(), time.steps, time.convertSteadyTimeToWallClockTime(7)]).toEqual([1_000_499, 0, 7]);
    wall += 1;
    expect([time.now(), time.steps, time.convertSteadyTimeToWallClockTime(7)]).toEqual([1_000_000, 1, 507]);
  });
});
