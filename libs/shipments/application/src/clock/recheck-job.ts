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
import { checkCommand } from './rule-clock.ts';

/** From one look for changes to the next. */
const POLL_INTERVAL_MS = 1_000;
/** Every replica goes by a change of settings within five seconds. */
const START_DELAY_MS = 6_000;
/** So many shipments are checked again where a process dies. */
const PAGE_SIZE = 100;
/** Checked side by side: what they append goes into one commit or two. */
const CONCURRENT_CHECKS = 8;
/** Of the time: the rest is for requests, and for what follows from what was opened. */
const MAX_DUTY_SHARE = 0.25;
/** How long one shipment is tried while its engine does not answer, before the job pauses. */
const RETRY_TIMEOUT_MS = 10_000;
const WORKSPACE_PAGE_SIZE = 100;
const ACTOR: Actor = { type: 'system', id: 'settings' };

type UnsettledShipment = Scope & { readonly id: string };

export interface RecheckJobParts extends Pick<RecheckStartParts, 'eventStore' | 'readModelsReached'> {
  readonly shipments: Pick<ShipmentsService, 'checkRules'>;
  readonly rechecks: Rechecks;
  readonly unsettledShipments: UnsettledShipments;
  /** Absent where releases have nothing checked. */
  readonly afterRelease?: Pick<ReleaseRecheck, 'request'>;
  /** By which `shipments` decide here. */
  readonly settings: { of(workspaceId: string): Promise<{ readonly version: number }> };
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  /** From when a change is noticed until its re-check begins, in milliseconds; 6,000 by default. */
  readonly beginsAfterMs?: number;
  readonly page?: number;
  readonly patienceMs?: number;
  /** Monotonic milliseconds, and how to let them pass between stretches of work. */
  readonly elapsed?: () => number;
  readonly rest?: NonNullable<DutyCycleOptions['rest']>;
}

/**
 * Has the open shipments of workspaces whose settings changed checked by the new ones: a page of each workspace in turn, its
 * place stored after each. A check changes only what is to be changed, so that repeating one is harmless: after a crash, or
 * where two processes do it. docs/adr/0034-recheck-after-settings-change.md.
 */
export class RecheckJob {
  readonly job: LeaderElectedJob;
  private readonly pace: DutyCycle;
  private readonly start: RecheckStart;
  private readonly checks: Counter;

  constructor(private readonly parts: RecheckJobParts) {
    const { leases, logger, metrics, everyMs = POLL_INTERVAL_MS, beginsAfterMs = START_DELAY_MS } = parts;
    const { elapsed = monotonicMs, rest } = parts;
    this.pace = new DutyCycle({ share: MAX_DUTY_SHARE, elapsed, ...(rest && { rest }) });
    this.start = new RecheckStart({ ...parts, beginsAfterMs, elapsed });
    this.checks = metrics.counter(
      'settings_checks_total',
      'Shipments checked since settings changed, by what came of it.',
      ['outcome'],
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'settings-recheck',
      logger,
      countRetry: retryCounter(metrics),
      description: 'checking shipments by changed settings',
      intervalMs: everyMs,
      round: (ending) => this.round(ending),
    });
  }

  /** Turns, as long as there is any shipment to check. */
  async round(ending: AbortSignal): Promise<void> {
    await this.parts.afterRelease?.request(ending);
    while (!ending.aborted && (await this.checkPageOfEach(ending)));
  }

  /**
   * A page of each workspace, so that a large one holds no other up, nor one that fails. Answers whether any was gone on with.
   * @throws the first failure when all had their turn: their places are stored
   */
  private async checkPageOfEach(ending: AbortSignal): Promise<boolean> {
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
    this.start.keepOnly(waiting);
    if (failures.length > 0) throw failures[0];
    return hasWorked;
  }

  private async *unfinished(): AsyncGenerator<Recheck> {
    for (let last: string | undefined; ;) {
      const found = await this.parts.rechecks.unfinished(last, WORKSPACE_PAGE_SIZE);
      yield* found;
      if (found.length < WORKSPACE_PAGE_SIZE) return;
      last = found.at(-1)?.workspace_id;
    }
  }

  /** Answers whether it was a page further. */
  private async continueRecheck(recheck: Recheck, ending: AbortSignal): Promise<boolean> {
    if (!recheck.isRunning && !this.start.isEveryReplicaUpdated(recheck)) return false;
    const { version } = await this.parts.settings.of(recheck.workspace_id);
    // Decided here by other settings, a check would be in vain.
    if (version !== recheck.version) return false;
    if (recheck.isRunning) return this.checkPage(recheck, ending);
    if (!(await this.start.isReadModelCurrent(recheck))) return false;
    const begun = await this.advance(recheck, { after: null, checked: 0, isDone: false });
    return begun !== undefined && (await this.checkPage(begun, ending));
  }

  private async checkPage(recheck: Recheck, ending: AbortSignal): Promise<boolean> {
    const { unsettledShipments, page: size = PAGE_SIZE } = this.parts;
    const { workspace_id, after } = recheck;
    const find = () => unsettledShipments.ofWorkspace(workspace_id, after ?? undefined, size);
    const page = await this.pace.run(find, ending);
    let { checked } = recheck;
    for (let from = 0; from < page.length; from += CONCURRENT_CHECKS) {
      if (ending.aborted) return false;
      checked += await this.pace.run(() => this.checkAll(page.slice(from, from + CONCURRENT_CHECKS), ending), ending);
    }
    const isDone = page.length < size;
    const advanced = await this.advance(recheck, { after: page.at(-1)?.id ?? after, checked, isDone });
    if (isDone && advanced)
      this.parts.logger.info({ workspace_id, checked }, 'shipments are checked by changed settings');
    return advanced !== undefined;
  }

  private advance(recheck: Recheck, progress: Omit<RecheckProgress, 'at'>): Promise<Recheck | undefined> {
    return this.parts.rechecks.advance(recheck, { ...progress, at: this.parts.clock().toISOString() });
  }

  /** Answers how many were checked. @throws Unavailable when all have ended */
  private async checkAll(shipments: readonly UnsettledShipment[], ending: AbortSignal): Promise<number> {
    const settled = await Promise.allSettled(shipments.map((shipment) => this.check(shipment, ending)));
    let checked = 0;
    for (const one of settled) {
      if (one.status === 'rejected') throw one.reason;
      if (one.value) checked += 1;
    }
    return checked;
  }

  /** @throws Unavailable: what else fails is the shipment's, and keeps no other waiting */
  private async check(shipment: UnsettledShipment, signal: AbortSignal): Promise<boolean> {
    const { shipments, clock, logger, patienceMs = RETRY_TIMEOUT_MS } = this.parts;
    const command = checkCommand(shipment, clock().toISOString(), ACTOR);
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
      logger.error(fields, 'a shipment could not be checked by changed settings; it is passed over');
      return false;
    }
  }
}

interface NoticedChange {
  readonly version: number;
  readonly step: number;
  /** In monotonic milliseconds. */
  readonly at: number;
  /** The end of the log when every replica went by the settings: what was decided by those before lies before it. */
  head?: Position | undefined;
}

interface RecheckStartParts {
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Of the read model by which open shipments are found. */
  readonly readModelsReached: ReadModelsReached;
  /** From when a change is noticed, in milliseconds, until every replica goes by it. */
  readonly beginsAfterMs: number;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/**
 * When a re-check may begin: once no replica decides by the settings of before, and all shipments that any did decide by them
 * are found. Counted by one clock, from when the change is noticed: a process that takes over waits anew.
 */
class RecheckStart {
  /** By workspace: those that wait. */
  private noticed = new Map<string, NoticedChange>();

  constructor(private readonly parts: RecheckStartParts) {}

  /** Forgets all but those that still wait. */
  keepOnly(waiting: ReadonlySet<string>): void {
    for (const id of this.noticed.keys()) if (!waiting.has(id)) this.noticed.delete(id);
  }

  /** Whether every replica goes by the change: it was noticed long enough ago. It is noticed when this is asked first. */
  isEveryReplicaUpdated(recheck: Recheck): boolean {
    const { beginsAfterMs, elapsed } = this.parts;
    return elapsed() - this.noticedAt(recheck).at >= beginsAfterMs;
  }

  /** Whether all shipments are found that were decided before. To be asked when that has waited. @throws Unavailable */
  async isReadModelCurrent(recheck: Recheck): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const noticed = this.noticedAt(recheck);
    const head = (noticed.head ??= await eventStore.head());
    return head === undefined || (await readModelsReached(head, 0));
  }

  private noticedAt({ workspace_id, version, step }: Recheck): NoticedChange {
    const before = this.noticed.get(workspace_id);
    if (before?.version === version && before.step === step) return before;
    const noticed = { version, step, at: this.parts.elapsed() };
    this.noticed.set(workspace_id, noticed);
    return noticed;
  }
}
