import type { PayloadVersionConverter } from '@tracking/contracts';
import { type Clock, type Collection, isErrorWithoutEffect, convertToUnknownOutcomeError } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import {
  type Delivery,
  hasScheduledAttemptsLeft,
  renderDeliveryBody,
  resetDeliveryRetrySchedule,
} from '@tracking/webhooks-domain';
import { type EndpointDocument, computePayloadFormat } from '../endpoints/endpoint-document.ts';
import type { HourRecountRequestStore } from '../stats/hour-log.ts';
import {
  type DeliveryDocument,
  type PayloadDocument,
  type PayloadStore,
  createPayloadId,
  createDeliveryDocument,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';
import {
  type EventLog,
  type FoundItem,
  type LoggedEventWithoutData,
  doesDeliveryMatchReplay,
} from './replay-source.ts';
import type { ReplayDocument, DeliveryTakenByReplay } from './replay-store.ts';

/**
 * Delay after which a replayed delivery is due. A replayed delivery is sent earlier if the endpoint has no other due
 * delivery. Live events therefore go first, and a replayed delivery waits no longer than this delay.
 */
const REPLAYED_DELIVERY_DELAY_MS = 1_000;

interface ReplaySenderDependencies {
  readonly queries: DeliveryQueries;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly recounts: HourRecountRequestStore;
  readonly payloads: PayloadStore;
  readonly versions: PayloadVersionConverter;
  readonly log: EventLog;
  readonly clock: Clock;
}

/** Assigns a new schedule to the deliveries that a replay took, and records missed events. */
export class ReplaySender {
  constructor(private readonly dependencies: ReplaySenderDependencies) {}

  /**
   * Sends taken deliveries. Idempotent: each delivery gets its new schedule once, even if several processes call this
   * concurrently. A delivery that no longer matches the replay stays unchanged.
   * @param found deliveries and events already in memory
   * @returns the deliveries by id, as now stored; undefined for an event that cannot be rebuilt
   * @throws UnavailableError if some deliveries may not be sent; BusyError if no delivery was sent
   */
  async sendTakenDeliveries(
    replay: ReplayDocument,
    endpoint: EndpointDocument,
    taken: readonly DeliveryTakenByReplay[],
    found: readonly FoundItem[] = [],
  ): Promise<ReadonlyMap<string, DeliveryDocument | undefined>> {
    const rows = found.flatMap(({ event }) => event ?? []);
    let atHand = found.length > 0 ? found.flatMap(({ delivery }) => delivery ?? []) : undefined;
    // Each delivery is due a millisecond after the previous one, which preserves their order.
    const first = this.dependencies.clock().getTime() + REPLAYED_DELIVERY_DELAY_MS;
    const due = new Map(taken.map(({ id }, index) => [id, new Date(first + index).toISOString()]));
    const sent = new Map<string, DeliveryDocument | undefined>();
    let left = taken;
    await retryConflicts(this.dependencies.deliveries, `deliveries of replay ${replay.id}`, async () => {
      const stored =
        atHand ??
        (await this.dependencies.queries.findDeliveriesByIds(
          replay,
          left.map(({ id }) => id),
        ));
      // Read the deliveries again after a conflict, because the ones in memory are outdated.
      atHand = undefined;
      const known = new Map(stored.map((delivery) => [delivery.id, delivery]));
      const missed = await this.createMissedDeliveries(
        endpoint,
        left.filter(({ id }) => !known.has(id)),
        rows,
      );
      const write = async ({ id }: DeliveryTakenByReplay) => {
        const [delivery, at = ''] = [known.get(id), due.get(id)];
        if (delivery !== undefined) return this.rescheduleDelivery(replay, delivery, at);
        const made = missed.get(id);
        return made === undefined
          ? { is: undefined }
          : this.insertDelivery({ ...made, next_attempt_at: at, replay_id: replay.id });
      };
      const writeAll = () =>
        Promise.allSettled(
          left.map(async (one) => {
            const outcome = await write(one);
            if (outcome !== 'changed') sent.set(one.id, outcome.is);
          }),
        );
      const written = await this.dependencies.recounts.requestDiscardRecountsAroundRestore(stored, writeAll);
      const errors = written.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      if (errors.length > 0) throw errors.find((error) => !isErrorWithoutEffect(error)) ?? errors[0];
      left = left.filter(({ id }) => !sent.has(id));
      return left.length === 0 || undefined;
    }).catch((error: unknown) => {
      throw sent.size === 0 ? error : convertToUnknownOutcomeError(error);
    });
    return sent;
  }

  private async rescheduleDelivery(replay: ReplayDocument, before: DeliveryDocument, at: string) {
    const isSent = before.replay_id === replay.id;
    if (isSent || !(hasScheduledAttemptsLeft(before) || doesDeliveryMatchReplay(replay, before))) return { is: before };
    const after = convertToDeliveryDocument(resetDeliveryRetrySchedule(before, at, replay.id));
    return (await this.dependencies.deliveries.replace(after, { revision: before.revision }))
      ? { is: after }
      : 'changed';
  }

  private async insertDelivery(delivery: Delivery) {
    const document = convertToDeliveryDocument(delivery);
    return (await this.dependencies.deliveries.insert(document)) ? { is: document } : 'changed';
  }

  /** Stores the bodies of missed events that can be rebuilt, and returns their deliveries. */
  private async createMissedDeliveries(
    endpoint: EndpointDocument,
    taken: readonly DeliveryTakenByReplay[],
    rows: readonly LoggedEventWithoutData[],
  ): Promise<ReadonlyMap<string, Delivery>> {
    if (taken.length === 0) return new Map();
    const { log, payloads, versions, clock } = this.dependencies;
    const { workspace_id, environment, id: endpoint_id } = endpoint;
    const atHand = new Map(rows.map((row) => [row.id, row]));
    const lacking = taken.map(({ event_id }) => event_id).filter((id) => !atHand.has(id));
    const found = lacking.length === 0 ? [] : await log.find(endpoint, lacking);
    for (const row of found) atHand.set(row.id, row);
    const events = await log.makeEvents(taken.flatMap(({ event_id }) => atHand.get(event_id) ?? []));
    const made = events.map((event) => {
      const format = computePayloadFormat(event, endpoint, versions);
      return { event, format, payload_id: createPayloadId(event.id, format) };
    });
    const madeById = new Map(made.map((one) => [one.event.id, one]));
    const at = clock().toISOString();
    // Keep a stored body, even if this release would render the event differently.
    const stored = await payloads.findStoredPayloadIds(made.map(({ payload_id }) => payload_id));
    const bodies: PayloadDocument[] = [];
    const deliveries = new Map<string, Delivery>();
    for (const { id, event_id } of taken) {
      const one = madeById.get(event_id);
      if (one === undefined) continue;
      const { event, format, payload_id } = one;
      const about = { workspace_id, environment, event_id, event_type: event.type, event_created_at: event.created_at };
      deliveries.set(id, createDeliveryDocument(about, endpoint_id, payload_id, at));
      if (stored.has(payload_id)) continue;
      bodies.push({ id: payload_id, body: renderDeliveryBody(event, format, false, versions), created_at: at });
    }
    await payloads.storePayloads(bodies);
    for (const { id, body } of bodies) payloads.cachePayloadBody(id, body);
    return deliveries;
  }
}
