import type { Clock, Counter, Metrics } from '@tracking/ports';
import type { DueShipment } from './work-list.ts';

/** What operators see of the clock, in the process that holds its lease. */
export class ClockMetrics {
  private readonly checks: Counter;
  private readonly looks: Counter;
  private due: readonly DueShipment[] = [];

  constructor(metrics: Metrics, clock: Clock) {
    this.checks = metrics.counter('clock_checks_total', 'Shipments checked since time passed, by what came of it.', [
      'outcome',
    ]);
    this.looks = metrics.counter('clock_looks_total', 'Pages read of what is due.');
    metrics.gauge('clock_due', 'Shipments found due and not checked yet, of one look.', [], () => this.due.length);
    metrics.gauge('clock_lag_seconds', 'Since when the oldest of those is due.', [], () => {
      const [oldest] = this.due;
      return oldest === undefined ? 0 : Math.max(0, (clock().getTime() - Date.parse(oldest.due_at)) / 1_000);
    });
  }

  looked(): void {
    this.looks.add();
  }

  checked(outcome: string): void {
    this.checks.add(1, { outcome });
  }

  /** @param due what waits to be checked, the oldest first */
  waiting(due: readonly DueShipment[]): void {
    this.due = [...due];
  }
}
