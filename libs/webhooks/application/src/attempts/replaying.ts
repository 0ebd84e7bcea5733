import type { Clock } from '@tracking/ports';
import { isAttempted, replayOutcome } from '@tracking/webhooks-domain';
import { type Found, ReplaySource, type ReplaySourceParts } from '../replays/replay-source.ts';
import type { ReplayDocument, ReplayStore, TakenDelivery } from '../replays/replay-store.ts';
import type { Resending } from '../replays/resending.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { OwnedEndpoint, RunningReplay } from './owned-endpoint.ts';

/**
 * Most deliveries that a replay has under way: so many may be sent twice where the process dies, and for so many at once live
 * events wait.
 */
const MOST_UNDER_WAY = 8;
/** Beside live events that leave an endpoint no rest a replay still takes its turn so often, and tells how far it is. */
const LONGEST_WAIT_MS = 1_000;

export interface ReplayingParts extends ReplaySourceParts {
  readonly store: ReplayStore;
  readonly resending: Resending;
  readonly clock: Clock;
}

/**
 * A replay that runs for an endpoint which this process owns. It takes a few deliveries at a time, and the next ones when the
 * endpoint has caught up with all that is due: so it goes as fast as the endpoint answers, and live events never wait long
 * behind it.
 *
 * What it takes is stored before it is given a new schedule, and counted with the first attempt since. Whoever goes on, after
 * a crash or after a write of which the outcome is not known, finds what was taken, and what became of it.
 */
export class Replaying implements RunningReplay {
  private source: ReplaySource;
  /** Taken, and without an attempt since. */
  private underWay = new Map<string, TakenDelivery>();
  private done = 0;
  private failed = 0;
  /** Whether what is here is what is stored, and all that was taken has its new schedule. */
  private isKnown = false;
  /** How often something that is stored may have been changed by somebody else. */
  private looks = 0;
  private hasEnded = false;
  private takenAt = -Infinity;

  constructor(
    private document: ReplayDocument,
    private readonly owned: OwnedEndpoint,
    private readonly parts: ReplayingParts,
  ) {
    this.source = new ReplaySource(document, parts);
  }

  get id(): string {
    return this.document.id;
  }

  wantsMore(now: number): boolean {
    const { isOurs, endpoint, concurrency } = this.owned;
    if (!isOurs || !isAttempted(endpoint) || concurrency === undefined) return false;
    return !this.isKnown || this.hasRoom(now);
  }

  /** Where the last ones take long, it tells how many others had their attempt. */
  nextMoment(now: number): number | undefined {
    const moment = this.takenAt + LONGEST_WAIT_MS;
    return this.hasCounted && moment > now ? moment : undefined;
  }

  lookAgain(): void {
    this.looks += 1;
    this.isKnown = false;
  }

  note(id: string, after: DeliveryDocument | undefined): void {
    // Of an attempt that was under way before it was taken.
    if (after !== undefined && after.replay_id !== this.id) return;
    this.count(id, after === undefined ? 'failed' : replayOutcome(after));
  }

  async takeMore(): Promise<boolean> {
    const { looks } = this;
    if (!this.isKnown) {
      if (!(await this.readAnew())) return false;
      this.isKnown = this.looks === looks;
      if (!this.hasRoom(this.parts.clock().getTime())) return true;
    }
    // Until it is through: after a failure only what is stored tells how far it has come.
    this.isKnown = false;
    const room = this.most - this.underWay.size;
    const { found, cursor, ended } = await this.source.next(this.owned.endpoint, room);
    // Perhaps an engine was away for long: others may have gone on with it.
    if (!this.owned.isOurs) return true;
    for (const { id, event_id } of found) this.underWay.set(id, { id, event_id });
    const isCompleted = ended && this.underWay.size === 0;
    const { done, failed, document } = this;
    const stored = await this.parts.store.advance(document, {
      ...{ cursor, under_way: [...this.underWay.values()], matched: document.matched + found.length },
      ...{ done: document.done + done, failed: document.failed + failed },
      ...(isCompleted && ({ status: 'completed', completed_at: this.parts.clock().toISOString() } as const)),
    });
    if (stored === undefined) return true;
    this.document = stored;
    // More may have been noted meanwhile.
    this.done -= done;
    this.failed -= failed;
    this.hasEnded = ended;
    await this.send(found, found);
    this.takenAt = this.parts.clock().getTime();
    this.isKnown = this.looks === looks;
    return !isCompleted;
  }

  private hasRoom(now: number): boolean {
    const hasWaited = now - this.takenAt >= LONGEST_WAIT_MS;
    if (hasWaited && this.hasCounted) return true;
    if (this.hasEnded) return this.underWay.size === 0;
    if (this.underWay.size > this.most / 2) return false;
    const { first } = this.owned.window.scheduled;
    return first === undefined || (first.due > now && !this.owned.isRecovering) || hasWaited;
  }

  private get hasCounted(): boolean {
    return this.done + this.failed > 0;
  }

  private get most(): number {
    return Math.min(MOST_UNDER_WAY, 2 * (this.owned.concurrency?.allowed ?? 1));
  }

  /** Counts what had its attempt meanwhile, and sends what was not sent yet; false where the replay has ended. */
  private async readAnew(): Promise<boolean> {
    const document = await this.parts.store.get(this.id);
    if (document?.status !== 'running') return false;
    this.document = document;
    this.source = new ReplaySource(document, this.parts);
    this.underWay = new Map(document.under_way.map((taken) => [taken.id, taken]));
    this.done = this.failed = 0;
    this.hasEnded = false;
    await this.send(document.under_way);
    return true;
  }

  private async send(taken: readonly TakenDelivery[], found: readonly Found[] = []): Promise<void> {
    if (taken.length === 0 || !this.owned.isOurs) return;
    const readAt = performance.now();
    const sent = await this.parts.resending.send(this.document, this.owned.endpoint, taken, found);
    for (const [id, delivery] of sent) {
      const outcome = delivery && replayOutcome(delivery);
      const isOver = delivery?.replay_id !== this.id;
      this.count(id, outcome ?? (isOver ? 'failed' : undefined));
      // Where it had its attempt meanwhile there is a newer form of it.
      if (delivery !== undefined && this.underWay.has(id)) this.owned.hold(delivery, readAt);
    }
  }

  private count(id: string, outcome: 'done' | 'failed' | undefined): void {
    if (outcome === undefined || !this.underWay.delete(id)) return;
    if (outcome === 'done') this.done += 1;
    else this.failed += 1;
  }
}
