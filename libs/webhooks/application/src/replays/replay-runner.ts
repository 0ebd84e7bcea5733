import type { Clock } from '@tracking/ports';
import { isEndpointEnabled, getOutcomeOfReplayedDelivery } from '@tracking/webhooks-domain';
import type { RunningReplay } from '../scheduling/delivery-state.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { ReplaySender } from './replay-sender.ts';
import { type FoundItem, ReplayedDeliveryReader, type ReplaySourceDependencies } from './replay-source.ts';
import type { ReplayDocument, ReplayStore, DeliveryTakenByReplay } from './replay-store.ts';

/**
 * Maximum number of a replay's deliveries in progress. If the process dies, up to this many deliveries may be sent
 * twice. Live events wait for at most this many.
 */
const MAX_REPLAY_DELIVERIES_IN_PROGRESS = 8;
/**
 * Longest time between turns of a replay. If live events keep an endpoint busy, the replay still takes a turn and
 * stores its progress at this interval.
 */
const MAX_TIME_BETWEEN_REPLAY_TURNS_MS = 1_000;

export interface ReplayRunnerDependencies extends ReplaySourceDependencies {
  readonly store: ReplayStore;
  readonly resending: ReplaySender;
  readonly clock: Clock;
  readonly time: ProcessClock;
}

/** Opens the running replays of endpoints that this process owns. */
export class ReplayRunner {
  constructor(private readonly dependencies: ReplayRunnerDependencies) {}

  /** Reads the endpoint's running replay, which may be new or changed. @throws UnavailableError */
  async readRunningReplayOfEndpoint(owned: OwnedEndpoint): Promise<void> {
    const read = owned.state.assignReplayReadNumber();
    const running = await this.dependencies.store.findRunningReplay(owned.id);
    owned.state.setRunningReplayUnlessReadIsOutdated(
      read,
      running && new RunningEndpointReplay(running, owned, this.dependencies),
    );
  }
}

/**
 * A running replay of an endpoint that this process owns. A replay takes a few deliveries at a time, and more when the
 * endpoint has no other due delivery. The replay is therefore as fast as the endpoint, and live events never wait for
 * long.
 * ¶ Taken deliveries are stored before they get a new schedule, and counted after their next attempt. After a crash, or
 * a write with an unknown outcome, the next owner finds the taken deliveries and their outcomes.
 */
class RunningEndpointReplay implements RunningReplay {
  private source: ReplayedDeliveryReader;
  /** Deliveries that the replay has taken and that have not been attempted since, by id. */
  private underWay = new Map<string, DeliveryTakenByReplay>();
  private done = 0;
  private failed = 0;
  /** True if this object matches the store, and all taken deliveries have their new schedule. */
  private isCurrent = false;
  /** Number of times that another process may have changed the stored replay. */
  private rereads = 0;
  private hasEnded = false;
  private takenAt = -Infinity;

  constructor(
    private document: ReplayDocument,
    private readonly owned: OwnedEndpoint,
    private readonly dependencies: ReplayRunnerDependencies,
  ) {
    this.source = new ReplayedDeliveryReader(document, dependencies);
  }

  get id(): string {
    return this.document.id;
  }

  isReplayReadyForMoreDeliveries(now: number): boolean {
    const { isOwned, endpoint, state } = this.owned;
    if (!isOwned || !isEndpointEnabled(endpoint) || state.concurrency === undefined) return false;
    return !this.isCurrent || this.canTakeNextReplayedDeliveries(now);
  }

  /** Returns the time at which counted outcomes are stored even if the last deliveries take long. */
  getNextOutcomeStoreTime(now: number): number | undefined {
    const moment = this.takenAt + MAX_TIME_BETWEEN_REPLAY_TURNS_MS;
    return this.hasCounted && moment > now ? moment : undefined;
  }

  requestReplayReread(): void {
    this.rereads += 1;
    this.isCurrent = false;
  }

  countReplayedDelivery(id: string, after: DeliveryDocument | undefined): void {
    // Ignore an attempt that began before the replay took the delivery.
    if (after !== undefined && after.replay_id !== this.id) return;
    this.countReplayOutcome(id, after === undefined ? 'failed' : getOutcomeOfReplayedDelivery(after));
  }

  async takeDeliveriesToReplay(): Promise<boolean> {
    const { rereads } = this;
    if (!this.isCurrent) {
      if (!(await this.reloadReplay())) return false;
      this.isCurrent = this.rereads === rereads;
      if (!this.canTakeNextReplayedDeliveries(this.dependencies.time.now())) return true;
    }
    // Assume outdated progress until all steps succeed: after a failure, only the store has the current progress.
    this.isCurrent = false;
    const room = this.maxUnderWay - this.underWay.size;
    const { found, cursor, ended } = await this.source.readNextItemsToReplay(this.owned.endpoint, room);
    // Stop if this process lost the endpoint: another process then continues the replay.
    if (!this.owned.isOwned) return true;
    for (const { id, event_id } of found) this.underWay.set(id, { id, event_id });
    const isCompleted = ended && this.underWay.size === 0;
    const { done, failed, document } = this;
    const stored = await this.dependencies.store.storeReplayProgress(document, {
      ...{ cursor, under_way: [...this.underWay.values()], matched: document.matched + found.length },
      ...{ done: document.done + done, failed: document.failed + failed },
      ...(isCompleted && ({ status: 'completed', completed_at: this.dependencies.clock().toISOString() } as const)),
    });
    if (stored === undefined) return true;
    this.document = stored;
    // Subtract only the stored outcomes, because attempts may have ended during the write.
    this.done -= done;
    this.failed -= failed;
    this.hasEnded = ended;
    await this.sendReplayedDeliveries(found, found);
    this.takenAt = this.dependencies.time.now();
    this.isCurrent = this.rereads === rereads;
    return !isCompleted;
  }

  private canTakeNextReplayedDeliveries(now: number): boolean {
    const hasWaited = now - this.takenAt >= MAX_TIME_BETWEEN_REPLAY_TURNS_MS;
    if (hasWaited && this.hasCounted) return true;
    if (this.hasEnded) return this.underWay.size === 0;
    if (this.underWay.size > this.maxUnderWay / 2) return false;
    const { firstDueAt, isRecovering } = this.owned;
    return firstDueAt === undefined || (firstDueAt > now && !isRecovering) || hasWaited;
  }

  private get hasCounted(): boolean {
    return this.done + this.failed > 0;
  }

  private get maxUnderWay(): number {
    return Math.min(MAX_REPLAY_DELIVERIES_IN_PROGRESS, 2 * (this.owned.state.concurrency?.allowed ?? 1));
  }

  /**
   * Reads the replay again, counts attempts made in the meantime, and sends taken deliveries that were not sent.
   * Returns false if the replay has ended.
   */
  private async reloadReplay(): Promise<boolean> {
    const document = await this.dependencies.store.getReplay(this.id);
    if (document?.status !== 'running') return false;
    this.document = document;
    this.source = new ReplayedDeliveryReader(document, this.dependencies);
    this.underWay = new Map(document.under_way.map((taken) => [taken.id, taken]));
    this.done = this.failed = 0;
    this.hasEnded = false;
    await this.sendReplayedDeliveries(document.under_way);
    return true;
  }

  private async sendReplayedDeliveries(
    taken: readonly DeliveryTakenByReplay[],
    found: readonly FoundItem[] = [],
  ): Promise<void> {
    if (taken.length === 0 || !this.owned.isOwned) return;
    const readAt = performance.now();
    const sent = await this.dependencies.resending.sendTakenDeliveries(
      this.document,
      this.owned.endpoint,
      taken,
      found,
    );
    for (const [id, delivery] of sent) {
      const outcome = delivery && getOutcomeOfReplayedDelivery(delivery);
      const isOver = delivery?.replay_id !== this.id;
      this.countReplayOutcome(id, outcome ?? (isOver ? 'failed' : undefined));
      // Use the newest version of each delivery, because some may have been attempted in the meantime.
      if (delivery !== undefined && this.underWay.has(id)) this.owned.replaceDelivery(delivery, readAt);
    }
  }

  private countReplayOutcome(id: string, outcome: 'done' | 'failed' | undefined): void {
    if (outcome === undefined || !this.underWay.delete(id)) return;
    if (outcome === 'done') this.done += 1;
    else this.failed += 1;
  }
}
