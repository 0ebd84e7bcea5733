import { randomUUID } from 'node:crypto';
import type { Actor, WorkspaceScope, Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Counter,
  type Lease,
  type LeaseSource,
  type Logger,
  type Metrics,
  toOriginLogFields,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import { BackgroundWorkThrottle, type DutyCycleOptions, LeaderElectedJob, monotonicMs } from '@tracking/resilience';
import type { CheckRulesCommand } from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import type { ShipmentsService } from '../shipments.ts';

/** Milliseconds between two reads of the work list while no shipment is due. */
const POLL_INTERVAL_MS = 500;
const PAGE_SIZE = 100;
/** Number of concurrent checks, whose appends share one or two commits. */
const MAX_CONCURRENT_SHIPMENT_CHECKS = 4;
/**
 * Maximum share of time that the clock spends on checks while very many shipments are due. The remaining time is for
 * requests and for the effects of opened exceptions.
 */
const MAX_CHECK_TIME_SHARE = 0.25;
const RULE_CLOCK_ACTOR: Actor = { type: 'system', id: 'clock' };

export interface RuleClockDependencies {
  readonly shipments: Pick<ShipmentsService, 'checkRules'>;
  readonly workList: DueShipmentSource;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds between two reads of the work list; 500 by default. */
  readonly everyMs?: number;
  /** Monotonic clock in milliseconds, and the pause between stretches of work. */
  readonly elapsed?: () => number;
  readonly rest?: NonNullable<DutyCycleOptions['rest']>;
}

/**
 * Checks shipments that change only because time passes. One replica at a time reads the work list. A check opens only
 * exceptions that are due and not yet open, so it is harmless if two replicas read the list or the list is stale.
 * docs/adr/0033-time-based-rules.md.
 */
export class DueShipmentChecker {
  readonly job: LeaderElectedJob;
  private readonly pace: BackgroundWorkThrottle;
  private readonly recent: RecentlyCheckedShipments;
  private readonly ruleClockMetrics: RuleClockMetrics;

  constructor(private readonly parts: RuleClockDependencies) {
    const { leases, clock, logger, metrics, everyMs = POLL_INTERVAL_MS, elapsed = monotonicMs, rest } = parts;
    this.pace = new BackgroundWorkThrottle({ share: MAX_CHECK_TIME_SHARE, elapsed, ...(rest && { rest }) });
    this.recent = new RecentlyCheckedShipments(elapsed);
    this.ruleClockMetrics = new RuleClockMetrics(metrics, clock, elapsed);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'clock',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'checking due shipments',
      intervalMs: everyMs,
      runJobRound: (ending, lease) => this.checkDueShipments(ending, lease),
    });
  }

  /**
   * Checks all due shipments in the order of their due times. If the engine fails, the round ends and the remaining
   * shipments stay due.
   */
  async checkDueShipments(ending: AbortSignal, lease: Pick<Lease, 'isLeaseHeld'>): Promise<void> {
    const { workList, clock } = this.parts;
    const isEnding = () => ending.aborted || !lease.isLeaseHeld();
    let last: DueShipment | undefined;
    do {
      const look = () => workList.listDueShipments(clock().toISOString(), PAGE_SIZE, last);
      const page = await this.pace.runWorkThenRest(look, ending);
      this.ruleClockMetrics.incrementDueShipmentReadCount();
      const due = page.filter((shipment) => !this.recent.isShipmentRecheckOnHold(shipment));
      while (due.length > 0 && !isEnding()) {
        this.ruleClockMetrics.setDueShipmentsForMetrics(due);
        const next = due.splice(0, MAX_CONCURRENT_SHIPMENT_CHECKS);
        await this.pace.runWorkThenRest(() => this.checkShipmentsConcurrently(next), ending);
      }
      last = page.length < PAGE_SIZE ? undefined : page.at(-1);
    } while (last !== undefined && !isEnding());
    this.ruleClockMetrics.setDueShipmentsForMetrics([]);
  }

  /**
   * Checks shipments concurrently.
   * @throws UnavailableError, after all checks have ended, if the engine was unavailable and no shipment could be checked
   */
  private async checkShipmentsConcurrently(due: readonly DueShipment[]): Promise<void> {
    const checked = await Promise.allSettled(due.map((shipment) => this.checkShipmentRules(shipment)));
    const failed = checked.filter((one) => one.status === 'rejected');
    if (failed.length === due.length) throw failed[0]?.reason;
  }

  /**
   * Checks a shipment. A failure that concerns only this shipment is logged and does not delay others. @throws
   * UnavailableError
   */
  private async checkShipmentRules(shipment: DueShipment): Promise<void> {
    const { shipments, clock } = this.parts;
    const command = createRuleCheckCommand(shipment, clock().toISOString(), RULE_CLOCK_ACTOR);
    try {
      const { answer } = await shipments.checkRules(command);
      this.ruleClockMetrics.countShipmentCheck(answer.outcome);
    } catch (error) {
      if (error instanceof UnavailableError) {
        this.ruleClockMetrics.countShipmentCheck('unavailable');
        this.recent.recordDeferredCheck(shipment);
        throw error;
      }
      this.ruleClockMetrics.countShipmentCheck('failed');
      this.logRuleCheckFailure(command, error);
    }
    this.recent.recordRuleCheck(shipment);
  }

  private logRuleCheckFailure(command: ReturnType<typeof createRuleCheckCommand>, error: unknown): void {
    const fields = { ...toOriginLogFields(command), shipment_id: command.shipment_id, error: String(error) };
    this.parts.logger.error(fields, 'the rules of a shipment could not be checked; the check will be retried');
  }
}

/** A shipment whose rules must be checked now. */
export interface DueShipment extends WorkspaceScope {
  readonly id: string;
  readonly due_at: Timestamp;
}

/** Work list of the clock: the due times of shipments, from the last append to each shipment. The list may be stale. */
export interface DueShipmentSource {
  /**
   * Returns shipments that are due at `until`, the oldest due time first.
   * @param after last shipment of the previous page
   * @throws UnavailableError
   */
  listDueShipments(until: Timestamp, limit: number, after?: DueShipment): Promise<readonly DueShipment[]>;
}

/** Returns a command that checks a shipment's rules without a request from a client. */
export function createRuleCheckCommand(
  shipment: WorkspaceScope & { readonly id: string },
  at: Timestamp,
  actor: Actor,
): Omit<CheckRulesCommand, 'type'> {
  const { id: shipment_id, workspace_id, environment } = shipment;
  return {
    id: randomUUID(),
    at,
    shipment_id,
    workspace_id,
    environment,
    actor,
    request_id: `req_${randomUUID().replaceAll('-', '')}`,
    traceparent: null,
    strict: false,
  };
}

const MAX_RECENT_CHECKS = 20_000;
/** Milliseconds before the first repeated check. The work list usually shows a change within this time. */
const FIRST_CHECK_REPEAT_DELAY_MS = 5_000;
const MAX_REPEATED_CHECK_DELAY_MS = 10 * 60_000;

interface RecentRuleCheckRecord {
  readonly due_at: string;
  /** Number of earlier checks that did not remove the shipment from the work list. */
  readonly times: number;
  /** Time until which the shipment is not checked again, in monotonic milliseconds. */
  readonly heldUntil: number;
}

/**
 * Shipments that were checked but are still on the work list, because the list is stale or the check failed. Each of
 * them is not checked again for some time; the time is four times as long after each check. A shipment that was dropped
 * from the cache is checked again, which changes nothing.
 */
class RecentlyCheckedShipments {
  /** The cache is limited by size, because with `max` it would allocate memory for all entries immediately. */
  private readonly checks = new LRUCache<string, RecentRuleCheckRecord>({
    maxSize: MAX_RECENT_CHECKS,
    sizeCalculation: () => 1,
  });

  /** @param elapsed returns monotonic milliseconds */
  constructor(private readonly elapsed: () => number) {}

  isShipmentRecheckOnHold({ id, due_at }: DueShipment): boolean {
    const check = this.checks.get(id);
    return check !== undefined && check.due_at === due_at && this.elapsed() < check.heldUntil;
  }

  /** Records a check, regardless of its outcome. */
  recordRuleCheck(shipment: DueShipment): void {
    const before = this.checks.get(shipment.id);
    this.delayRepeatedCheck(shipment, before?.due_at === shipment.due_at ? before.times + 1 : 0);
  }

  /** Records that a check was not possible, because an engine was unavailable or a queue was full. */
  recordDeferredCheck(shipment: DueShipment): void {
    this.delayRepeatedCheck(shipment, 0);
  }

  private delayRepeatedCheck({ id, due_at }: DueShipment, times: number): void {
    const heldUntil = this.elapsed() + Math.min(MAX_REPEATED_CHECK_DELAY_MS, FIRST_CHECK_REPEAT_DELAY_MS * 4 ** times);
    this.checks.set(id, { due_at, times, heldUntil });
  }
}

/**
 * Milliseconds for which due shipments are reported without a check. After that, another process may have the lease. A
 * round ends sooner, even while an engine does not respond.
 */
const DUE_SHIPMENT_REPORT_DURATION_MS = 60_000;

/** Metrics of the rule clock, in the process that has the clock's lease. */
class RuleClockMetrics {
  private readonly checks: Counter;
  private readonly looks: Counter;
  private due: readonly DueShipment[] = [];
  private dueSetAt = 0;

  /** @param elapsed returns monotonic milliseconds */
  constructor(
    metrics: Metrics,
    clock: Clock,
    private readonly elapsed: () => number,
  ) {
    this.checks = metrics.createCounter('clock_checks_total', 'Shipments checked because of time, by outcome.', [
      'outcome',
    ]);
    this.looks = metrics.createCounter('clock_looks_total', 'Pages of due checks that were read.');
    metrics.createGauge(
      'clock_due',
      'Due shipments of the last page that are not checked yet.',
      [],
      () => this.getDueShipments().length,
    );
    metrics.createGauge(
      'clock_lag_seconds',
      'Seconds since the oldest unchecked shipment of the last page was due.',
      [],
      () => {
        const [oldest] = this.getDueShipments();
        return oldest === undefined ? 0 : Math.max(0, (clock().getTime() - Date.parse(oldest.due_at)) / 1_000);
      },
    );
  }

  incrementDueShipmentReadCount(): void {
    this.looks.add();
  }

  countShipmentCheck(outcome: string): void {
    this.checks.add(1, { outcome });
  }

  /**
   * Sets the shipments that are due.
   * @param due due shipments, the oldest due time first
   */
  setDueShipmentsForMetrics(due: readonly DueShipment[]): void {
    this.due = [...due];
    this.dueSetAt = this.elapsed();
  }

  private getDueShipments(): readonly DueShipment[] {
    return this.elapsed() - this.dueSetAt < DUE_SHIPMENT_REPORT_DURATION_MS ? this.due : [];
  }
}
