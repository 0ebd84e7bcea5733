import type { Actor } from '@tracking/contracts';
import { Unavailable, originFields, retryCounter } from '@tracking/ports';
import type { Clock, Lease, Leases, Logger, Metrics } from '@tracking/ports';
import { DutyCycle, type DutyCycleOptions, LeaderElectedJob, monotonicMs } from '@tracking/resilience';
import type { CheckRules } from '@tracking/shipments-domain';
import type { ShipmentsService } from '../shipments-service.ts';
import { checkOf } from './check-command.ts';
import { ClockMetrics } from './clock-metrics.ts';
import { RecentChecks } from './recent-checks.ts';
import type { DueShipment, WorkList } from './work-list.ts';

/** From one look at the work list to the next, while nothing is due. */
const EVERY_MS = 500;
const PAGE = 100;
/** Checked side by side: what they append goes into one commit or two. */
const AT_ONCE = 4;
/** Of the time, while very many are due: the rest is for requests, and for what follows from what was opened. */
const SHARE = 0.25;
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
 * check opens only what is due and not open, it does no harm where two do, or where the list is behind. docs/adr/0033-the-clock.md.
 */
export class RuleClock {
  readonly job: LeaderElectedJob;
  private readonly pace: DutyCycle;
  private readonly recent: RecentChecks;
  private readonly told: ClockMetrics;

  constructor(private readonly parts: RuleClockParts) {
    const { leases, clock, logger, metrics, everyMs = EVERY_MS, elapsed = monotonicMs, rest } = parts;
    this.pace = new DutyCycle({ share: SHARE, elapsed, ...(rest && { rest }) });
    this.recent = new RecentChecks(elapsed);
    this.told = new ClockMetrics(metrics, clock);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'clock',
      logger,
      countRetry: retryCounter(metrics),
      what: 'checking what is due',
      everyMs,
      round: (ending, lease) => this.round(ending, lease),
    });
  }

  /** Once through all that is due, in order of its moments. What fails with its engine ends the round: it is still due. */
  async round(ending: AbortSignal, lease: Pick<Lease, 'isHeld'>): Promise<void> {
    const { workList, clock } = this.parts;
    const isEnding = () => ending.aborted || !lease.isHeld();
    let last: DueShipment | undefined;
    do {
      const look = () => workList.due(clock().toISOString(), PAGE, last);
      const page = await this.pace.work(look, ending);
      this.told.looked();
      const due = page.filter((shipment) => !this.recent.isHeld(shipment));
      while (due.length > 0 && !isEnding()) {
        this.told.waiting(due);
        const next = due.splice(0, AT_ONCE);
        await this.pace.work(() => this.checkAll(next), ending);
      }
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last !== undefined && !isEnding());
    this.told.waiting([]);
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
    const command = checkOf(shipment, clock().toISOString(), ACTOR);
    try {
      const { answer } = await shipments.checkRules(command);
      this.told.checked(answer.outcome);
    } catch (error) {
      if (error instanceof Unavailable) {
        this.told.checked('unavailable');
        this.recent.putOff(shipment);
        throw error;
      }
      this.told.checked('failed');
      this.tellFailure(command, error);
    }
    this.recent.checked(shipment);
  }

  private tellFailure(command: CheckRules, error: unknown): void {
    const fields = { ...originFields(command), shipment_id: command.shipment_id, error: String(error) };
    this.parts.logger.error(fields, 'the rules of a shipment could not be checked; trying again later');
  }
}
