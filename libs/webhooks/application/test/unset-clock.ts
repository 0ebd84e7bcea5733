import type { ProcessClock } from '../src/scheduling/steady-time.ts';

/** Time of a process whose clock is never set. No stored time is in its future. */
export const TIME_OF_NEVER_SET_CLOCK: ProcessClock = {
  now: () => Infinity,
  steps: 0,
  toStoredTime: (at) => at,
  fromStoredTime: (at) => at,
};
