export { DutyCycle, type DutyCycleOptions } from './duty-cycle.ts';
export { LeaderElectedJob, type LeaderElectedJobOptions } from './leader-elected-job.ts';
export { pause, withDeadline } from './pause.ts';
export { RecentLookUps, type RecentLookUpsOptions } from './recent-look-ups.ts';
export { retryConflicts } from './retry-conflicts.ts';
export { type RetryOptions, monotonicMs, retry } from './retry.ts';
export { WakeUp } from './wake-up.ts';
