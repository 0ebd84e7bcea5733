import { randomUUID } from 'node:crypto';
import type { WorkspaceScope, Timestamp } from '@tracking/contracts';
import type { Clock, Collection, CollectionSpec, Document, ShardValues } from '@tracking/ports';
import { BackgroundWorkThrottle } from '@tracking/resilience';
import {
  HourlyAttemptCounter,
  type HourlyAttemptCounts,
  startOfNextHour,
  startOfHour,
  computeShardOfEndpoint,
} from '@tracking/webhooks-domain';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type StoredAttempt,
  listAttemptIds,
  toDeliveryShardValuesOfScopes,
} from '../store/delivery-document.ts';
import type { RetentionWatermarkStore } from '../store/delivery-queries.ts';

/** Counts of the attempts at an endpoint in one hour. Only the endpoint's owner writes them. */
export interface HourDocument extends Document, HourlyAttemptCounts {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  /** Epoch of the lease under which the document was written. A write of an earlier owner is refused. */
  readonly epoch: number;
  /**
   * Shard of the endpoint. Present while the owner may have stored outcomes that are not counted yet. The next owner
   * finds hours left open by this field.
   */
  readonly open_in?: number;
  /** Time of {@link HourlyAttemptCounts.last_error}. A separate field, because an index needs one. */
  readonly last_error_at: Timestamp | null;
  /** Present if a recount was not possible, because the log no longer contains all attempts of the hour. */
  readonly is_incomplete?: true;
}

/** Collection of hours. They are recounted from the log if a power cut loses them. */
export const HOURLY_STATS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_hours',
  indexes: [
    { name: 'endpoint', fields: ['endpoint_id', 'hour'] },
    { name: 'open', fields: ['open_in', 'id'] },
    { name: 'hour', fields: ['hour', 'id'] },
  ],
  durability: 'ordered',
};

/**
 * Part of an hour's counts that is recounted. Attempts are recounted after their owner crashed. Discards are recounted
 * whenever a delivery is discarded, and whenever a discarded one is replayed or delivered, which any process may do.
 */
type RecountedPart = 'attempts' | 'discards';

/** A request to recount a part of an hour that may be wrong. The endpoint's owner carries it out. */
export interface HourlyStatisticsRecountRequest extends Document {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  readonly part: RecountedPart;
  readonly shard: number;
  /** Token of the latest request. The owner deletes a request only if the token has not changed since it was read. */
  readonly token: string;
}

export const HOUR_RECOUNTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_recounts',
  indexes: [
    { name: 'shard', fields: ['shard', 'id'] },
    { name: 'endpoint', fields: ['endpoint_id'] },
  ],
  durability: 'ordered',
};

export function createEndpointHourId(endpointId: string, hour: Timestamp): string {
  return `${endpointId}.${hour}`;
}

/** Requests to recount hours whose counts may be wrong. */
export class HourRecountRequestStore {
  constructor(readonly documents: Collection<HourlyStatisticsRecountRequest>) {}

  /**
   * Requests a recount. The request is stored when this resolves. The hour is then recounted, even if a recount is
   * already in progress.
   */
  async requestRecountOfHour(part: RecountedPart, endpointId: string, hour: Timestamp): Promise<void> {
    await this.documents.upsert(createRecountRequest(part, endpointId, hour));
  }

  /** Requests recounts of hours that a former owner left open. Call this method before counting in these hours. */
  async requestRecountsOfOpenHours(hours: readonly Pick<HourDocument, 'endpoint_id' | 'hour'>[]): Promise<void> {
    await this.documents.writeMany(
      hours.map(({ endpoint_id, hour }) => ({
        kind: 'insert',
        document: createRecountRequest('attempts', endpoint_id, hour),
      })),
    );
  }

  /** Requests a recount of the discards in the hour of `at` before and after `discard`, which discards deliveries. */
  requestRecountAroundDiscard<T>(endpoint_id: string, at: Timestamp, discard: () => Promise<T>): Promise<T> {
    return this.requestRecountsBeforeAndAfterChange([{ endpoint_id, discarded_at: at }], discard);
  }

  /**
   * Requests recounts of the discards among `deliveries` before and after `restore`, which replays these deliveries or
   * stores them as delivered.
   */
  requestDiscardRecountsAroundRestore<T>(
    deliveries: readonly DeliveryDocument[],
    restore: () => Promise<T>,
  ): Promise<T> {
    return this.requestRecountsBeforeAndAfterChange(deliveries, restore);
  }

  /** Requests recounts of the hours in which the deliveries were discarded. */
  async requestRecountsOfDiscardedDeliveries(deliveries: readonly DiscardedDelivery[]): Promise<void> {
    const requested = new Set<string>();
    for (const { endpoint_id, discarded_at } of deliveries) {
      if (discarded_at === undefined) continue;
      const hour = startOfHour(discarded_at);
      const id = createEndpointHourId(endpoint_id, hour);
      if (requested.has(id)) continue;
      await this.requestRecountOfHour('discards', endpoint_id, hour);
      requested.add(id);
    }
  }

  /**
   * Requests a recount of the discarded deliveries before and after the change.
   * The first request remains if the process dies during the change. The second one is needed if the change takes so
   * long that the owner carries out the first request before the change takes effect.
   */
  private async requestRecountsBeforeAndAfterChange<T>(
    deliveries: readonly DiscardedDelivery[],
    change: () => Promise<T>,
  ): Promise<T> {
    await this.requestRecountsOfDiscardedDeliveries(deliveries);
    try {
      return await change();
    } finally {
      await this.requestRecountsOfDiscardedDeliveries(deliveries);
    }
  }
}

type DiscardedDelivery = Pick<DeliveryDocument, 'endpoint_id' | 'discarded_at'>;

function createRecountRequest(
  part: RecountedPart,
  endpoint_id: string,
  hour: Timestamp,
): HourlyStatisticsRecountRequest {
  const id = `${createEndpointHourId(endpoint_id, hour)}.${part}`;
  return { id, endpoint_id, hour, part, shard: computeShardOfEndpoint(endpoint_id), token: randomUUID() };
}

const DELIVERIES_PER_READ = 100;
const DELIVERY_ATTEMPTS_PER_LOG_PAGE = 200;
/** Largest share of time that recounting from the log may use. Deliveries take priority. */
const MAX_RECOUNT_TIME_FRACTION = 0.2;
/** Largest assumed difference between the clocks of an owner and the next one. */
const MAX_CLOCK_DIFFERENCE_MS = 600_000;

type LoggedAttempt = Omit<StoredAttempt, 'response'>;

/** Thrown if the log no longer contains all attempts of the hour. */
export class AttemptLogIncompleteError extends Error {
  override readonly name = 'LogIncomplete';
}
/** Thrown if a delivery was attempted again during the count, and it is unknown whether it was already counted. */
export class DeliveryAttemptedDuringRecountError extends Error {
  override readonly name = 'ConcurrentAttempt';
}

export interface HourlyLogStatisticsDependencies {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly watermark: RetentionWatermarkStore;
  /** Returns the scope of an endpoint. */
  readonly endpoints: { getEndpoint(id: string): Promise<WorkspaceScope | undefined> };
  readonly clock: Clock;
}

/** Computes hourly statistics from the log of deliveries and attempts. */
export class HourlyDeliveryStatisticsCalculator {
  private readonly pace = new BackgroundWorkThrottle({ share: MAX_RECOUNT_TIME_FRACTION });

  constructor(private readonly dependencies: HourlyLogStatisticsDependencies) {}

  /**
   * Counts all attempts of the hour. Discard the result if any attempt of that hour was stored in the meantime.
   * @throws AttemptLogIncompleteError, DeliveryAttemptedDuringRecountError
   */
  async countAttemptsOfHour(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<HourlyAttemptCounts> {
    const counter = new HourlyAttemptCounter();
    const begun = new Date(this.dependencies.clock().getTime() - MAX_CLOCK_DIFFERENCE_MS).toISOString();
    const seen = new SeenDeliveries(begun);
    const since = new Date(Date.parse(hour) - MAX_CLOCK_DIFFERENCE_MS).toISOString();
    const shards = await this.readDeliveryShardsOfEndpoint(endpoint_id);
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const page = await this.pace.runWorkThenRest(async () => {
        const filter = { endpoint_id, last_attempt_at: { gte: since } };
        const sort = { fields: ['last_attempt_at', 'id'] };
        const found = await this.dependencies.deliveries.find({
          filter,
          sort,
          limit: DELIVERIES_PER_READ,
          index: 'attempted',
          shards,
          ...resume,
        });
        for (const [delivery, attempts] of await this.readAttemptsOfDeliveries(found)) {
          const counted = listAttemptsInHour(attempts, hour);
          if (seen.isDeliveryFirstSeen(delivery, counted))
            for (const attempt of counted) counter.countDeliveryAttempt(attempt);
        }
        return found;
      }, ending);
      ending.throwIfAborted();
      const last = page.at(-1);
      // Read the watermark last: deliveries that were deleted during the count are missing.
      if (last === undefined) break;
      after = [last.last_attempt_at ?? '', last.id];
    }
    await this.requireRetainedHour(hour);
    return counter.counts;
  }

  /** Counts deliveries that were discarded within the hour and still are. @throws AttemptLogIncompleteError */
  async countDeliveriesDiscardedInHour(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<number> {
    const filter = { endpoint_id, discarded_at: { gte: hour, lt: startOfNextHour(hour) } };
    const by = { index: 'discards', shards: await this.readDeliveryShardsOfEndpoint(endpoint_id) };
    const count = await this.pace.runWorkThenRest(() => this.dependencies.deliveries.count(filter, by), ending);
    await this.requireRetainedHour(hour);
    return count;
  }

  /** The endpoint is stored as long as it has deliveries. */
  private async readDeliveryShardsOfEndpoint(endpoint_id: string): Promise<ShardValues> {
    const endpoint = await this.dependencies.endpoints.getEndpoint(endpoint_id);
    return endpoint === undefined ? {} : toDeliveryShardValuesOfScopes(endpoint);
  }

  private async requireRetainedHour(hour: Timestamp): Promise<void> {
    if ((await this.dependencies.watermark.readRetentionWatermark()) > hour) throw new AttemptLogIncompleteError(hour);
  }

  /** Reads the attempts of the deliveries, ordered by number. */
  private async readAttemptsOfDeliveries(found: readonly DeliveryDocument[]) {
    const deliveries = found.filter(({ sandbox }) => !sandbox);
    const ids = deliveries.flatMap(({ id, attempts_count }) => listAttemptIds(id, attempts_count));
    const byDelivery = Map.groupBy(await this.readEarlierAttempts(ids), ({ id }) => id.slice(0, id.lastIndexOf('.')));
    return deliveries.map((delivery) => {
      const { id, attempts_count, latest_attempt } = delivery;
      // Count an attempt once: after an interruption it may be in both collections.
      const kept = (byDelivery.get(id) ?? []).filter(({ number }) => number < attempts_count);
      const all: LoggedAttempt[] = latest_attempt === undefined ? kept : [...kept, latest_attempt];
      return [delivery, all.toSorted((one, other) => one.number - other.number)] as const;
    });
  }

  /** Reads few attempts at a time, and drops their responses, which may be large. */
  private async readEarlierAttempts(ids: readonly string[]): Promise<readonly (LoggedAttempt & Document)[]> {
    const found: (LoggedAttempt & Document)[] = [];
    for (let at = 0; at < ids.length; at += DELIVERY_ATTEMPTS_PER_LOG_PAGE) {
      const some = await this.dependencies.attempts.getMany(ids.slice(at, at + DELIVERY_ATTEMPTS_PER_LOG_PAGE));
      found.push(...some.map(({ response: _answer, ...rest }) => rest));
    }
    return found;
  }
}

/** Returns the attempts of the hour. @throws AttemptLogIncompleteError if the log may have dropped others between them */
function listAttemptsInHour(attempts: readonly LoggedAttempt[], hour: Timestamp): readonly LoggedAttempt[] {
  const end = startOfNextHour(hour);
  const isGap = attempts.some((attempt, n) => {
    const next = attempts[n + 1];
    return next !== undefined && next.number > attempt.number + 1 && attempt.at < end && next.at >= hour;
  });
  if (isGap) throw new AttemptLogIncompleteError(hour);
  return attempts.filter(({ at }) => startOfHour(at) === hour);
}

/**
 * Deliveries seen while the log is read. A delivery that is attempted during the read moves ahead in the log and is
 * read twice. Only retrying deliveries are remembered, because other deliveries are attempted again only on request.
 */
class SeenDeliveries {
  private readonly retrying = new Set<string>();

  /** @param begun time before which no attempt can have moved a delivery during the read */
  constructor(private readonly begun: Timestamp) {}

  /** @param counted the delivery's attempts of the hour @throws DeliveryAttemptedDuringRecountError */
  isDeliveryFirstSeen(
    { id, status, attempts_count, last_attempt_at }: DeliveryDocument,
    counted: readonly LoggedAttempt[],
  ): boolean {
    if (counted.length === 0 || this.retrying.has(id)) return false;
    if (status !== 'succeeded') this.retrying.add(id);
    const succeeded = counted.some(({ number, error }) => error === null && number < attempts_count);
    if (succeeded && (last_attempt_at ?? '') >= this.begun) throw new DeliveryAttemptedDuringRecountError(id);
    return true;
  }
}
