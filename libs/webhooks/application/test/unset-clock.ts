import type { ProcessClock } from '../src/scheduling/steady-time.ts';

/** Time of a process whose clock is never set. No stored time is in its future. */
export const NEVER_SET_PROCESS_CLOCK: ProcessClock = {
  now: () => Infinity,
  steps: 0,
  convertSteadyTimeToWallClockTime: (at) => at,
  toSteadyTime: (at) => at,
};
