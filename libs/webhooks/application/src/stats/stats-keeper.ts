import type { Timestamp } from '@tracking/contracts';
import type { Clock, Collection, CountRetry, Lease, Logger } from '@tracking/ports';
import { monotonicMs, pauseFor } from '@tracking/resilience';
import { type CountedAttempt, startOfNextHour, startOfHour, computeShardOfEndpoint } from '@tracking/webhooks-domain';
import {
  type HourDocument,
  type HourlyDeliveryStatisticsCalculator,
  type HourRecountRequestStore,
  createEndpointHourId,
} from './hour-log.ts';
import { type EndpointAndLease, EndpointHourCounter, HourlyStatsRecounter } from './hour-recounter.ts';

/** Maximum number of hours written in a round. Bounds the cost of statistics, however many endpoints are attempted. */
const MAX_HOURLY_STATS_WRITTEN_PER_ROUND = 64;
const HOURS_PER_READ = 200;

/** The shards that this process owns. */
interface OwnedShards {
  /** Current leases, by shard number. */
  readonly leases: ReadonlyMap<number, Lease>;
}

export interface StatsKeeperDependencies {
  readonly hours: Collection<HourDocument>;
  readonly recounts: HourRecountRequestStore;
  readonly log: HourlyDeliveryStatisticsCalculator;
  readonly shards: OwnedShards;
  readonly clock: Clock;
  /** The monotonic clock, in milliseconds; the system's by default. */
  readonly elapsed?: () => number;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  /** Interval between rounds of writing. */
  readonly writeMs: number;
  /** Time without a count after which an hour is closed. */
  readonly idleMs: number;
  /**
   * Time for which a recount request must be unchanged. By then, the cause of the request has taken effect, or it never
   * will.
   */
  readonly settleMs: number;
}

/** Ends the counting of an outcome. @param attempt the attempt as stored; undefined if it was not stored */
export type CountOutcome = (attempt: CountedAttempt | undefined) => void;

/**
 * Counts the attempts at this process's endpoints, hour by hour. An hour is stored as open before its first outcome is
 * stored, and closed once all stored outcomes are counted. If an owner dies, the hour stays open, and the next owner
 * finds and recounts it: docs/adr/0038-statistics.md.
 */
export class EndpointAttemptCounter {
  /** Open hours, in the order in which they were written. */
  private readonly open = new Map<string, EndpointHourCounter>();
  /** Lease epoch under which each shard was searched for hours left open. */
  private readonly searched = new Map<number, number>();
  private readonly recounting: HourlyStatsRecounter;
  private readonly elapsed: () => number;
  private readonly stopping = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  /** Pending requests to recount lost hours. */
  private readonly requests = new Set<Promise<void>>();

  constructor(private readonly dependencies: StatsKeeperDependencies) {
    this.elapsed = dependencies.elapsed ?? monotonicMs;
    this.recounting = new HourlyStatsRecounter(
      { ...dependencies, elapsed: this.elapsed },
      {
        use: (endpoint, hour) => this.acquireCountsOfHour(endpoint, hour),
        write: (hour) => this.writeHour(hour, true),
      },
    );
  }

  /** Starts the rounds. Recounts have their own, because the recount of one hour may read its log for minutes. */
  startStatsRounds(): void {
    this.running = Promise.all([
      this.repeatUntilStopped('writing statistics', () => this.writeDueHourlyStats()),
      this.repeatUntilStopped('recounting statistics', () => this.recountRequestedHours()),
    ]);
  }

  /** Stops the rounds. Call {@link writeOpenStatsHours} afterwards to write the counts. */
  stopStatsRounds(): void {
    this.stopping.abort();
  }

  /**
   * Writes the counted attempts of all open hours. If a storage engine is unreachable, hours stay open, and the next
   * owner counts them again.
   */
  async writeOpenStatsHours(): Promise<void> {
    this.stopStatsRounds();
    await this.running;
    await Promise.allSettled([...this.open.values()].map((hour) => this.writeAndForgetHour(hour)));
    await Promise.allSettled(this.requests);
  }

  /**
   * Writes the counts of a shard that this process hands over. Hours that cannot be written stay open, and the next
   * owner recounts them.
   */
  async writeStatsOfShard(shard: number): Promise<void> {
    const hours = [...this.open.values()].filter(({ endpoint }) => computeShardOfEndpoint(endpoint.id) === shard);
    await Promise.allSettled(hours.map((hour) => this.writeAndForgetHour(hour)));
  }

  /**
   * Starts counting an outcome. Await this before the outcome is stored, and call the returned function right after. If
   * it is never called because the process ends, the hour stays open.
   * @param at start of the attempt
   * @throws UnavailableError; it may then be called again
   */
  async startCountingAttemptOutcome(endpoint: EndpointAndLease, at: Timestamp): Promise<CountOutcome> {
    const hour = await this.acquireCountsOfHour(endpoint, startOfHour(at));
    return (attempt) => {
      hour.storing -= 1;
      if (attempt !== undefined) hour.countDeliveryAttempt(attempt);
      if (hour.isLost) this.requestRecountInBackground(hour);
    };
  }

  /** Returns the counts of an hour, stored as open. They are not closed until `storing` is decremented. */
  private async acquireCountsOfHour(endpoint: EndpointAndLease, hour: Timestamp): Promise<EndpointHourCounter> {
    const id = createEndpointHourId(endpoint.id, hour);
    for (;;) {
      const known = this.open.get(id);
      if (known === undefined) break;
      if (known.settling !== undefined) await known.settling;
      else if (known.endpoint.lease.epoch === endpoint.lease.epoch) {
        known.storing += 1;
        return known;
      } else await this.requestRecountOfLostHour(known);
    }
    const used = new EndpointHourCounter(id, endpoint, hour, this.elapsed);
    this.open.set(id, used);
    used.storing += 1;
    const opening = this.continueStoredHourlyStats(used);
    used.settling = waitEvenIfFailed(opening).then(() => (used.settling = undefined));
    await opening;
    return used;
  }

  private async continueStoredHourlyStats(hour: EndpointHourCounter): Promise<void> {
    const { hours, recounts } = this.dependencies;
    const { id, lease } = hour.endpoint;
    try {
      const stored = await hours.get(hour.id);
      if (stored !== undefined) hour.continueFromStoredCounts(stored);
      // Request a recount: the former owner stopped before it closed the hour, and may not have counted all outcomes.
      if (stored?.open_in !== undefined) await recounts.requestRecountsOfOpenHours([stored]);
      const written = await hours.upsert(hour.toHourDocument(computeShardOfEndpoint(id)), {
        epoch: { lte: lease.epoch },
      });
      if (!written || !lease.isLeaseHeld()) await this.requestRecountOfLostHour(hour);
    } catch (error) {
      this.forgetHour(hour);
      throw error;
    }
  }

  private async repeatUntilStopped(what: string, doRound: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry } = this.dependencies;
    while (!signal.aborted) {
      try {
        await doRound();
      } catch (error) {
        if (signal.aborted) return;
        countRetry(what);
        logger.warn({ reason: String(error) }, `webhooks: ${what} failed; trying again`);
      }
      await pauseFor(this.dependencies.writeMs, signal);
    }
  }

  private async recountRequestedHours(): Promise<void> {
    await this.findStatsHoursLeftOpen();
    await this.recounting.runSomeRecountRequests(this.dependencies.shards.leases, this.stopping.signal);
  }

  /** Finds hourly statistics that former owners of newly acquired shards left open. */
  private async findStatsHoursLeftOpen(): Promise<void> {
    const acquired = [...this.dependencies.shards.leases].filter(
      ([shard, { epoch }]) => this.searched.get(shard) !== epoch,
    );
    const epochs = new Map(acquired.map(([shard, { epoch }]) => [shard, epoch]));
    const filter = { open_in: { in: [...epochs.keys()] } };
    let after: readonly string[] | undefined;
    while (epochs.size > 0) {
      const resume = after === undefined ? {} : { after };
      const found = await this.dependencies.hours.find({
        filter,
        sort: { fields: ['id'] },
        limit: HOURS_PER_READ,
        ...resume,
      });
      const left = found.filter(({ open_in = -1, epoch }) => epoch < (epochs.get(open_in) ?? epoch));
      if (left.length > 0) await this.dependencies.recounts.requestRecountsOfOpenHours(left);
      const last = found.at(-1);
      if (last === undefined) break;
      after = [last.id];
    }
    for (const [shard, epoch] of epochs) this.searched.set(shard, epoch);
  }

  private async writeDueHourlyStats(): Promise<void> {
    const now = this.dependencies.clock().toISOString();
    const due = [...this.open.values()].filter(
      (hour) => hour.settling === undefined && (hour.isDirty || this.canCloseStatsHour(hour, now)),
    );
    const written = await Promise.allSettled(
      due
        .slice(0, MAX_HOURLY_STATS_WRITTEN_PER_ROUND)
        .map((hour) =>
          this.canCloseStatsHour(hour, now) ? this.writeAndForgetHour(hour) : this.writeHour(hour, true),
        ),
    );
    for (const one of written) if (one.status === 'rejected') throw one.reason;
  }

  private canCloseStatsHour(hour: EndpointHourCounter, now: Timestamp): boolean {
    if (hour.storing > 0) return false;
    return startOfNextHour(hour.hour) <= now || this.elapsed() - hour.usedAt >= this.dependencies.idleMs;
  }

  /** Closes the counts of an hour, unless an outcome in that hour is being stored. */
  private async writeAndForgetHour(hour: EndpointHourCounter): Promise<void> {
    if (hour.storing > 0) return this.writeHour(hour, true);
    const closing = this.writeHour(hour, false).then(() => void this.forgetHour(hour));
    hour.settling = waitEvenIfFailed(closing).then(() => (hour.settling = undefined));
    await closing;
  }

  private writeHour(hour: EndpointHourCounter, staysOpen: boolean): Promise<void> {
    // Write once at a time: the store could apply concurrent writes in the wrong order.
    const written = hour.written.then(() => this.writeCurrentCounts(hour, staysOpen));
    hour.written = waitEvenIfFailed(written);
    return written;
  }

  private async writeCurrentCounts(hour: EndpointHourCounter, staysOpen: boolean): Promise<void> {
    const { id, lease } = hour.endpoint;
    hour.isDirty = false;
    try {
      const document = hour.toHourDocument(staysOpen ? computeShardOfEndpoint(id) : undefined);
      if (!(await this.dependencies.hours.upsert(document, { epoch: { lte: lease.epoch } })))
        return await this.requestRecountOfLostHour(hour);
    } catch (error) {
      hour.isDirty = true;
      throw error;
    }
    if (this.forgetHour(hour)) this.open.set(hour.id, hour);
  }

  /**
   * Requests a recount of an hour that another process owns now. Only this process knew the counts since the last
   * write.
   */
  private async requestRecountOfLostHour(hour: EndpointHourCounter): Promise<void> {
    hour.isLost = true;
    this.forgetHour(hour);
    await this.dependencies.recounts.requestRecountOfHour('attempts', hour.endpoint.id, hour.hour);
  }

  /**
   * Forgets the counts of an hour, unless this process replaced them under a later lease. Returns true if it had them.
   */
  private forgetHour(hour: EndpointHourCounter): boolean {
    return this.open.get(hour.id) === hour && this.open.delete(hour.id);
  }

  private requestRecountInBackground(hour: EndpointHourCounter): void {
    const request = this.requestRecountOfLostHour(hour).catch((error: unknown) => {
      this.dependencies.logger.warn(
        { reason: String(error), hour: hour.id },
        'webhooks: could not request the recount of an hour',
      );
    });
    this.requests.add(request);
    void request.finally(() => this.requests.delete(request));
  }
}

/** Resolves when the work has ended, even if it failed. */
function waitEvenIfFailed(work: Promise<void>): Promise<void> {
  return work.catch(() => undefined);
}
