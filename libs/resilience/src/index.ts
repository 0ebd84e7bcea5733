export { LeaderElectedJob, type LeaderElectedJobOptions } from './leader-elected-job.ts';
export { pause } from './pause.ts';
export { type RetryOptions, monotonicMs, retry } from './retry.ts';
export { WakeUp } from './wake-up.ts';
