import type { Clock, Collection } from '@tracking/ports';
import type { PayloadVersions } from '@tracking/contracts';
import { isAttempted, newDelivery, renderBody, replayOutcome, replayed } from '@tracking/webhooks-domain';
import type { EventLog, LoggedEventRow } from '../replays/event-log.ts';
import type { ReplayDocument, TakenDelivery } from '../replays/replay-document.ts';
import { type Found, ReplaySource, isAskedFor } from '../replays/replay-source.ts';
import type { ReplayStore } from '../replays/replay-store.ts';
import { type DeliveryDocument, awaitsAttempt, deliveryId, toDocument } from '../store/delivery-document.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import { type PayloadDocument, type Payloads, payloadId } from '../store/payloads.ts';
import type { RetentionWatermark } from '../store/retention-watermark.ts';
import type { OwnedEndpoint, RunningReplay } from './owned-endpoint.ts';
import { toPending } from './priority-queue.ts';

/** Most deliveries that a replay has under way: live events wait behind them. */
const MOST_UNDER_WAY = 32;
/** Beside live events that leave an endpoint no rest a replay still takes its turn so often. */
const LONGEST_WAIT_MS = 1_000;

export interface ReplayingParts {
  readonly store: ReplayStore;
  readonly queries: DeliveryQueries;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly payloads: Payloads;
  readonly versions: PayloadVersions;
  readonly log: EventLog;
  readonly watermark: RetentionWatermark;
  readonly clock: Clock;
}

/**
 * A replay that runs for an endpoint which this process owns. It takes a few deliveries at a time, and the next ones when the
 * endpoint has caught up with all that is due: so it goes as fast as the endpoint answers, and live events never wait long
 * behind it.
 *
 * What it takes is stored before it is given a new schedule, and counted with the first attempt since. Whoever goes on after
 * a crash finds what was taken, and what became of it.
 */
export class Replaying implements RunningReplay {
  private readonly source: ReplaySource;
  /** Taken, and without an attempt since. */
  private readonly underWay = new Map<string, TakenDelivery>();
  private done = 0;
  private failed = 0;
  /** Taken, and not to be sent any more when its turn came: somebody changed it meanwhile. */
  private withdrawn = 0;
  private isResumed = false;
  private hasEnded = false;
  private takenAt = -Infinity;

  constructor(
    private document: ReplayDocument,
    private readonly owned: OwnedEndpoint,
    private readonly parts: ReplayingParts,
  ) {
    this.source = new ReplaySource(document, parts);
    for (const taken of document.under_way) this.underWay.set(taken.id, taken);
  }

  get id(): string {
    return this.document.id;
  }

  wantsMore(now: number): boolean {
    const { active, endpoint, concurrency } = this.owned;
    if (!active || !isAttempted(endpoint) || concurrency === undefined) return false;
    return !this.isResumed || this.hasRoom(now);
  }

  lookAgain(): void {
    this.isResumed = false;
  }

  note(id: string, after: DeliveryDocument | undefined): void {
    if (!this.underWay.has(id)) return;
    // Of an attempt that was under way before it was taken.
    if (after !== undefined && after.replay_id !== this.id) return;
    const outcome = after === undefined ? 'failed' : replayOutcome(after);
    if (outcome === undefined) return;
    this.underWay.delete(id);
    if (outcome === 'done') this.done += 1;
    else this.failed += 1;
  }

  async takeMore(): Promise<boolean> {
    if (!this.isResumed) {
      this.isResumed = true;
      await this.resume();
      if (!this.hasRoom(this.parts.clock().getTime())) return true;
    }
    const { found, cursor, ended } = await this.source.next(this.owned.endpoint, this.most - this.underWay.size);
    for (const { id, delivery, event } of found) {
      this.underWay.set(id, { id, event_id: delivery?.event_id ?? event?.id ?? '' });
    }
    const isCompleted = ended && this.underWay.size === 0;
    const { done, failed, withdrawn, document } = this;
    const matched = document.matched + found.length - withdrawn;
    const stored = await this.parts.store.advance(document, {
      ...{ cursor, under_way: [...this.underWay.values()] },
      ...{ matched, done: document.done + done, failed: document.failed + failed },
      ...(isCompleted && ({ status: 'completed', completed_at: this.parts.clock().toISOString() } as const)),
    });
    if (stored === undefined) return false;
    this.document = stored;
    // More may have been noted meanwhile.
    this.done -= done;
    this.failed -= failed;
    this.withdrawn -= withdrawn;
    this.hasEnded = ended;
    await this.send(found);
    this.takenAt = this.parts.clock().getTime();
    return !isCompleted;
  }

  /** Whether few are under way, and nothing else is due. */
  private hasRoom(now: number): boolean {
    if (this.hasEnded) return this.underWay.size === 0;
    if (this.underWay.size > this.most / 2) return false;
    const { first } = this.owned.window.scheduled;
    return first === undefined || first.due > now || now - this.takenAt >= LONGEST_WAIT_MS;
  }

  private get most(): number {
    return Math.min(MOST_UNDER_WAY, 2 * (this.owned.concurrency?.allowed ?? 1));
  }

  /** Counts what had its attempt without notice to this process, and sends what was not sent yet. */
  private async resume(): Promise<void> {
    const { queries, log } = this.parts;
    const taken = [...this.underWay.values()];
    const recorded = await queries.existing(taken.map(({ id }) => id));
    const known = new Map(recorded.map((delivery) => [delivery.id, delivery]));
    const missed = taken.filter(({ id }) => !known.has(id)).map(({ event_id }) => event_id);
    const events = new Map((await log.find(this.document, missed)).map((event) => [event.id, event]));
    const unsent: Found[] = [];
    const waiting: DeliveryDocument[] = [];
    for (const { id, event_id } of taken) {
      const delivery = known.get(id);
      const event = events.get(event_id);
      if (delivery?.replay_id === this.id) {
        this.note(id, delivery);
        waiting.push(delivery);
      } else if (delivery !== undefined) unsent.push({ id, delivery });
      else if (event !== undefined) unsent.push({ id, event });
      else this.note(id, undefined);
    }
    // Where it is unknown whether they were written they are in no window.
    this.enqueue(waiting);
    await this.send(unsent);
  }

  private async send(found: readonly Found[]): Promise<void> {
    const missed = found.flatMap(({ event }) => event ?? []);
    const recorded = found.flatMap(({ delivery }) => delivery ?? []);
    this.enqueue([...(await this.reschedule(recorded)), ...(await this.record(missed))]);
  }

  private enqueue(deliveries: readonly DeliveryDocument[]): void {
    const { window, room, busy } = this.owned;
    const knownAt = performance.now();
    for (const delivery of deliveries) {
      if (busy.has(delivery.id) || !awaitsAttempt(delivery)) continue;
      window.noteChange(delivery.id);
      window.scheduled.take(({ id }) => id === delivery.id);
      window.add(toPending(delivery, knownAt), room);
    }
  }

  /** Gives them their new schedule, each a millisecond after the one before, so that their order is kept; all are due. */
  private async reschedule(taken: readonly DeliveryDocument[]): Promise<readonly DeliveryDocument[]> {
    const { deliveries, queries, clock } = this.parts;
    const first = clock().getTime() - taken.length;
    const scheduled: DeliveryDocument[] = [];
    let left = taken.filter((delivery) => this.isAskedFor(delivery));
    while (left.length > 0) {
      const changes = left.map((delivery, index) => {
        const document = toDocument(replayed(delivery, new Date(first + index).toISOString(), this.id));
        return { kind: 'upsert', document, guard: { revision: delivery.revision } } as const;
      });
      await deliveries.writeMany(changes);
      const stored = await queries.existing(left.map(({ id }) => id));
      scheduled.push(...stored.filter(({ replay_id }) => replay_id === this.id));
      // Somebody changed these since they were read.
      left = stored.filter((delivery) => delivery.replay_id !== this.id && this.isAskedFor(delivery));
    }
    return scheduled;
  }

  /** What is not asked for any more is no part of the replay. */
  private isAskedFor(delivery: DeliveryDocument): boolean {
    const isAsked = isAskedFor(this.document, delivery);
    if (!isAsked && this.underWay.delete(delivery.id)) this.withdrawn += 1;
    return isAsked;
  }

  /** Makes the deliveries of events that were missed. Those that cannot be made again have failed. */
  private async record(missed: readonly LoggedEventRow[]): Promise<readonly DeliveryDocument[]> {
    if (missed.length === 0) return [];
    const { log, payloads, versions, deliveries, queries, clock } = this.parts;
    const { workspace_id, environment, id: endpoint_id, api_version } = this.owned.endpoint;
    const events = new Map((await log.make(missed)).map((event) => [event.id, event]));
    const at = clock().toISOString();
    const made: DeliveryDocument[] = [];
    const bodies: PayloadDocument[] = [];
    for (const row of missed) {
      const id = deliveryId(endpoint_id, row);
      const event = events.get(row.id);
      if (event === undefined) {
        this.note(id, undefined);
        continue;
      }
      const version = versions.versionFor(event, api_version);
      const payload_id = payloadId(event.id, version);
      const about = { event_id: event.id, event_type: event.type, event_created_at: event.created_at, payload_id };
      const fields = { id, workspace_id, environment, endpoint_id, ...about, sandbox: false };
      made.push(toDocument({ ...newDelivery(fields, at), replay_id: this.id }));
      bodies.push({ id: payload_id, body: renderBody(event, version, false, versions), created_at: at });
    }
    await payloads.store(bodies);
    await deliveries.writeMany(made.map((document) => ({ kind: 'insert', document })));
    const stored = await queries.existing(made.map(({ id }) => id));
    const { own = [], others = [] } = Object.groupBy(stored, ({ replay_id }) =>
      replay_id === this.id ? 'own' : 'others',
    );
    // These were recorded by their message meanwhile, by which they are sent.
    return [...own, ...(await this.reschedule(others))];
  }
}
