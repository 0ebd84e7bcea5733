export { BackgroundWorkThrottle, type DutyCycleOptions, LeaderElectedJob, WakeUpSignal } from './background-jobs.ts';
export { assignLeases, computeRendezvousScore } from './lease-assignment.ts';
export { LeaseGroup, LeaseDistributor, type LeaseShareReport, type LeaseSharesOptions } from './lease-shares.ts';
export {
  monotonicMs,
  msUntilNextTick,
  pauseFor,
  pauseUntilNextTick,
  retry,
  retryConflicts,
  type RetryOptions,
  runAtTicks,
  waitForAbort,
  withDeadline,
} from './retry.ts';
export { RecentLookUpCache, type RecentLookUpsOptions } from './recent-look-ups.ts';
