import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { Clock, Collection, CollectionSpec, Document } from '@tracking/ports';
import { DutyCycle } from '@tracking/resilience';
import { HourCounter, type HourCounts, startOfNextHour, startOfHour, shardOf } from '@tracking/webhooks-domain';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type StoredAttempt,
  attemptIds,
} from '../store/delivery-document.ts';
import type { RetentionWatermark } from '../store/delivery-queries.ts';

/** Counts of the attempts at an endpoint in an hour. Only the endpoint's owner writes them. */
export interface HourDocument extends Document, HourCounts {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  /** Of the lease under which it was written: a write of an earlier owner is refused. */
  readonly epoch: number;
  /**
   * Shard of the endpoint while its owner may have stored outcomes that are not counted here. Absent once all are counted: an
   * owner that ends in between leaves it, and the next one finds it.
   */
  readonly open_in?: number;
  /** The time of {@link HourCounts.last_error}: an index needs a field of its own. */
  readonly last_error_at: Timestamp | null;
  /** It could not be counted again, since the log no longer holds all of its attempts. */
  readonly is_incomplete?: true;
}

/** Counted again from the log if a power cut loses them. */
export const HOURS: CollectionSpec = {
  name: 'webhook_hours',
  indexes: [
    { name: 'endpoint', fields: ['endpoint_id', 'hour'] },
    { name: 'open', fields: ['open_in', 'id'] },
    { name: 'hour', fields: ['hour', 'id'] },
  ],
  durability: 'ordered',
};

/**
 * Attempts are counted again after their owner crashed. Discards are counted again whenever a delivery is discarded, and
 * whenever a discarded one is replayed or delivered: any process may do that.
 */
type RecountedPart = 'attempts' | 'discards';

/** A part of an hour's counts that may be wrong: the endpoint's owner is to count it again. */
export interface RecountDocument extends Document {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  readonly part: RecountedPart;
  readonly shard: number;
  /** Of the latest request: a request is deleted only in the form in which it was read. */
  readonly token: string;
}

export const RECOUNTS: CollectionSpec = {
  name: 'webhook_recounts',
  indexes: [
    { name: 'shard', fields: ['shard', 'id'] },
    { name: 'endpoint', fields: ['endpoint_id'] },
  ],
  durability: 'ordered',
};

export function hourId(endpointId: string, hour: Timestamp): string {
  return `${endpointId}.${hour}`;
}

/** Requests to count an hour again, made when its counts may be wrong. */
export class RecountRequests {
  constructor(readonly documents: Collection<RecountDocument>) {}

  /** Stored when it resolves: the hour is counted after that, whether or not it is being counted now. */
  async request(part: RecountedPart, endpointId: string, hour: Timestamp): Promise<void> {
    await this.documents.upsert(createRequest(part, endpointId, hour));
  }

  /** Requests the hours that a former owner left open, before the caller counts anything in them. */
  async requestOpenHours(hours: readonly Pick<HourDocument, 'endpoint_id' | 'hour'>[]): Promise<void> {
    await this.documents.writeMany(
      hours.map(({ endpoint_id, hour }) => ({
        kind: 'insert',
        document: createRequest('attempts', endpoint_id, hour),
      })),
    );
  }

  /** Call it before deliveries of these endpoints are discarded at that time: they are counted in any case. */
  async requestForDiscards(endpointIds: readonly string[], at: Timestamp): Promise<void> {
    for (const id of new Set(endpointIds)) await this.request('discards', id, startOfHour(at));
  }

  /** Call it before a discarded one of these deliveries is replayed or stored as delivered. */
  async requestForRestored(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const discarded = deliveries.flatMap(({ endpoint_id, discarded_at: at }) => (at ? [{ endpoint_id, at }] : []));
    const requests = discarded.map(({ endpoint_id, at }) => createRequest('discards', endpoint_id, startOfHour(at)));
    for (const request of new Map(requests.map((each) => [each.id, each])).values()) {
      await this.documents.upsert(request);
    }
  }
}

function createRequest(part: RecountedPart, endpoint_id: string, hour: Timestamp): RecountDocument {
  const id = `${hourId(endpoint_id, hour)}.${part}`;
  return { id, endpoint_id, hour, part, shard: shardOf(endpoint_id), token: randomUUID() };
}

const DELIVERIES_PER_READ = 100;
const ATTEMPTS_PER_READ = 200;
/** Largest share of the time that counting from the log may take: deliveries come first. */
const MAX_RECOUNT_SHARE = 0.2;
/** Largest difference between the clocks of one owner and the next. */
const MAX_CLOCK_DIFFERENCE_MS = 600_000;

type LoggedAttempt = Omit<StoredAttempt, 'response'>;

/** The log no longer holds all attempts of the hour. */
export class LogIncomplete extends Error {
  override readonly name = 'LogIncomplete';
}
/** A delivery was attempted again meanwhile, and it is unknown whether it was counted before. */
export class ConcurrentAttempt extends Error {
  override readonly name = 'ConcurrentAttempt';
}

export interface HourLogParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly watermark: RetentionWatermark;
  readonly clock: Clock;
}

/** Counts hours from the log of deliveries and attempts. */
export class HourLog {
  private readonly pace = new DutyCycle({ share: MAX_RECOUNT_SHARE });

  constructor(private readonly parts: HourLogParts) {}

  /**
   * Counts all attempts of the hour. Discard the result if any attempt of that hour was stored meanwhile.
   * @throws NotInLog, Disturbed
   */
  async attempts(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<HourCounts> {
    const counter = new HourCounter();
    const begun = new Date(this.parts.clock().getTime() - MAX_CLOCK_DIFFERENCE_MS).toISOString();
    const seen = new SeenDeliveries(begun);
    const since = new Date(Date.parse(hour) - MAX_CLOCK_DIFFERENCE_MS).toISOString();
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const page = await this.pace.run(async () => {
        const filter = { endpoint_id, last_attempt_at: { gte: since } };
        const sort = { fields: ['last_attempt_at', 'id'] };
        const found = await this.parts.deliveries.find({
          filter,
          sort,
          limit: DELIVERIES_PER_READ,
          index: 'attempted',
          ...resume,
        });
        for (const [delivery, attempts] of await this.readWithAttempts(found)) {
          const counted = attemptsInHour(attempts, hour);
          if (seen.isNew(delivery, counted)) for (const attempt of counted) counter.count(attempt);
        }
        return found;
      }, ending);
      ending.throwIfAborted();
      const last = page.at(-1);
      // The watermark is read last, since deliveries that were deleted in between are not counted.
      if (last === undefined) break;
      after = [last.last_attempt_at ?? '', last.id];
    }
    await this.requireRetained(hour);
    return counter.counts;
  }

  /** Counts deliveries that were discarded within the hour, as the log has them now. @throws NotInLog */
  async discards(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<number> {
    const filter = { endpoint_id, discarded_at: { gte: hour, lt: startOfNextHour(hour) } };
    const count = await this.pace.run(() => this.parts.deliveries.count(filter, { index: 'discards' }), ending);
    await this.requireRetained(hour);
    return count;
  }

  private async requireRetained(hour: Timestamp): Promise<void> {
    if ((await this.parts.watermark.read()) > hour) throw new LogIncomplete(hour);
  }

  /** The deliveries, each with its attempts in the order of their numbers. */
  private async readWithAttempts(found: readonly DeliveryDocument[]) {
    const deliveries = found.filter(({ sandbox }) => !sandbox);
    const ids = deliveries.flatMap(({ id, attempts_count }) => attemptIds(id, attempts_count));
    const byDelivery = Map.groupBy(await this.readEarlier(ids), ({ id }) => id.slice(0, id.lastIndexOf('.')));
    return deliveries.map((delivery) => {
      const { id, attempts_count, latest_attempt } = delivery;
      // After an interruption of its move an attempt is in both places.
      const kept = (byDelivery.get(id) ?? []).filter(({ number }) => number < attempts_count);
      const all: LoggedAttempt[] = latest_attempt === undefined ? kept : [...kept, latest_attempt];
      return [delivery, all.toSorted((one, other) => one.number - other.number)] as const;
    });
  }

  /** Reads few attempts at once, and drops the answers, which may be large. */
  private async readEarlier(ids: readonly string[]): Promise<readonly (LoggedAttempt & Document)[]> {
    const found: (LoggedAttempt & Document)[] = [];
    for (let at = 0; at < ids.length; at += ATTEMPTS_PER_READ) {
      const some = await this.parts.attempts.getMany(ids.slice(at, at + ATTEMPTS_PER_READ));
      found.push(...some.map(({ response: _answer, ...rest }) => rest));
    }
    return found;
  }
}

/** The attempts of the hour. @throws NotInLog if the log may have dropped others between them */
function attemptsInHour(attempts: readonly LoggedAttempt[], hour: Timestamp): readonly LoggedAttempt[] {
  const end = startOfNextHour(hour);
  const isGap = attempts.some((attempt, n) => {
    const next = attempts[n + 1];
    return next !== undefined && next.number > attempt.number + 1 && attempt.at < end && next.at >= hour;
  });
  if (isGap) throw new LogIncomplete(hour);
  return attempts.filter(({ at }) => startOfHour(at) === hour);
}

/**
 * A delivery that is attempted while the log is being read moves ahead, where it is found once more. Deliveries of the hour
 * that retry are remembered; one that succeeded is attempted again only if a person requested it.
 */
class SeenDeliveries {
  private readonly retrying = new Set<string>();

  /** @param begun an attempt that ended before can have moved no delivery since */
  constructor(private readonly begun: Timestamp) {}

  /** @param counted the delivery's attempts of the hour. @throws Disturbed */
  isNew({ id, status, attempts_count, last_attempt_at }: DeliveryDocument, counted: readonly LoggedAttempt[]): boolean {
    if (counted.length === 0 || this.retrying.has(id)) return false;
    if (status !== 'succeeded') this.retrying.add(id);
    const succeeded = counted.some(({ number, error }) => error === null && number < attempts_count);
    if (succeeded && (last_attempt_at ?? '') >= this.begun) throw new ConcurrentAttempt(id);
    return true;
  }
}
