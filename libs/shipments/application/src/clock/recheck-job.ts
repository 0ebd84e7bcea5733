import type { Actor, WorkspaceScope } from '@tracking/contracts';
import {
  type Clock,
  type Counter,
  type EventStore,
  type LeaseSource,
  type Logger,
  type Metrics,
  toOriginLogFields,
  type Position,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import {
  BackgroundWorkThrottle,
  type DutyCycleOptions,
  LeaderElectedJob,
  monotonicMs,
  retry,
} from '@tracking/resilience';
import type { ReadModelsReached } from '../publisher/publishing.ts';
import type { ShipmentsService } from '../shipments.ts';
import type {
  RequestedShipmentRecheck,
  RecheckProgressRecord,
  RecheckStore,
  UpgradeRecheckRequester,
  UnsettledShipmentReader,
} from './rechecks.ts';
import { createRuleCheckCommand } from './rule-clock.ts';

/** Milliseconds between two searches for requested re-checks. */
const POLL_INTERVAL_MS = 1_000;
/**
 * Milliseconds from noticing changed settings until the re-check begins. Every replica applies changed settings within
 * 5 s.
 */
const RECHECK_DELAY_AFTER_SETTINGS_CHANGE_MS = 6_000;
/** Shipments per page. A crash repeats at most one page. */
const PAGE_SIZE = 100;
/** Maximum number of concurrent checks. Their appends share one or two commits. */
const MAX_CONCURRENT_SHIPMENT_CHECKS = 8;
/**
 * Maximum share of time that the job spends on checks. The remaining time is for requests and for the effects of opened
 * exceptions.
 */
const MAX_CHECK_TIME_SHARE = 0.25;
/**
 * Milliseconds for which the job retries one shipment while its engine does not respond. After that, the job pauses.
 */
const RETRY_TIMEOUT_MS = 10_000;
/** Milliseconds until a failed page is repeated while other workspaces are checked. */
const FAILED_PAGE_RETRY_DELAY_MS = 60_000;
const WORKSPACE_PAGE_SIZE = 100;
const RECHECK_ACTOR: Actor = { type: 'system', id: 'settings' };

/** Last failures by workspace, with their times in monotonic milliseconds. */
type FailuresByWorkspace = Map<string, { readonly error: unknown; readonly at: number }>;

type ShipmentAffectedBySettings = WorkspaceScope & { readonly id: string };

export interface RecheckJobDependencies extends Pick<RecheckStartDependencies, 'eventStore' | 'readModelsReached'> {
  readonly shipments: Pick<ShipmentsService, 'checkRules'>;
  readonly rechecks: RecheckStore;
  readonly unsettledShipments: UnsettledShipmentReader;
  /** Requests re-checks after an upgrade; absent if this process does not request them. */
  readonly afterUpgrade?: Pick<UpgradeRecheckRequester, 'requestRechecksIfUpgraded'>;
  /** The reader with which `shipments` decides, so that no check uses earlier settings than the job has read. */
  readonly settings: { getCachedSettings(workspaceId: string): Promise<{ readonly version: number }> };
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  /** Milliseconds from noticing a change to the start of its re-check; 6,000 by default. */
  readonly beginsAfterMs?: number;
  readonly page?: number;
  readonly patienceMs?: number;
  /** Monotonic clock in milliseconds, and a function that pauses the job. */
  readonly elapsed?: () => number;
  readonly rest?: NonNullable<DutyCycleOptions['rest']>;
}

/**
 * Checks the open shipments of workspaces whose settings changed. It checks one page of each workspace in turn and
 * stores its position after each page. A check makes only necessary changes, so a repeated check is harmless, even
 * after a crash or in two processes. docs/adr/0034-recheck-after-settings-change.md.
 */
export class ShipmentRecheckJob {
  readonly job: LeaderElectedJob;
  private readonly pace: BackgroundWorkThrottle;
  private readonly start: RecheckStartCondition;
  private readonly checks: Counter;

  constructor(private readonly parts: RecheckJobDependencies) {
    const {
      leases,
      logger,
      metrics,
      everyMs = POLL_INTERVAL_MS,
      beginsAfterMs = RECHECK_DELAY_AFTER_SETTINGS_CHANGE_MS,
    } = parts;
    const { elapsed = monotonicMs, rest } = parts;
    this.pace = new BackgroundWorkThrottle({ share: MAX_CHECK_TIME_SHARE, elapsed, ...(rest && { rest }) });
    this.start = new RecheckStartCondition({ ...parts, beginsAfterMs, elapsed });
    this.checks = metrics.createCounter(
      'settings_checks_total',
      'Shipments checked after a change of settings, by outcome.',
      ['outcome'],
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'settings-recheck',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'checking shipments after a change of settings',
      intervalMs: everyMs,
      runJobRound: (ending) => this.recheckShipmentsOfAllWorkspaces(ending),
    });
  }

  /**
   * Checks pages of all workspaces until no shipment is left, or each re-check that is left waits or has just failed.
   * @throws the first failure that was not followed by a success, after all other workspaces have been checked
   */
  async recheckShipmentsOfAllWorkspaces(ending: AbortSignal): Promise<void> {
    await this.parts.afterUpgrade?.requestRechecksIfUpgraded(ending);
    const failures: FailuresByWorkspace = new Map();
    while (!ending.aborted && (await this.recheckShipmentPagePerWorkspace(failures, ending)));
    for (const { error } of failures.values()) throw error;
  }

  /**
   * Checks one page of each workspace, so that neither a large nor a failing workspace delays the others. Returns true
   * if any re-check advanced.
   * @param failures last failures of this round by workspace; a workspace that has just failed is skipped
   */
  private async recheckShipmentPagePerWorkspace(failures: FailuresByWorkspace, ending: AbortSignal): Promise<boolean> {
    const waiting = new Set<string>();
    const { elapsed = monotonicMs } = this.parts;
    let hasWorked = false;
    for await (const recheck of this.listUnfinishedRechecks()) {
      if (ending.aborted) return false;
      if (!recheck.isRunning) waiting.add(recheck.workspace_id);
      const failed = failures.get(recheck.workspace_id);
      if (failed !== undefined && elapsed() - failed.at < FAILED_PAGE_RETRY_DELAY_MS) continue;
      try {
        if (await this.advanceRecheckByOnePage(recheck, ending)) hasWorked = true;
        failures.delete(recheck.workspace_id);
      } catch (error) {
        failures.set(recheck.workspace_id, { error, at: elapsed() });
      }
    }
    this.start.dropChangesOfOtherWorkspaces(waiting);
    return hasWorked;
  }

  private async *listUnfinishedRechecks(): AsyncGenerator<RequestedShipmentRecheck> {
    for (let last: string | undefined; ;) {
      const found = await this.parts.rechecks.listUnfinishedRechecks(last, WORKSPACE_PAGE_SIZE);
      yield* found;
      if (found.length < WORKSPACE_PAGE_SIZE) return;
      last = found.at(-1)?.workspace_id;
    }
  }

  /** Checks the next page of a workspace. Returns true if the re-check advanced. */
  private async advanceRecheckByOnePage(recheck: RequestedShipmentRecheck, ending: AbortSignal): Promise<boolean> {
    if (!recheck.isRunning && !this.start.haveReplicasAppliedSettings(recheck)) return false;
    const { version } = await this.parts.settings.getCachedSettings(recheck.workspace_id);
    // A check is useless if this process uses other settings than the re-check.
    if (version !== recheck.version) return false;
    if (recheck.isRunning) return this.recheckPageOfShipments(recheck, ending);
    if (!(await this.start.isReadModelCurrent(recheck))) return false;
    const begun = await this.storeRecheckProgress(recheck, { after: null, checked: 0, isDone: false });
    return begun !== undefined && (await this.recheckPageOfShipments(begun, ending));
  }

  private async recheckPageOfShipments(recheck: RequestedShipmentRecheck, ending: AbortSignal): Promise<boolean> {
    const { unsettledShipments, page: size = PAGE_SIZE } = this.parts;
    const { workspace_id, after } = recheck;
    const find = () => unsettledShipments.listUnsettledShipments(workspace_id, after ?? undefined, size);
    const page = await this.pace.runWorkThenRest(find, ending);
    let { checked } = recheck;
    for (let from = 0; from < page.length; from += MAX_CONCURRENT_SHIPMENT_CHECKS) {
      if (ending.aborted) return false;
      checked += await this.pace.runWorkThenRest(
        () => this.checkShipmentsConcurrently(page.slice(from, from + MAX_CONCURRENT_SHIPMENT_CHECKS), ending),
        ending,
      );
    }
    const isDone = page.length < size;
    const advanced = await this.storeRecheckProgress(recheck, { after: page.at(-1)?.id ?? after, checked, isDone });
    if (isDone && advanced)
      this.parts.logger.info(
        { workspace_id, checked },
        'all open shipments of the workspace were checked with the new settings',
      );
    return advanced !== undefined;
  }

  private storeRecheckProgress(
    recheck: RequestedShipmentRecheck,
    progress: Omit<RecheckProgressRecord, 'at'>,
  ): Promise<RequestedShipmentRecheck | undefined> {
    return this.parts.rechecks.storeRecheckProgress(recheck, { ...progress, at: this.parts.clock().toISOString() });
  }

  /**
   * Checks the shipments concurrently. Returns the number of checked shipments.
   * @throws UnavailableError after all checks have ended
   */
  private async checkShipmentsConcurrently(
    shipments: readonly ShipmentAffectedBySettings[],
    ending: AbortSignal,
  ): Promise<number> {
    const settled = await Promise.allSettled(shipments.map((shipment) => this.checkShipmentRules(shipment, ending)));
    let checked = 0;
    for (const one of settled) {
      if (one.status === 'rejected') throw one.reason;
      if (one.value) checked += 1;
    }
    return checked;
  }

  /**
   * Checks a shipment. If the failure concerns only this shipment, it is logged and does not delay other shipments.
   * @throws UnavailableError
   */
  private async checkShipmentRules(shipment: ShipmentAffectedBySettings, signal: AbortSignal): Promise<boolean> {
    const { shipments, clock, logger, patienceMs = RETRY_TIMEOUT_MS } = this.parts;
    const command = createRuleCheckCommand(shipment, clock().toISOString(), RECHECK_ACTOR);
    try {
      const { answer } = await retry(() => shipments.checkRules(command), {
        signal,
        deadline: monotonicMs() + patienceMs,
        isTransient: (error) => error instanceof UnavailableError,
      });
      this.checks.add(1, { outcome: answer.outcome });
      return true;
    } catch (error) {
      this.checks.add(1, { outcome: error instanceof UnavailableError ? 'unavailable' : 'failed' });
      if (error instanceof UnavailableError) throw error;
      const fields = { ...toOriginLogFields(command), shipment_id: shipment.id, error: String(error) };
      logger.error(fields, 'a shipment could not be checked with the new settings and was skipped');
      return false;
    }
  }
}

interface NoticedSettingsChange {
  readonly version: number;
  readonly step: number;
  /** Time when this process noticed the change, in monotonic milliseconds. */
  readonly at: number;
  /**
   * Last position of the log when every replica had applied the settings. All decisions with the former settings are at
   * or before it.
   */
  head?: Position | undefined;
}

interface RecheckStartDependencies {
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Returns true if the read model of open shipments has reached a position. */
  readonly readModelsReached: ReadModelsReached;
  /** Milliseconds from noticing a change until every replica has applied it. */
  readonly beginsAfterMs: number;
  /** Monotonic clock in milliseconds. */
  readonly elapsed: () => number;
}

/**
 * Decides when a re-check may begin. No replica may still use the former settings, and the read model must contain all
 * shipments that were decided with them. The wait is measured by the clock of one process, from noticing the change; a
 * process that takes over starts the wait again.
 */
class RecheckStartCondition {
  /** Changed settings of workspaces whose re-check has not begun, by workspace. */
  private noticed = new Map<string, NoticedSettingsChange>();

  constructor(private readonly parts: RecheckStartDependencies) {}

  /** Drops all changes except those of the given workspaces, whose re-checks still wait. */
  dropChangesOfOtherWorkspaces(waiting: ReadonlySet<string>): void {
    for (const id of this.noticed.keys()) if (!waiting.has(id)) this.noticed.delete(id);
  }

  /** Returns true if enough time has passed since the change was noticed, so that every replica has applied it. */
  haveReplicasAppliedSettings(recheck: RequestedShipmentRecheck): boolean {
    const { beginsAfterMs, elapsed } = this.parts;
    return elapsed() - this.rememberNoticedSettingsChange(recheck).at >= beginsAfterMs;
  }

  /**
   * Returns true if the read model contains all shipments that were decided with the former settings. Call it only when
   * every replica has applied the new settings.
   * @throws UnavailableError
   */
  async isReadModelCurrent(recheck: RequestedShipmentRecheck): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const noticed = this.rememberNoticedSettingsChange(recheck);
    const head = (noticed.head ??= await eventStore.head());
    return head === undefined || (await readModelsReached(head, 0));
  }

  private rememberNoticedSettingsChange({
    workspace_id,
    version,
    step,
  }: RequestedShipmentRecheck): NoticedSettingsChange {
    const before = this.noticed.get(workspace_id);
    if (before?.version === version && before.step === step) return before;
    const noticed = { version, step, at: this.parts.elapsed() };
    this.noticed.set(workspace_id, noticed);
    return noticed;
  }
}
