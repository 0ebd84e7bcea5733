import { DomainError } from '@tracking/contracts';
import { Busy, type Counter, type Histogram, type Metrics, Unavailable } from '@tracking/ports';
import type { ShipmentCommand } from '@tracking/shipments-domain';
import type { ShipmentAnswer, Written } from './answers.ts';

/** From a fold in memory (well under a millisecond) to a deadline. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What operators see of the commands of a process. */
export class CommandMetrics {
  readonly conflicts: Counter;
  readonly cacheReads: Counter;
  private readonly total: Counter;
  private readonly seconds: Histogram;

  constructor(metrics: Metrics) {
    this.conflicts = metrics.counter('command_conflicts_total', 'Appends refused since another replica had written.');
    this.cacheReads = metrics.counter('shipment_cache_reads_total', 'Look-ups of folded shipments.', ['result']);
    this.total = metrics.counter('commands_total', 'Commands answered, by what came of them.', ['type', 'outcome']);
    this.seconds = metrics.histogram('command_duration_seconds', 'From arrival to answer.', ['type'], SECONDS);
  }

  /** Counts and times one command; its result or error passes through. */
  async measure<Answer extends ShipmentAnswer>(
    type: ShipmentCommand['type'],
    run: () => Promise<Written<Answer>>,
  ): Promise<Written<Answer>> {
    const start = performance.now();
    let outcome: string = 'error';
    try {
      const written = await run();
      outcome = written.answer.outcome;
      return written;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      this.total.add(1, { type, outcome });
      this.seconds.observe((performance.now() - start) / 1000, { type });
    }
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof Busy) return 'busy';
  return error instanceof Unavailable ? 'unavailable' : 'error';
}
