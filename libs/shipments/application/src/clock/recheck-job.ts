import type { Actor, Scope } from '@tracking/contracts';
import {
  type Clock,
  type Counter,
  type EventStore,
  type Leases,
  type Logger,
  type Metrics,
  originFields,
  type Position,
  retryCounter,
  Unavailable,
} from '@tracking/ports';
import { DutyCycle, type DutyCycleOptions, LeaderElectedJob, monotonicMs, retry } from '@tracking/resilience';
import type { ReadModelsReached } from '../publisher/publishing.ts';
import type { ShipmentsService } from '../shipments.ts';
import type { Recheck, RecheckProgress, Rechecks, ReleaseRecheck, UnsettledShipments } from './rechecks.ts';
import { createCheckCommand } from './rule-clock.ts';

/** Milliseconds between two polls for changes. */
const POLL_INTERVAL_MS = 1_000;
/** Milliseconds until a re-check begins. Every replica applies changed settings within 5 seconds. */
const START_DELAY_MS = 6_000;
/** Shipments per page. A crash repeats at most one page. */
const PAGE_SIZE = 100;
/** Number of concurrent checks, whose appends share one or two commits. */
const MAX_CONCURRENT_CHECKS = 8;
/** Maximum share of time for checks. The rest is for requests and for the effects of opened exceptions. */
const MAX_CHECK_TIME_SHARE = 0.25;
/** Milliseconds for which one shipment is retried while its engine does not respond, before the job pauses. */
const RETRY_TIMEOUT_MS = 10_000;
const WORKSPACE_PAGE_SIZE = 100;
const RECHECK_ACTOR: Actor = { type: 'system', id: 'settings' };

type UnsettledShipment = Scope & { readonly id: string };

export interface RecheckJobParts extends Pick<RecheckStartParts, 'eventStore' | 'readModelsReached'> {
  readonly shipments: Pick<ShipmentsService, 'checkRules'>;
  readonly rechecks: Rechecks;
  readonly unsettledShipments: UnsettledShipments;
  /** Requests re-checks after a release; absent if releases request none. */
  readonly afterRelease?: Pick<ReleaseRecheck, 'request'>;
  /** Settings that `shipments` uses in this process. */
  readonly settings: { of(workspaceId: string): Promise<{ readonly version: number }> };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  /** Milliseconds from noticing a change to the start of its re-check; 6,000 by default. */
  readonly beginsAfterMs?: number;
  readonly page?: number;
  readonly patienceMs?: number;
  /** Monotonic clock in milliseconds, and the pause between stretches of work. */
  readonly elapsed?: () => number;
  readonly rest?: NonNullable<DutyCycleOptions['rest']>;
}

/**
 * Checks the open shipments of workspaces whose settings changed. Takes one page of each workspace in turn and stores
 * its position after each page. A check changes only what must change, so repeating one is harmless: after a crash, or
 * if two processes check. docs/adr/0034-recheck-after-settings-change.md.
 */
export class RecheckJob {
  readonly job: LeaderElectedJob;
  private readonly pace: DutyCycle;
  private readonly start: RecheckStartCondition;
  private readonly checks: Counter;

  constructor(private readonly parts: RecheckJobParts) {
    const { leases, logger, metrics, everyMs = POLL_INTERVAL_MS, beginsAfterMs = START_DELAY_MS } = parts;
    const { elapsed = monotonicMs, rest } = parts;
    this.pace = new DutyCycle({ share: MAX_CHECK_TIME_SHARE, elapsed, ...(rest && { rest }) });
    this.start = new RecheckStartCondition({ ...parts, beginsAfterMs, elapsed });
    this.checks = metrics.counter(
      'settings_checks_total',
      'Shipments checked after a change of settings, by outcome.',
      ['outcome'],
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'settings-recheck',
      logger,
      countRetry: retryCounter(metrics),
      description: 'checking shipments after a change of settings',
      intervalMs: everyMs,
      round: (ending) => this.round(ending),
    });
  }

  /** Checks pages of all workspaces until no shipment is left. */
  async round(ending: AbortSignal): Promise<void> {
    await this.parts.afterRelease?.request(ending);
    while (!ending.aborted && (await this.checkPageOfEachWorkspace(ending)));
  }

  /**
   * Checks one page of each workspace, so that neither a large workspace nor a failing one delays others. Returns true
   * if any re-check advanced.
   * @throws the first failure after all workspaces had their turn; their positions are stored
   */
  private async checkPageOfEachWorkspace(ending: AbortSignal): Promise<boolean> {
    const waiting = new Set<string>();
    const failures: unknown[] = [];
    let hasWorked = false;
    for await (const recheck of this.unfinished()) {
      if (ending.aborted) return false;
      if (!recheck.isRunning) waiting.add(recheck.workspace_id);
      try {
        if (await this.continueRecheck(recheck, ending)) hasWorked = true;
      } catch (error) {
        failures.push(error);
      }
    }
    this.start.dropOtherChanges(waiting);
    if (failures.length > 0) throw failures[0];
    return hasWorked;
  }

  private async *unfinished(): AsyncGenerator<Recheck> {
    for (let last: string | undefined; ;) {
      const found = await this.parts.rechecks.listUnfinishedRechecks(last, WORKSPACE_PAGE_SIZE);
      yield* found;
      if (found.length < WORKSPACE_PAGE_SIZE) return;
      last = found.at(-1)?.workspace_id;
    }
  }

  /** Checks the next page of a workspace. Returns true if the re-check advanced. */
  private async continueRecheck(recheck: Recheck, ending: AbortSignal): Promise<boolean> {
    if (!recheck.isRunning && !this.start.isEveryReplicaUpdated(recheck)) return false;
    const { version } = await this.parts.settings.of(recheck.workspace_id);
    // A check with other settings than those of the re-check would be useless.
    if (version !== recheck.version) return false;
    if (recheck.isRunning) return this.checkPage(recheck, ending);
    if (!(await this.start.isReadModelCurrent(recheck))) return false;
    const begun = await this.advance(recheck, { after: null, checked: 0, isDone: false });
    return begun !== undefined && (await this.checkPage(begun, ending));
  }

  private async checkPage(recheck: Recheck, ending: AbortSignal): Promise<boolean> {
    const { unsettledShipments, page: size = PAGE_SIZE } = this.parts;
    const { workspace_id, after } = recheck;
    const find = () => unsettledShipments.listUnsettledShipments(workspace_id, after ?? undefined, size);
    const page = await this.pace.run(find, ending);
    let { checked } = recheck;
    for (let from = 0; from < page.length; from += MAX_CONCURRENT_CHECKS) {
      if (ending.aborted) return false;
      checked += await this.pace.run(
        () => this.checkAll(page.slice(from, from + MAX_CONCURRENT_CHECKS), ending),
        ending,
      );
    }
    const isDone = page.length < size;
    const advanced = await this.advance(recheck, { after: page.at(-1)?.id ?? after, checked, isDone });
    if (isDone && advanced)
      this.parts.logger.info(
        { workspace_id, checked },
        'all open shipments of the workspace were checked with the new settings',
      );
    return advanced !== undefined;
  }

  private advance(recheck: Recheck, progress: Omit<RecheckProgress, 'at'>): Promise<Recheck | undefined> {
    return this.parts.rechecks.advance(recheck, { ...progress, at: this.parts.clock().toISOString() });
  }

  /** Returns the number of checked shipments. @throws Unavailable after all checks have ended */
  private async checkAll(shipments: readonly UnsettledShipment[], ending: AbortSignal): Promise<number> {
    const settled = await Promise.allSettled(shipments.map((shipment) => this.check(shipment, ending)));
    let checked = 0;
    for (const one of settled) {
      if (one.status === 'rejected') throw one.reason;
      if (one.value) checked += 1;
    }
    return checked;
  }

  /**
   * Checks a shipment. A failure that concerns only this shipment is logged and does not delay others. @throws
   * Unavailable
   */
  private async check(shipment: UnsettledShipment, signal: AbortSignal): Promise<boolean> {
    const { shipments, clock, logger, patienceMs = RETRY_TIMEOUT_MS } = this.parts;
    const command = createCheckCommand(shipment, clock().toISOString(), RECHECK_ACTOR);
    try {
      const { answer } = await retry(() => shipments.checkRules(command), {
        signal,
        deadline: monotonicMs() + patienceMs,
        isTransient: (error) => error instanceof Unavailable,
      });
      this.checks.add(1, { outcome: answer.outcome });
      return true;
    } catch (error) {
      this.checks.add(1, { outcome: error instanceof Unavailable ? 'unavailable' : 'failed' });
      if (error instanceof Unavailable) throw error;
      const fields = { ...originFields(command), shipment_id: shipment.id, error: String(error) };
      logger.error(fields, 'a shipment could not be checked with the new settings and was skipped');
      return false;
    }
  }
}

interface SettingsChangeNotice {
  readonly version: number;
  readonly step: number;
  /** Time of noticing in monotonic milliseconds. */
  readonly at: number;
  /** End of the log when every replica had applied the settings. Decisions with the former settings are before it. */
  head?: Position | undefined;
}

interface RecheckStartParts {
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Progress of the read model that lists open shipments. */
  readonly readModelsReached: ReadModelsReached;
  /** Milliseconds from noticing a change until every replica has applied it. */
  readonly beginsAfterMs: number;
  /** Monotonic clock in milliseconds. */
  readonly elapsed: () => number;
}

/**
 * Decides when a re-check may begin: when no replica uses the former settings any longer, and the read model contains
 * all shipments that were decided with them. The wait is measured by one clock from noticing the change, so a process
 * that takes over waits from scratch.
 */
class RecheckStartCondition {
  /** Changes that wait, by workspace. */
  private noticed = new Map<string, SettingsChangeNotice>();

  constructor(private readonly parts: RecheckStartParts) {}

  /** Drops all changes but those of the workspaces that still wait. */
  dropOtherChanges(waiting: ReadonlySet<string>): void {
    for (const id of this.noticed.keys()) if (!waiting.has(id)) this.noticed.delete(id);
  }

  /** Reports whether every replica has applied the change, because enough time has passed since the first call. */
  isEveryReplicaUpdated(recheck: Recheck): boolean {
    const { beginsAfterMs, elapsed } = this.parts;
    return elapsed() - this.recordNotice(recheck).at >= beginsAfterMs;
  }

  /**
   * Reports whether the read model contains all shipments decided with the former settings. Call it when every replica
   * is updated. @throws Unavailable
   */
  async isReadModelCurrent(recheck: Recheck): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const noticed = this.recordNotice(recheck);
    const head = (noticed.head ??= await eventStore.head());
    return head === undefined || (await readModelsReached(head, 0));
  }

  private recordNotice({ workspace_id, version, step }: Recheck): SettingsChangeNotice {
    const before = this.noticed.get(workspace_id);
    if (before?.version === version && before.step === step) return before;
    const noticed = { version, step, at: this.parts.elapsed() };
    this.noticed.set(workspace_id, noticed);
    return noticed;
  }
}
