import {
  API_VERSIONS,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type JsonValue,
  type Timestamp,
} from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
import { inScope } from '../endpoints/endpoint-store.ts';
import { noSuchDelivery } from '../refusals.ts';
import type {
  DeliveryFilter,
  ListDeliveries,
  Listed,
  PageRequest,
  Scope,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../requests.ts';
import { BY_CREATION, type Bundles, secondOf } from './bundles.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  attemptIds,
  eventTimeOf,
  toDelivery,
} from './delivery-document.ts';
import { type PayloadDocument, payloadId } from './payloads.ts';

const ORDER = ['created_at', 'id'] as const;
/** More than endpoints can have been there since the event. */
const MOST_OF_AN_EVENT = 5_000;
/** Taken apart at once for a page. */
const MOST_BUNDLES = 32;
/** Before and after all times. */
const [FIRST, LAST] = ['', '~'];

/** The log of deliveries. */
export class DeliveryQueries {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly bundles: Bundles,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly payloads: Collection<PayloadDocument>,
  ) {}

  /** @throws not_found when it is of none of these scopes */
  async require(scopes: readonly Scope[], id: string): Promise<DeliveryDocument> {
    const found = (await this.deliveries.get(id)) ?? (await this.bundled(scopes, id));
    if (found === undefined || !isOfOne(scopes, found)) throw noSuchDelivery();
    return found;
  }

  async detail(scopes: readonly Scope[], id: string): Promise<WebhookDeliveryDetail> {
    const delivery = await this.require(scopes, id);
    const [payload, attempts] = await Promise.all([
      this.payloads.get(delivery.payload_id),
      this.attempts.getMany(attemptIds(id, delivery.attempts_count)),
    ]);
    const shown = attempts.map(({ id: _id, ...attempt }): WebhookAttempt => attempt);
    // Interrupted while it is being moved, an attempt is in both places.
    const earlier = shown.filter(({ number }) => number < delivery.attempts_count);
    const all = delivery.latest_attempt === undefined ? earlier : [...earlier, delivery.latest_attempt];
    return {
      ...toDelivery(delivery),
      payload: payload === undefined ? null : (JSON.parse(payload.body) as JsonValue),
      attempts: all.sort((one, other) => one.number - other.number),
    };
  }

  async list({ scopes, filter, limit, after }: ListDeliveries): Promise<Listed<WebhookDelivery>> {
    const found = await this.find(scopes, filter, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last !== undefined ? [last.created_at, last.id] : null;
    return { items: items.map(toDelivery), next };
  }

  private async bundled(scopes: readonly Scope[], id: string): Promise<DeliveryDocument | undefined> {
    const at = eventTimeOf(id);
    if (at === undefined) return undefined;
    await this.bundles.takeApartWith(scopes, at, (one) => one.id === id);
    return this.deliveries.get(id);
  }

  /** The deliveries that match, by creation: takes the bundles apart in which there may be some of the page. */
  async find(
    scopes: readonly Scope[],
    filter: DeliveryFilter,
    page: PageRequest,
    descending = true,
  ): Promise<readonly DeliveryDocument[]> {
    const find = () => this.findStored(scopes, filter, page, descending);
    if (filter.statuses?.includes('pending') === false) return find();
    if (filter.event_id !== undefined) {
      await this.takeApartOf(scopes, filter.event_id);
      return find();
    }
    // What is recorded from now on is none of this page's: else one might wait for the end of a long load.
    const newest = await this.bundles.newest(scopes);
    if (newest === undefined) return find();
    let end = endOf(page, await find(), descending);
    for (let atOnce = 1; ; atOnce = Math.min(2 * atOnce, MOST_BUNDLES)) {
      const part = bundlesOf(filter, page, end, newest, descending);
      const sort = { fields: BY_CREATION, descending };
      const looked = scopes.map(({ workspace_id, environment }) =>
        this.bundles.takeApartFirst({ filter: { workspace_id, environment, ...part }, sort, limit: atOnce }),
      );
      const isComplete = !(await Promise.all(looked)).includes(true);
      // Read after the look: what others took apart before it is there.
      const found = await find();
      const reached = end;
      end = endOf(page, found, descending);
      if (isComplete && (descending ? end >= reached : end <= reached)) return found;
    }
  }

  private async takeApartOf(scopes: readonly Scope[], event_id: string): Promise<void> {
    const payloads = await this.payloads.getMany(API_VERSIONS.map((version) => payloadId(event_id, version)));
    for (const { body } of payloads) {
      const { created_at } = JSON.parse(body) as { readonly created_at: Timestamp };
      await this.bundles.takeApartWith(scopes, created_at, (one) => one.event_id === event_id);
    }
  }

  /**
   * The deliveries that match, by creation. Those of an endpoint or a scope lie in order for each status in an index: what
   * is asked for over several is merged from the beginnings of each.
   */
  private async findStored(
    scopes: readonly Scope[],
    filter: DeliveryFilter,
    { limit, after }: PageRequest,
    descending: boolean,
  ): Promise<readonly DeliveryDocument[]> {
    const { event_id, endpoint_id, statuses = DELIVERY_STATUSES } = filter;
    const direction = descending ? -1 : 1;
    const sort = { fields: ORDER, descending };
    const resume = after === undefined ? {} : { after };
    const find = (part: Filter) =>
      this.deliveries.find({ filter: { ...conditions(filter), ...part }, sort, limit, ...resume });
    const ofStatus = (status: DeliveryStatus): readonly Promise<readonly DeliveryDocument[]>[] => {
      // All that an endpoint has is of one scope.
      if (endpoint_id !== undefined) return [find({ endpoint_id, status })];
      return scopes.map(({ workspace_id, environment }) => find({ workspace_id, environment, status }));
    };
    const found =
      event_id === undefined ? await Promise.all(statuses.flatMap(ofStatus)) : [await this.ofEvent(event_id)];
    // One that changed its status in between was found under both.
    const different = new Map(found.flat().map((delivery) => [delivery.id, delivery]));
    return [...different.values()]
      .filter((delivery) => isOfOne(scopes, delivery) && matches(delivery, filter))
      .filter((delivery) => after === undefined || direction * compare(keyOf(delivery), after.join(' ')) > 0)
      .sort((one, other) => direction * compare(keyOf(one), keyOf(other)))
      .slice(0, limit);
  }

  /** Few: one for each endpoint of a scope. */
  private ofEvent(event_id: string): Promise<readonly DeliveryDocument[]> {
    return this.deliveries.find({ filter: { event_id }, limit: MOST_OF_AN_EVENT });
  }
}

/** How far a page reaches, by creation. */
function endOf({ limit }: PageRequest, found: readonly DeliveryDocument[], descending: boolean): Timestamp {
  const last = found.length < limit ? undefined : found.at(-1);
  return last?.created_at ?? (descending ? FIRST : LAST);
}

/** Which of the bundles up to the newest may hold deliveries of a page. */
function bundlesOf(
  { endpoint_id, event_type, since, until }: DeliveryFilter,
  { after }: PageRequest,
  end: Timestamp,
  newest: Timestamp,
  descending: boolean,
): Filter {
  const [from, to] = descending ? [end, after?.[0] ?? LAST] : [after?.[0] ?? FIRST, end];
  const seconds = {
    ...(since === undefined ? {} : { gte: secondOf(since) }),
    ...(until === undefined ? {} : { lte: secondOf(until) }),
  };
  return {
    ...(endpoint_id === undefined ? {} : { endpoint_id }),
    ...(event_type === undefined ? {} : { event_type }),
    last_created_at: { gte: from, lte: newest },
    first_created_at: { lte: to },
    ...(Object.keys(seconds).length === 0 ? {} : { second: seconds }),
  };
}

function matches(delivery: DeliveryDocument, filter: DeliveryFilter): boolean {
  const { endpoint_id, event_type, statuses, since, until } = filter;
  return (
    (endpoint_id === undefined || delivery.endpoint_id === endpoint_id) &&
    (event_type === undefined || delivery.event_type === event_type) &&
    (statuses === undefined || statuses.includes(delivery.status)) &&
    (since === undefined || delivery.event_created_at >= since) &&
    (until === undefined || delivery.event_created_at <= until)
  );
}

function conditions({ endpoint_id, event_type, since, until }: DeliveryFilter): Filter {
  const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) };
  return {
    ...(endpoint_id === undefined ? {} : { endpoint_id }),
    ...(event_type === undefined ? {} : { event_type }),
    ...(Object.keys(bounds).length === 0 ? {} : { event_created_at: bounds }),
  };
}

function isOfOne(scopes: readonly Scope[], delivery: DeliveryDocument): boolean {
  return scopes.some((scope) => inScope(delivery, scope));
}

function keyOf({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
