import type { PayloadVersions } from '@tracking/contracts';
import { type Clock, type Collection, withUnknownOutcome } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { type Delivery, isScheduled, renderBody, replayed } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { Recounts } from '../stats/hour-log.ts';
import {
  type DeliveryDocument,
  type PayloadDocument,
  type Payloads,
  payloadId,
  recordedDelivery,
  toDocument,
} from '../store/delivery-document.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import { type EventLog, type Found, type LoggedEventRow, isAskedFor } from './replay-source.ts';
import type { ReplayDocument, TakenDelivery } from './replay-store.ts';

/**
 * What is replayed is due only then, and goes earlier where nothing else is due. So a live event waits for an attempt under
 * way at most, and a replay no longer than this where live events leave it no room.
 */
const LIVE_FIRST_MS = 1_000;

export interface ResendingParts {
  readonly queries: DeliveryQueries;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly recounts: Recounts;
  readonly payloads: Payloads;
  readonly versions: PayloadVersions;
  readonly log: EventLog;
  readonly clock: Clock;
}

/** Gives what a replay took a new schedule, and records what was missed. */
export class Resending {
  constructor(private readonly parts: ResendingParts) {}

  /**
   * May be repeated, also by another process at the same time: each gets its schedule once. What came to another end since
   * it was found stays as it is.
   * @param found what is at hand of them
   * @returns by id as they are stored then; undefined for an event that cannot be made again
   * @throws Unavailable, also if only some were sent; Busy if none was
   */
  async send(
    replay: ReplayDocument,
    endpoint: EndpointDocument,
    taken: readonly TakenDelivery[],
    found: readonly Found[] = [],
  ): Promise<ReadonlyMap<string, DeliveryDocument | undefined>> {
    const rows = found.flatMap(({ event }) => event ?? []);
    const atHand = found.length > 0 ? found.flatMap(({ delivery }) => delivery ?? []) : undefined;
    // Each a millisecond after the one before, so that their order is kept.
    const first = this.parts.clock().getTime() + LIVE_FIRST_MS;
    const due = new Map(taken.map(({ id }, index) => [id, new Date(first + index).toISOString()]));
    const sent = new Map<string, DeliveryDocument | undefined>();
    let left = taken;
    let isFirst = true;
    await retryConflicts(`deliveries of replay ${replay.id}`, async () => {
      const stored = (isFirst ? atHand : undefined) ?? (await this.parts.queries.existing(left.map(({ id }) => id)));
      isFirst = false;
      const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
      const missed = await this.missed(
        endpoint,
        left.filter(({ id }) => !known.has(id)),
        rows,
      );
      await this.parts.recounts.beforeRestoring(stored);
      const write = async ({ id }: TakenDelivery) => {
        const [delivery, at = ''] = [known.get(id), due.get(id)];
        if (delivery !== undefined) return this.replace(replay, delivery, at);
        const made = missed.get(id);
        return made === undefined
          ? { is: undefined }
          : this.insert({ ...made, next_attempt_at: at, replay_id: replay.id });
      };
      const written = await Promise.all(left.map(async (one) => [one, await write(one)] as const));
      for (const [{ id }, outcome] of written) if (outcome !== 'changed') sent.set(id, outcome.is);
      left = left.filter(({ id }) => !sent.has(id));
      return left.length === 0 || undefined;
    }).catch((error: unknown) => {
      throw sent.size === 0 ? error : withUnknownOutcome(error);
    });
    return sent;
  }

  private async replace(replay: ReplayDocument, before: DeliveryDocument, at: string) {
    const isSent = before.replay_id === replay.id;
    if (isSent || !(isScheduled(before) || isAskedFor(replay, before))) return { is: before };
    const after = toDocument(replayed(before, at, replay.id));
    return (await this.parts.deliveries.replace(after, { revision: before.revision })) ? { is: after } : 'changed';
  }

  private async insert(delivery: Delivery) {
    const document = toDocument(delivery);
    return (await this.parts.deliveries.insert(document)) ? { is: document } : 'changed';
  }

  /** Deliveries of events that can be made again, their bodies stored. */
  private async missed(
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
    // Their bodies stay as they are, also where they would be made otherwise today.
    const stored = await payloads.existing(made.map(({ payload_id }) => payload_id));
    const bodies: PayloadDocument[] = [];
    const deliveries = new Map<string, Delivery>();
    for (const { id, event_id } of taken) {
      const one = madeById.get(event_id);
      if (one === undefined) continue;
      const { event, version, payload_id } = one;
      const about = { workspace_id, environment, event_id, event_type: event.type, event_created_at: event.created_at };
      deliveries.set(id, recordedDelivery(about, endpoint_id, payload_id, at));
      if (stored.has(payload_id)) continue;
      bodies.push({ id: payload_id, body: renderBody(event, version, false, versions), created_at: at });
    }
    await payloads.store(bodies);
    for (const { id, body } of bodies) payloads.keep(id, body);
    return deliveries;
  }
}
