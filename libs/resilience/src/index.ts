export { DutyCycle, type DutyCycleOptions, LeaderElectedJob, WakeUpSignal } from './background-jobs.ts';
export { pause, withDeadline, retryConflicts, type RetryOptions, monotonicMs, retry } from './retry.ts';
export { RecentLookUps, type RecentLookUpsOptions } from './recent-look-ups.ts';
