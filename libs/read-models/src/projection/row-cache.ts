import type { Row } from '../read-model.ts';

/** The rows used last, bounded by weight, so that a live event usually needs no read. */
export class RowCache<R extends Row> {
  private readonly rows = new Map<string, R>();
  private total = 0;

  constructor(
    private readonly capacity: number,
    private readonly weight: (row: R) => number,
  ) {}

  get(id: string): R | undefined {
    const row = this.rows.get(id);
    if (row) {
      this.rows.delete(id);
      this.rows.set(id, row);
    }
    return row;
  }

  set(row: R): void {
    this.remove(row.id);
    this.rows.set(row.id, row);
    this.total += this.weight(row);
    for (const eldest of this.rows.keys()) {
      if (this.total <= this.capacity) break;
      this.remove(eldest);
    }
  }

  private remove(id: string): void {
    const row = this.rows.get(id);
    if (!row) return;
    this.rows.delete(id);
    this.total -= this.weight(row);
  }
}
