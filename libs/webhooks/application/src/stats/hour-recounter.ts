import type { Timestamp } from '@tracking/contracts';
import type { Clock, Lease } from '@tracking/ports';
import {
  type CountedAttempt,
  HourlyAttemptCounter,
  type HourlyAttemptCounts,
  startOfNextHour,
} from '@tracking/webhooks-domain';
import {
  DeliveryAttemptedDuringRecountError,
  type HourDocument,
  type HourlyDeliveryStatisticsCalculator,
  AttemptLogIncompleteError,
  type HourlyStatisticsRecountRequest,
  type HourRecountRequestStore,
} from './hour-log.ts';

const RECOUNT_REQUESTS_PER_READ = 100;

interface HourRecounterDependencies {
  readonly recounts: HourRecountRequestStore;
  readonly log: HourlyDeliveryStatisticsCalculator;
  readonly clock: Clock;
  /** The monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
  /**
   * Time, in milliseconds, for which a request must be unchanged. By then, the cause of the request has taken effect,
   * or it never will.
   */
  readonly settleMs: number;
}

/** Hourly statistics that this process counts. */
interface OpenHourlyStatsStore {
  /** Returns the counts of an hour, which stay open until `storing` is decremented. */
  use(endpoint: EndpointAndLease, hour: Timestamp): Promise<EndpointHourCounter>;
  write(hour: EndpointHourCounter): Promise<void>;
}

/**
 * Recounts requested hours from the log: one hour at a time, and only while nothing is counted in it. An hour with
 * constant attempts is recounted when it is over.
 */
export class HourlyStatsRecounter {
  /**
   * Time since which each request has been unchanged, on the monotonic clock. Clocks of different processes are never
   * compared.
   */
  private unchanged = new Map<string, { readonly token: string; readonly since: number }>();
  /** Id of the request read last. */
  private after: string | undefined;

  constructor(
    private readonly dependencies: HourRecounterDependencies,
    private readonly hours: OpenHourlyStatsStore,
  ) {}

  /** Runs a few of the recount requests for the endpoints of these shards. */
  async runSomeRecountRequests(owned: ReadonlyMap<number, Lease>, ending: AbortSignal): Promise<void> {
    if (owned.size === 0) return;
    const { documents } = this.dependencies.recounts;
    const from = this.after ?? '';
    const filter = { shard: { in: [...owned.keys()] }, id: { gt: from } };
    const found = await documents.find({ filter, sort: { fields: ['id'] }, limit: RECOUNT_REQUESTS_PER_READ });
    this.after = found.length < RECOUNT_REQUESTS_PER_READ ? undefined : found.at(-1)?.id;
    for (const request of found) {
      const lease = owned.get(request.shard);
      if (ending.aborted) return;
      if (lease?.isLeaseHeld() === true && this.isRecountRequestUnchangedLongEnough(request))
        await this.runRecountRequest(request, lease, ending);
    }
    if (from === '' && this.after === undefined) this.forgetRecountRequestsNoLongerStored(found);
  }

  private isRecountRequestUnchangedLongEnough({ id, token }: HourlyStatisticsRecountRequest): boolean {
    const { elapsed, settleMs } = this.dependencies;
    const known = this.unchanged.get(id);
    if (known?.token === token) return elapsed() - known.since >= settleMs;
    this.unchanged.set(id, { token, since: elapsed() });
    return settleMs === 0;
  }

  /** Forgets recount requests that the store no longer contains. */
  private forgetRecountRequestsNoLongerStored(found: readonly HourlyStatisticsRecountRequest[]): void {
    const there = new Set(found.map(({ id }) => id));
    for (const id of this.unchanged.keys()) if (!there.has(id)) this.unchanged.delete(id);
  }

  private async runRecountRequest(
    request: HourlyStatisticsRecountRequest,
    lease: Lease,
    ending: AbortSignal,
  ): Promise<void> {
    const { endpoint_id, hour, token } = request;
    const open = await this.hours.use({ id: endpoint_id, lease }, hour);
    try {
      if (open.isLost || !(await this.recountStatsOfHour(open, request, ending))) return;
      await this.hours.write(open);
      if (open.isLost || !lease.isLeaseHeld()) return;
    } finally {
      open.storing -= 1;
    }
    await this.dependencies.recounts.documents.delete(request.id, { token });
    this.unchanged.delete(request.id);
  }

  /** Recounts the attempts or the discards of one hour. Returns false if the recount has to be repeated. */
  private async recountStatsOfHour(
    open: EndpointHourCounter,
    { part }: HourlyStatisticsRecountRequest,
    ending: AbortSignal,
  ): Promise<boolean> {
    const { log } = this.dependencies;
    const { hour, counted } = open;
    const { id } = open.endpoint;
    try {
      if (part === 'discards')
        open.replaceHourCounts({ discarded: await log.countDeliveriesDiscardedInHour(id, hour, ending) });
      else {
        if (this.isHourInUse(open)) return false;
        const attempts = await log.countAttemptsOfHour(id, hour, ending);
        // Repeat the recount if an attempt was stored during the read, because the log may lack it.
        if (open.counted !== counted || open.storing > 1) return false;
        open.replaceHourCounts({ attempts });
      }
    } catch (error) {
      if (error instanceof DeliveryAttemptedDuringRecountError) return false;
      if (!(error instanceof AttemptLogIncompleteError)) throw error;
      open.markCountsIncomplete();
    }
    return true;
  }

  private isHourInUse({ storing, counted, usedAt, hour }: EndpointHourCounter): boolean {
    if (storing > 1) return true;
    const { clock, elapsed, settleMs } = this.dependencies;
    const isOver = startOfNextHour(hour) <= clock().toISOString();
    return !isOver && counted > 0 && elapsed() - usedAt < settleMs;
  }
}

/** The endpoint whose attempts are counted, and the lease under which this process attempts it. */
export interface EndpointAndLease {
  readonly id: string;
  readonly lease: Lease;
}

/** An hour of an endpoint in which this process counts: the stored counts, and counts not stored yet. */
export class EndpointHourCounter {
  /** Number of outcomes being stored. */
  storing = 0;
  /** Number of attempts counted by this object. A change shows that attempts were counted during a recount. */
  counted = 0;
  /** True if the counts differ from their stored form. */
  isDirty = false;
  /** True if another process owns the endpoint. The unwritten counts are then lost, and a recount is requested. */
  isLost = false;
  /** Time of the last count, on the monotonic clock. */
  usedAt: number;
  /** Write that opens or closes the counts of this hour in the store; undefined if no such write is in progress. */
  settling: Promise<void> | undefined;
  /** Promise that resolves when the last write of the counts has ended. */
  written: Promise<void> = Promise.resolve();
  private counter = new HourlyAttemptCounter();
  private isIncomplete = false;

  constructor(
    readonly id: string,
    readonly endpoint: EndpointAndLease,
    readonly hour: Timestamp,
    private readonly elapsed: () => number,
  ) {
    this.usedAt = elapsed();
  }

  /** Continues counting from the stored counts. */
  continueFromStoredCounts(stored: HourDocument): void {
    this.counter = new HourlyAttemptCounter(stored);
    this.isIncomplete = stored.is_incomplete ?? false;
  }

  countDeliveryAttempt(attempt: CountedAttempt): void {
    this.counter.countDeliveryAttempt(attempt);
    this.counted += 1;
    this.isDirty = true;
    this.usedAt = this.elapsed();
  }

  /** Replaces the counts of attempts, of discards, or both. */
  replaceHourCounts({
    attempts,
    discarded,
  }: {
    readonly attempts?: HourlyAttemptCounts;
    readonly discarded?: number;
  }): void {
    const before = this.counter.counts;
    this.counter = new HourlyAttemptCounter({ ...(attempts ?? before), discarded: discarded ?? before.discarded });
    this.isDirty = true;
  }

  /** Marks the counts as incomplete, because the log no longer contains all attempts of the hour. */
  markCountsIncomplete(): void {
    this.isIncomplete = true;
    this.isDirty = true;
  }

  /** @param openIn the shard while outcomes may be uncounted; undefined once all stored outcomes are counted */
  toHourDocument(openIn: number | undefined): HourDocument {
    const { counts } = this.counter;
    const { id: endpoint_id, lease } = this.endpoint;
    return {
      ...{ id: this.id, endpoint_id, hour: this.hour, epoch: lease.epoch },
      ...(openIn !== undefined && { open_in: openIn }),
      ...counts,
      last_error_at: counts.last_error?.at ?? null,
      ...(this.isIncomplete && { is_incomplete: true }),
    };
  }
}
