import { retryCounter } from '@tracking/ports';
import type { Clock, Leases, Logger, Metrics } from '@tracking/ports';
import { LeaderElectedJob } from '@tracking/resilience';
import type { AuditLog } from './audit-log.ts';
import type { Sessions } from './sessions.ts';

const EVERY_MS = 10 * 60 * 1_000;

export interface IdentitySweeperParts {
  readonly identity: { readonly sessions: Sessions; readonly auditLog: AuditLog };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/** Deletes sessions that ended and entries of the audit log that were kept long enough. */
export function identitySweeper(parts: IdentitySweeperParts): LeaderElectedJob {
  const { identity, leases, clock, logger, metrics, everyMs = EVERY_MS } = parts;
  return new LeaderElectedJob({
    leases,
    lease: 'identity-sweeper',
    logger,
    countRetry: retryCounter(metrics),
    what: 'deleting ended sessions and old audit entries',
    everyMs,
    async round(ending) {
      await identity.sessions.sweep(clock(), ending);
      await identity.auditLog.sweep(clock(), ending);
    },
  });
}
