import { retryCounter } from '@tracking/ports';
import type { Clock, Collection, Leases, Logger, Metrics } from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import type { IdempotencyClaim } from './idempotency-claim.ts';

const EVERY_MS = 10 * 60 * 1_000;
const AT_ONCE = 200;
/** For each millisecond of work it rests so many. */
const REST = 4;

export interface SweepingParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Deletes claims that are over: until it comes to them, they count as absent. */
export function sweeping(
  claims: Collection<IdempotencyClaim>,
  { leases, clock, logger, metrics }: SweepingParts,
): LeaderElectedJob {
  return new LeaderElectedJob({
    leases,
    lease: 'idempotency-sweeper',
    logger,
    countRetry: retryCounter(metrics),
    what: 'deleting old idempotency keys',
    everyMs: EVERY_MS,
    round: (ending) => sweep(claims, clock().toISOString(), ending),
  });
}

async function sweep(claims: Collection<IdempotencyClaim>, now: string, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    const began = performance.now();
    const filter = { expires_at: { lte: now } };
    const old = await claims.find({ filter, sort: { fields: ['expires_at'] }, limit: AT_ONCE });
    if (old.length === 0) return;
    // Not those that were taken anew meanwhile.
    await claims.writeMany(old.map(({ id, attempt }) => ({ kind: 'delete', id, guard: { attempt } })));
    await pause(REST * (performance.now() - began), ending);
  }
}
