import { randomUUID } from 'node:crypto';
import type { Actor, Scope, Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Counter,
  type Lease,
  type Leases,
  type Logger,
  type Metrics,
  originFields,
  retryCounter,
  Unavailable,
} from '@tracking/ports';
import { DutyCycle, type DutyCycleOptions, LeaderElectedJob, monotonicMs } from '@tracking/resilience';
import type { CheckRules } from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import type { ShipmentsService } from '../shipments.ts';

/** From one look at the work list to the next, while nothing is due. */
const POLL_INTERVAL_MS = 500;
const PAGE_SIZE = 100;
/** Checked side by side: what they append goes into one commit or two. */
const CONCURRENT_CHECKS = 4;
/** Of the time, while very many are due: the rest is for requests, and for what follows from what was opened. */
const MAX_DUTY_SHARE = 0.25;
const ACTOR: Actor = { type: 'system', id: 'clock' };

export interface RuleClockParts {
  readonly shipments: Pick<ShipmentsService, 'checkRules'>;
  readonly workList: WorkList;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From one look at the work list to the next, in milliseconds; 500 by default. */
  readonly everyMs?: number;
  /** Monotonic milliseconds, and how to let them pass. */
  readonly elapsed?: () => number;
  readonly rest?: NonNullable<DutyCycleOptions['rest']>;
}

/**
 * Has shipments checked when time alone changes something about them. One replica at a time looks at the work list; since a
 * check opens only what is due and not open, it does no harm where two do, or where the list is behind. docs/adr/0033-time-based-rules.md.
 */
export class RuleClock {
  readonly job: LeaderElectedJob;
  private readonly pace: DutyCycle;
  private readonly recent: RecentChecks;
  private readonly clockMetrics: ClockMetrics;

  constructor(private readonly parts: RuleClockParts) {
    const { leases, clock, logger, metrics, everyMs = POLL_INTERVAL_MS, elapsed = monotonicMs, rest } = parts;
    this.pace = new DutyCycle({ share: MAX_DUTY_SHARE, elapsed, ...(rest && { rest }) });
    this.recent = new RecentChecks(elapsed);
    this.clockMetrics = new ClockMetrics(metrics, clock);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'clock',
      logger,
      countRetry: retryCounter(metrics),
      description: 'checking what is due',
      intervalMs: everyMs,
      round: (ending, lease) => this.round(ending, lease),
    });
  }

  /** Checks everything that is due, in order of its due time. A failing engine ends the round; the rest stays due. */
  async round(ending: AbortSignal, lease: Pick<Lease, 'isHeld'>): Promise<void> {
    const { workList, clock } = this.parts;
    const isEnding = () => ending.aborted || !lease.isHeld();
    let last: DueShipment | undefined;
    do {
      const look = () => workList.due(clock().toISOString(), PAGE_SIZE, last);
      const page = await this.pace.run(look, ending);
      this.clockMetrics.countRead();
      const due = page.filter((shipment) => !this.recent.isHeld(shipment));
      while (due.length > 0 && !isEnding()) {
        this.clockMetrics.setWaiting(due);
        const next = due.splice(0, CONCURRENT_CHECKS);
        await this.pace.run(() => this.checkAll(next), ending);
      }
      last = page.length < PAGE_SIZE ? undefined : page.at(-1);
    } while (last !== undefined && !isEnding());
    this.clockMetrics.setWaiting([]);
  }

  /** @throws Unavailable when none of them could be checked for want of an engine; all have ended then */
  private async checkAll(due: readonly DueShipment[]): Promise<void> {
    const checked = await Promise.allSettled(due.map((shipment) => this.check(shipment)));
    const failed = checked.filter((one) => one.status === 'rejected');
    if (failed.length === due.length) throw failed[0]?.reason;
  }

  /** @throws Unavailable: what else fails is the shipment's, and keeps no other waiting */
  private async check(shipment: DueShipment): Promise<void> {
    const { shipments, clock } = this.parts;
    const command = checkCommand(shipment, clock().toISOString(), ACTOR);
    try {
      const { answer } = await shipments.checkRules(command);
      this.clockMetrics.checked(answer.outcome);
    } catch (error) {
      if (error instanceof Unavailable) {
        this.clockMetrics.checked('unavailable');
        this.recent.defer(shipment);
        throw error;
      }
      this.clockMetrics.checked('failed');
      this.logFailure(command, error);
    }
    this.recent.checked(shipment);
  }

  private logFailure(command: ReturnType<typeof checkCommand>, error: unknown): void {
    const fields = { ...originFields(command), shipment_id: command.shipment_id, error: String(error) };
    this.parts.logger.error(fields, 'the rules of a shipment could not be checked; trying again later');
  }
}

/** A shipment whose rules are to be checked since some moment. */
export interface DueShipment extends Scope {
  readonly id: string;
  readonly due_at: Timestamp;
}

/** What the clock goes by: of each shipment the moment that its last append names. It may be behind, and no harm comes of it. */
export interface WorkList {
  /**
   * What is due by `until`, the longest due first.
   * @param after the last of the page before
   * @throws Unavailable
   */
  due(until: Timestamp, limit: number, after?: DueShipment): Promise<readonly DueShipment[]>;
}

/** A check of a shipment's rules that no request asked for. */
export function checkCommand(
  shipment: Scope & { readonly id: string },
  at: Timestamp,
  actor: Actor,
): Omit<CheckRules, 'type'> {
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
/** Longer than the work list is mostly behind. */
const FIRST_HOLD_MS = 5_000;
const MAX_HOLD_MS = 10 * 60_000;

interface Check {
  readonly due_at: string;
  /** How often it was checked in vain before. */
  readonly times: number;
  /** In monotonic milliseconds. */
  readonly heldUntil: number;
}

/**
 * Shipments that were checked and are on the work list as before: since the list is behind, or since the check failed. They are
 * left alone for a while, four times as long each time. What is forgotten is checked again, which does nothing.
 */
class RecentChecks {
  /** Bounded by size: with `max` the cache would take the memory of all of them when it is made. */
  private readonly checks = new LRUCache<string, Check>({ maxSize: MAX_RECENT_CHECKS, sizeCalculation: () => 1 });

  /** @param elapsed monotonic milliseconds */
  constructor(private readonly elapsed: () => number) {}

  isHeld({ id, due_at }: DueShipment): boolean {
    const check = this.checks.get(id);
    return check !== undefined && check.due_at === due_at && this.elapsed() < check.heldUntil;
  }

  /** Records a check, whatever its outcome. */
  checked(shipment: DueShipment): void {
    const before = this.checks.get(shipment.id);
    this.hold(shipment, before?.due_at === shipment.due_at ? before.times + 1 : 0);
  }

  /** Records that an unavailable engine or a full queue prevented the check. */
  defer(shipment: DueShipment): void {
    this.hold(shipment, 0);
  }

  private hold({ id, due_at }: DueShipment, times: number): void {
    const heldUntil = this.elapsed() + Math.min(MAX_HOLD_MS, FIRST_HOLD_MS * 4 ** times);
    this.checks.set(id, { due_at, times, heldUntil });
  }
}

/** What operators see of the clock, in the process that holds its lease. */
class ClockMetrics {
  private readonly checks: Counter;
  private readonly looks: Counter;
  private due: readonly DueShipment[] = [];

  constructor(metrics: Metrics, clock: Clock) {
    this.checks = metrics.counter('clock_checks_total', 'Shipments checked since time passed, by what came of it.', [
      'outcome',
    ]);
    this.looks = metrics.counter('clock_looks_total', 'Pages read of what is due.');
    metrics.gauge('clock_due', 'Shipments found due and not checked yet, of one look.', [], () => this.due.length);
    metrics.gauge('clock_lag_seconds', 'Since when the oldest of those is due.', [], () => {
      const [oldest] = this.due;
      return oldest === undefined ? 0 : Math.max(0, (clock().getTime() - Date.parse(oldest.due_at)) / 1_000);
    });
  }

  countRead(): void {
    this.looks.add();
  }

  checked(outcome: string): void {
    this.checks.add(1, { outcome });
  }

  /** @param due what waits to be checked, the oldest first */
  setWaiting(due: readonly DueShipment[]): void {
    this.due = [...due];
  }
}
