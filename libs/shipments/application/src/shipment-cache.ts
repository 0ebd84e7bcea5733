import type { Counter } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import type { LoadedShipment } from './shipment-stream.ts';

export interface CacheLimits {
  readonly shipments: number;
  /** Bytes, roughly: shipments differ in size by a factor of a thousand. */
  readonly bytes: number;
}

/** A command's id and revision, as it is remembered. */
const COMMAND_BYTES = 150;

/** Rough heap bytes of a folded shipment. By its text: lists and notes are the clients' to fill. */
export function roughBytes({ state, characters }: Pick<LoadedShipment, 'state' | 'characters'>): number {
  return 1_000 + 2 * JSON.stringify(state.record).length + characters + COMMAND_BYTES * state.commands.length;
}

/**
 * The shipments used last, folded. What it holds may be behind the stream (another replica appended): an append at a
 * revision held here fails then, and what writes nothing is decided again on a fresh read.
 */
export class ShipmentCache {
  private readonly shipments: LRUCache<string, LoadedShipment>;

  constructor(
    limits: CacheLimits,
    private readonly reads: Counter,
  ) {
    const { shipments: max, bytes: maxSize } = limits;
    this.shipments = new LRUCache<string, LoadedShipment>({ max, maxSize, sizeCalculation: roughBytes });
  }

  get size(): number {
    return this.shipments.size;
  }

  get(id: string): LoadedShipment | undefined {
    const shipment = this.shipments.get(id);
    this.reads.add(1, { result: shipment === undefined ? 'miss' : 'hit' });
    return shipment;
  }

  /** Keeps it, unless what is kept already is newer: readers and the writer of a shipment run side by side. */
  put(id: string, shipment: LoadedShipment): void {
    const kept = this.shipments.peek(id);
    if (kept === undefined || kept.revision <= shipment.revision) this.shipments.set(id, shipment);
  }

  drop(id: string): void {
    this.shipments.delete(id);
  }
}
