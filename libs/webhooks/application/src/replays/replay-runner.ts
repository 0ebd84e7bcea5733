import type { PayloadVersions } from '@tracking/contracts';
import { type Clock, type Collection, isKnownUndone, withUnknownOutcome } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import {
  type Delivery,
  isEnabled,
  isScheduled,
  renderBody,
  replayOutcome,
  restartSchedule,
} from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { RunningReplay } from '../scheduling/delivery-state.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { RecountRequests } from '../stats/hour-log.ts';
import {
  type DeliveryDocument,
  type PayloadDocument,
  type Payloads,
  payloadId,
  createDeliveryDocument,
  toDocument,
} from '../store/delivery-document.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import {
  type EventLog,
  type FoundItem,
  type LoggedEventRow,
  ReplaySource,
  type ReplaySourceParts,
  matchesReplay,
} from './replay-source.ts';
import type { ReplayDocument, ReplayStore, TakenDelivery } from './replay-store.ts';

/**
 * Maximum number of a replay's deliveries in progress. This many may be sent twice if the process dies, and live events
 * wait for up to this many at a time.
 */
const MAX_IN_FLIGHT = 8;
/**
 * Longest time between turns of a replay. If live events keep an endpoint busy, the replay still takes a turn and
 * stores its progress at this interval.
 */
const MAX_TURN_WAIT_MS = 1_000;
/**
 * Delay after which a replayed delivery is due. It is sent earlier if nothing else is due. A live event therefore waits
 * at most for attempts in progress, and a replay at most this long if live events keep the endpoint busy.
 */
const REPLAY_DELAY_MS = 1_000;

export interface ReplayRunnerParts extends ReplaySourceParts {
  readonly store: ReplayStore;
  readonly resending: ReplaySender;
  readonly clock: Clock;
}

/** Opens the running replays of endpoints that this process owns. */
export class ReplayRunner {
  constructor(private readonly parts: ReplayRunnerParts) {}

  /** Reads the endpoint's running replay, which may be new or changed. @throws Unavailable */
  async refresh(owned: OwnedEndpoint): Promise<void> {
    const read = owned.state.beginReplayRead();
    const running = await this.parts.store.findRunning(owned.id);
    owned.state.endReplayRead(read, running && new EndpointReplay(running, owned, this.parts));
  }
}

/**
 * A running replay of an endpoint that this process owns. It takes a few deliveries at a time, and the next ones when
 * the endpoint has caught up with everything due. It is thus as fast as the endpoint answers, and live events never
 * wait long.
 *
 * Taken deliveries are stored before they get a new schedule, and counted after their next attempt. After a crash, or
 * a write with an unknown outcome, the next owner finds the taken deliveries and their outcomes.
 */
class EndpointReplay implements RunningReplay {
  private source: ReplaySource;
  /** Taken deliveries that have not been attempted since. */
  private underWay = new Map<string, TakenDelivery>();
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
    private readonly parts: ReplayRunnerParts,
  ) {
    this.source = new ReplaySource(document, parts);
  }

  get id(): string {
    return this.document.id;
  }

  wantsMore(now: number): boolean {
    const { isOwned: isOwned, endpoint, state } = this.owned;
    if (!isOwned || !isEnabled(endpoint) || state.concurrency === undefined) return false;
    return !this.isCurrent || this.hasRoom(now);
  }

  /** Returns the time at which counted outcomes are stored even if the last deliveries take long. */
  nextMoment(now: number): number | undefined {
    const moment = this.takenAt + MAX_TURN_WAIT_MS;
    return this.hasCounted && moment > now ? moment : undefined;
  }

  reread(): void {
    this.rereads += 1;
    this.isCurrent = false;
  }

  recordAttempt(id: string, after: DeliveryDocument | undefined): void {
    // An attempt that was in progress before the delivery was taken does not count.
    if (after !== undefined && after.replay_id !== this.id) return;
    this.count(id, after === undefined ? 'failed' : replayOutcome(after));
  }

  async takeMore(): Promise<boolean> {
    const { rereads } = this;
    if (!this.isCurrent) {
      if (!(await this.reload())) return false;
      this.isCurrent = this.rereads === rereads;
      if (!this.hasRoom(this.parts.clock().getTime())) return true;
    }
    // Cleared until all steps succeed: after a failure, only the store knows the progress.
    this.isCurrent = false;
    const room = this.maxUnderWay - this.underWay.size;
    const { found, cursor, ended } = await this.source.next(this.owned.endpoint, room);
    // If a storage engine was unreachable for long, another process may have continued the replay.
    if (!this.owned.isOwned) return true;
    for (const { id, event_id } of found) this.underWay.set(id, { id, event_id });
    const isCompleted = ended && this.underWay.size === 0;
    const { done, failed, document } = this;
    const stored = await this.parts.store.storeProgress(document, {
      ...{ cursor, under_way: [...this.underWay.values()], matched: document.matched + found.length },
      ...{ done: document.done + done, failed: document.failed + failed },
      ...(isCompleted && ({ status: 'completed', completed_at: this.parts.clock().toISOString() } as const)),
    });
    if (stored === undefined) return true;
    this.document = stored;
    // More outcomes may have been counted in the meantime.
    this.done -= done;
    this.failed -= failed;
    this.hasEnded = ended;
    await this.send(found, found);
    this.takenAt = this.parts.clock().getTime();
    this.isCurrent = this.rereads === rereads;
    return !isCompleted;
  }

  private hasRoom(now: number): boolean {
    const hasWaited = now - this.takenAt >= MAX_TURN_WAIT_MS;
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
    return Math.min(MAX_IN_FLIGHT, 2 * (this.owned.state.concurrency?.allowed ?? 1));
  }

  /**
   * Reads the replay again, counts attempts made in the meantime, and sends taken deliveries that were not sent.
   * Returns false if the replay has ended.
   */
  private async reload(): Promise<boolean> {
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

  private async send(taken: readonly TakenDelivery[], found: readonly FoundItem[] = []): Promise<void> {
    if (taken.length === 0 || !this.owned.isOwned) return;
    const readAt = performance.now();
    const sent = await this.parts.resending.send(this.document, this.owned.endpoint, taken, found);
    for (const [id, delivery] of sent) {
      const outcome = delivery && replayOutcome(delivery);
      const isOver = delivery?.replay_id !== this.id;
      this.count(id, outcome ?? (isOver ? 'failed' : undefined));
      // A delivery that was attempted in the meantime has a newer form.
      if (delivery !== undefined && this.underWay.has(id)) this.owned.change(delivery, readAt);
    }
  }

  private count(id: string, outcome: 'done' | 'failed' | undefined): void {
    if (outcome === undefined || !this.underWay.delete(id)) return;
    if (outcome === 'done') this.done += 1;
    else this.failed += 1;
  }
}

interface ReplaySenderParts {
  readonly queries: DeliveryQueries;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly recounts: RecountRequests;
  readonly payloads: Payloads;
  readonly versions: PayloadVersions;
  readonly log: EventLog;
  readonly clock: Clock;
}

/** Gives the deliveries that a replay took a new schedule, and records missed events. */
export class ReplaySender {
  constructor(private readonly parts: ReplaySenderParts) {}

  /**
   * Sends taken deliveries. Idempotent, even if another process does the same concurrently: each delivery gets its
   * schedule once. A delivery that no longer matches the replay stays unchanged.
   * @param found deliveries and events already in memory
   * @returns the deliveries by id, as now stored; undefined for an event that cannot be rebuilt
   * @throws Unavailable, also if only some were sent; Busy if none was
   */
  async send(
    replay: ReplayDocument,
    endpoint: EndpointDocument,
    taken: readonly TakenDelivery[],
    found: readonly FoundItem[] = [],
  ): Promise<ReadonlyMap<string, DeliveryDocument | undefined>> {
    const rows = found.flatMap(({ event }) => event ?? []);
    const atHand = found.length > 0 ? found.flatMap(({ delivery }) => delivery ?? []) : undefined;
    // Each delivery is due a millisecond after the previous one, which preserves their order.
    const first = this.parts.clock().getTime() + REPLAY_DELAY_MS;
    const due = new Map(taken.map(({ id }, index) => [id, new Date(first + index).toISOString()]));
    const sent = new Map<string, DeliveryDocument | undefined>();
    let left = taken;
    let isFirst = true;
    await retryConflicts(`deliveries of replay ${replay.id}`, async () => {
      const stored = (isFirst ? atHand : undefined) ?? (await this.parts.queries.findByIds(left.map(({ id }) => id)));
      isFirst = false;
      const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
      const missed = await this.createMissed(
        endpoint,
        left.filter(({ id }) => !known.has(id)),
        rows,
      );
      await this.parts.recounts.requestForRestored(stored);
      const write = async ({ id }: TakenDelivery) => {
        const [delivery, at = ''] = [known.get(id), due.get(id)];
        if (delivery !== undefined) return this.replace(replay, delivery, at);
        const made = missed.get(id);
        return made === undefined
          ? { is: undefined }
          : this.insert({ ...made, next_attempt_at: at, replay_id: replay.id });
      };
      const written = await Promise.allSettled(
        left.map(async (one) => {
          const outcome = await write(one);
          if (outcome !== 'changed') sent.set(one.id, outcome.is);
        }),
      );
      const errors = written.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      if (errors.length > 0) throw errors.find((error) => !isKnownUndone(error)) ?? errors[0];
      left = left.filter(({ id }) => !sent.has(id));
      return left.length === 0 || undefined;
    }).catch((error: unknown) => {
      throw sent.size === 0 ? error : withUnknownOutcome(error);
    });
    return sent;
  }

  private async replace(replay: ReplayDocument, before: DeliveryDocument, at: string) {
    const isSent = before.replay_id === replay.id;
    if (isSent || !(isScheduled(before) || matchesReplay(replay, before))) return { is: before };
    const after = toDocument(restartSchedule(before, at, replay.id));
    return (await this.parts.deliveries.replace(after, { revision: before.revision })) ? { is: after } : 'changed';
  }

  private async insert(delivery: Delivery) {
    const document = toDocument(delivery);
    return (await this.parts.deliveries.insert(document)) ? { is: document } : 'changed';
  }

  /** Stores the bodies of missed events that can be rebuilt, and returns their deliveries. */
  private async createMissed(
    endpoint: EndpointDocument,
    taken: readonly TakenDelivery[],
    rows: readonly LoggedEventRow[],
  ): Promise<ReadonlyMap<string, Delivery>> {
    if (taken.length === 0) return new Map();
    const { log, payloads, versions, clock } = this.parts;
    const { workspace_id, environment, id: endpoint_id, api_version } = endpoint;
    const atHand = new Map(rows.map((row) => [row.id, row]));
    const lacking = taken.map(({ event_id }) => event_id).filter((id) => !atHand.has(id));
    const found = lacking.length === 0 ? [] : await log.find(endpoint, lacking);
    for (const row of found) atHand.set(row.id, row);
    const events = await log.make(taken.flatMap(({ event_id }) => atHand.get(event_id) ?? []));
    const made = events.map((event) => {
      const version = versions.versionFor(event, api_version);
      return { event, version, payload_id: payloadId(event.id, version) };
    });
    const madeById = new Map(made.map((one) => [one.event.id, one]));
    const at = clock().toISOString();
    // A stored body is kept, even if it would be rendered differently today.
    const stored = await payloads.findStoredIds(made.map(({ payload_id }) => payload_id));
    const bodies: PayloadDocument[] = [];
    const deliveries = new Map<string, Delivery>();
    for (const { id, event_id } of taken) {
      const one = madeById.get(event_id);
      if (one === undefined) continue;
      const { event, version, payload_id } = one;
      const about = { workspace_id, environment, event_id, event_type: event.type, event_created_at: event.created_at };
      deliveries.set(id, createDeliveryDocument(about, endpoint_id, payload_id, at));
      if (stored.has(payload_id)) continue;
      bodies.push({ id: payload_id, body: renderBody(event, version, false, versions), created_at: at });
    }
    await payloads.store(bodies);
    for (const { id, body } of bodies) payloads.addToCache(id, body);
    return deliveries;
  }
}
