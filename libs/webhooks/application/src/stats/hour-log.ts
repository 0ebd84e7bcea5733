import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { Clock, Collection, CollectionSpec, Document } from '@tracking/ports';
import { DutyCycle } from '@tracking/resilience';
import { HourCounter, type HourCounts, hourAfter, hourOf, shardOf } from '@tracking/webhooks-domain';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type StoredAttempt,
  attemptIds,
} from '../store/delivery-document.ts';
import type { RetentionWatermark } from '../store/delivery-queries.ts';

/** What became of the attempts at an endpoint in an hour: written by the endpoint's owner alone. */
export interface HourDocument extends Document, HourCounts {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  /** Of the lease under which it was written: what an earlier owner still writes is refused. */
  readonly epoch: number;
  /**
   * Shard of the endpoint while its owner may have stored outcomes that are not counted here. Absent once all are: an owner
   * that ends in between leaves it, and the next one finds it.
   */
  readonly open_in?: number;
  /** The time of {@link HourCounts.last_error}: what is sought has to be a field of its own. */
  readonly last_error_at: Timestamp | null;
  /** It could not be counted anew, since the log does not hold all of it any more. */
  readonly is_incomplete?: true;
}

/** Counted anew from the log should a power cut take them back. */
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
 * Attempts are counted again after their owner ended without a word, discards whenever a delivery is discarded, and whenever
 * a discarded one is replayed or delivered: any process may do that.
 */
export type Recounted = 'attempts' | 'discards';

/** A part of an hour's counts that may be wrong: the endpoint's owner is to count it anew. */
export interface RecountDocument extends Document {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  readonly part: Recounted;
  readonly shard: number;
  /** Of the latest request: it is taken away only as it was when it was read. */
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

/** Requests to count an hour anew, from whoever knows that its counts may be wrong. */
export class Recounts {
  constructor(readonly documents: Collection<RecountDocument>) {}

  /** Stored when it resolves: the hour is counted after that, whether or not it is being counted now. */
  async request(part: Recounted, endpointId: string, hour: Timestamp): Promise<void> {
    await this.documents.upsert(requestOf(part, endpointId, hour));
  }

  /** Hours that a former owner left open: nothing of them has been counted yet by whoever finds that. */
  async leftOpen(hours: readonly Pick<HourDocument, 'endpoint_id' | 'hour'>[]): Promise<void> {
    await this.documents.writeMany(
      hours.map(({ endpoint_id, hour }) => ({ kind: 'insert', document: requestOf('attempts', endpoint_id, hour) })),
    );
  }

  /** Before any deliveries of these endpoints are discarded as of then: whatever becomes of that, it is counted. */
  async beforeDiscards(endpointIds: readonly string[], at: Timestamp): Promise<void> {
    for (const id of new Set(endpointIds)) await this.request('discards', id, hourOf(at));
  }

  /** Before any of these deliveries that are discarded is replayed or stored as delivered. */
  async beforeRestoring(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const discarded = deliveries.flatMap(({ endpoint_id, discarded_at: at }) => (at ? [{ endpoint_id, at }] : []));
    const requests = discarded.map(({ endpoint_id, at }) => requestOf('discards', endpoint_id, hourOf(at)));
    for (const request of new Map(requests.map((each) => [each.id, each])).values()) {
      await this.documents.upsert(request);
    }
  }
}

function requestOf(part: Recounted, endpoint_id: string, hour: Timestamp): RecountDocument {
  const id = `${hourId(endpoint_id, hour)}.${part}`;
  return { id, endpoint_id, hour, part, shard: shardOf(endpoint_id), token: randomUUID() };
}

const AT_ONCE = 100;
const ATTEMPTS_AT_ONCE = 200;
/** Of the time that counting from the log takes at most: deliveries come first. */
const SHARE = 0.2;
/** By so much the clocks of one owner and the next may differ. */
const SLACK_MS = 600_000;

type LoggedAttempt = Omit<StoredAttempt, 'response'>;

/** The log cannot tell: it does not hold all attempts of the hour any more. */
export class NotInLog extends Error {
  override readonly name = 'NotInLog';
}
/** A delivery was attempted again meanwhile, and nobody can tell whether it was counted before. */
export class Disturbed extends Error {
  override readonly name = 'Disturbed';
}

export interface HourLogParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly watermark: RetentionWatermark;
  readonly clock: Clock;
}

/** Counts hours from the log of deliveries and attempts. */
export class HourLog {
  private readonly pace = new DutyCycle({ share: SHARE });

  constructor(private readonly parts: HourLogParts) {}

  /**
   * All attempts of the hour. To be thrown away where any of that hour was stored meanwhile.
   * @throws NotInLog, Disturbed
   */
  async attempts(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<HourCounts> {
    const counter = new HourCounter();
    const begun = new Date(this.parts.clock().getTime() - SLACK_MS).toISOString();
    const seen = new SeenDeliveries(begun);
    const since = new Date(Date.parse(hour) - SLACK_MS).toISOString();
    let after: readonly string[] | undefined;
    for (;;) {
      const resume = after === undefined ? {} : { after };
      const page = await this.pace.work(async () => {
        const filter = { endpoint_id, last_attempt_at: { gte: since } };
        const sort = { fields: ['last_attempt_at', 'id'] };
        const found = await this.parts.deliveries.find({ filter, sort, limit: AT_ONCE, index: 'attempted', ...resume });
        for (const [delivery, attempts] of await this.withAttempts(found)) {
          const counted = inHour(attempts, hour);
          if (seen.isNew(delivery, counted)) for (const attempt of counted) counter.count(attempt);
        }
        return found;
      }, ending);
      ending.throwIfAborted();
      const last = page.at(-1);
      // Asked last, since what was deleted in between is not counted.
      if (last === undefined) break;
      after = [last.last_attempt_at ?? '', last.id];
    }
    await this.requireKept(hour);
    return counter.counts;
  }

  /** Deliveries discarded within the hour, as the log has it now. @throws NotInLog */
  async discards(endpoint_id: string, hour: Timestamp, ending: AbortSignal): Promise<number> {
    const filter = { endpoint_id, discarded_at: { gte: hour, lt: hourAfter(hour) } };
    const count = await this.pace.work(() => this.parts.deliveries.count(filter, { index: 'discards' }), ending);
    await this.requireKept(hour);
    return count;
  }

  private async requireKept(hour: Timestamp): Promise<void> {
    if ((await this.parts.watermark.before()) > hour) throw new NotInLog(hour);
  }

  /** Each with its attempts, by their numbers. */
  private async withAttempts(found: readonly DeliveryDocument[]) {
    const deliveries = found.filter(({ sandbox }) => !sandbox);
    const ids = deliveries.flatMap(({ id, attempts_count }) => attemptIds(id, attempts_count));
    const byDelivery = Map.groupBy(await this.earlier(ids), ({ id }) => id.slice(0, id.lastIndexOf('.')));
    return deliveries.map((delivery) => {
      const { id, attempts_count, latest_attempt } = delivery;
      // Interrupted while it is being moved, an attempt is in both places.
      const kept = (byDelivery.get(id) ?? []).filter(({ number }) => number < attempts_count);
      const all: LoggedAttempt[] = latest_attempt === undefined ? kept : [...kept, latest_attempt];
      return [delivery, all.toSorted((one, other) => one.number - other.number)] as const;
    });
  }

  /** Few at once, and without what was answered: that may be large. */
  private async earlier(ids: readonly string[]): Promise<readonly (LoggedAttempt & Document)[]> {
    const found: (LoggedAttempt & Document)[] = [];
    for (let at = 0; at < ids.length; at += ATTEMPTS_AT_ONCE) {
      const some = await this.parts.attempts.getMany(ids.slice(at, at + ATTEMPTS_AT_ONCE));
      found.push(...some.map(({ response: _answer, ...rest }) => rest));
    }
    return found;
  }
}

/** Those of the hour. @throws NotInLog where there may be others between them that the log has left out */
function inHour(attempts: readonly LoggedAttempt[], hour: Timestamp): readonly LoggedAttempt[] {
  const end = hourAfter(hour);
  const isGap = attempts.some((attempt, n) => {
    const next = attempts[n + 1];
    return next !== undefined && next.number > attempt.number + 1 && attempt.at < end && next.at >= hour;
  });
  if (isGap) throw new NotInLog(hour);
  return attempts.filter(({ at }) => hourOf(at) === hour);
}

/**
 * A delivery that is attempted while the log is gone through moves ahead to where it is met once more. Those of the hour that
 * go on by themselves are remembered; one that had succeeded is attempted again only where a person asked for it.
 */
class SeenDeliveries {
  private readonly goOn = new Set<string>();

  /** @param begun an attempt that ended before can have moved no delivery since */
  constructor(private readonly begun: Timestamp) {}

  /** @param counted its attempts of the hour. @throws Disturbed */
  isNew({ id, status, attempts_count, last_attempt_at }: DeliveryDocument, counted: readonly LoggedAttempt[]): boolean {
    if (counted.length === 0 || this.goOn.has(id)) return false;
    if (status !== 'succeeded') this.goOn.add(id);
    const succeeded = counted.some(({ number, error }) => error === null && number < attempts_count);
    if (succeeded && (last_attempt_at ?? '') >= this.begun) throw new Disturbed(id);
    return true;
  }
}
