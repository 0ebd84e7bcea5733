import { LRUCache } from 'lru-cache';
import type { ReadModel, ReadModelRow } from './read-model.ts';

/** Rows by id that the handler of a partition has read or written. */
export interface CachedRowsById {
  get(id: string): ReadModelRow | undefined;
  set(id: string, row: ReadModelRow): void;
}

/** The most recently used rows of all partitions of a generation. */
export class RowCache {
  private readonly rows: LRUCache<string, ReadModelRow>;
  private terms = 0;

  /** @param maxWeight maximum total weight of the rows */
  constructor(model: ReadModel, maxWeight: number) {
    const sizeCalculation = (row: ReadModelRow) => model.weight?.(row) ?? 1;
    this.rows = new LRUCache({ maxSize: maxWeight, sizeCalculation });
  }

  /** Returns an empty cache for one lease term. Other processes can change rows between two terms. */
  createRowCacheOfLeaseTerm(): CachedRowsById {
    const term = (this.terms += 1);
    return {
      get: (id) => this.rows.get(`${term}/${id}`),
      set: (id, row) => void this.rows.set(`${term}/${id}`, row),
    };
  }
}
