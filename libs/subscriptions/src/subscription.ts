import { PARKED, describe } from './parked-streams.ts';
import type { ParkedStream } from './parked-streams.ts';
import { PartitionRunner } from './partition-runner.ts';
import type { RunnerParts } from './partition-runner.ts';
import type { Partition } from './subscriber.ts';

/** What another process asked for is noticed within this time. */
const LOOK_MS = 1_000;
const RETRIES_AT_ONCE = 100;

export interface SubscriptionParts extends RunnerParts {
  /** The same in every process; together all streams, none twice. */
  readonly partitions: readonly Partition[];
}

/** One subscriber in this process: takes part in all its partitions, from `start` to `stop`. */
export class Subscription {
  private readonly runners: readonly PartitionRunner[];
  private timer: NodeJS.Timeout | undefined;
  private retrying: Promise<void> | undefined;

  constructor(private readonly parts: SubscriptionParts) {
    this.runners = parts.partitions.map((partition) => new PartitionRunner(parts, partition));
  }

  start(): void {
    for (const runner of this.runners) runner.start();
    this.timer ??= setInterval(() => this.nudge(), LOOK_MS).unref();
  }

  /** Finishes the batches in hand, writes the checkpoints, hands the leases over. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.runners.map((runner) => runner.stop()), this.retrying]);
  }

  /** Milliseconds since the oldest event known to be waiting was recorded, of the partitions in this process's hands. */
  lagMs(): number {
    return Math.max(0, ...this.runners.map((runner) => runner.lagMs()));
  }

  /** Streams that wait behind an event that failed, of the partitions in this process's hands. */
  parkedCount(): number {
    return this.runners.reduce((sum, runner) => sum + runner.parkedCount(), 0);
  }

  /** Parked streams of which another attempt was asked for are tried now rather than within a second. */
  nudge(): void {
    this.retrying ??= this.retryAsked().finally(() => (this.retrying = undefined));
  }

  private async retryAsked(): Promise<void> {
    // Asked for is what waits in the hands of some process: nothing of this one's, nothing to look for.
    if (this.parkedCount() === 0) return;
    const { subscriber, documentStore, logger } = this.parts;
    const { name, generation } = subscriber;
    try {
      const documents = await documentStore.collection<ParkedStream>(PARKED);
      const filter = { subscriber: name, generation, retry: true };
      const asked = await documents.find({ filter, limit: RETRIES_AT_ONCE });
      // The runner that holds the stream does it.
      if (asked.length > 0) await Promise.all(this.runners.map((runner) => runner.retry(asked)));
    } catch (error) {
      logger.warn({ subscriber: name, error: describe(error) }, 'parked streams are looked for again');
    }
  }
}
