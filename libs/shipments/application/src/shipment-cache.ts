import type { Counter } from '@tracking/ports';
import type { LoadedShipment } from './shipment-stream.ts';

export interface CacheLimits {
  readonly shipments: number;
  /** Bytes, roughly: shipments differ in size by a factor of a thousand. */
  readonly bytes: number;
}

/** A command's id and revision, as it is remembered. */
const COMMAND_BYTES = 150;

/** Rough heap bytes of a folded shipment. By its text: lists and notes are the clients' to fill. */
export function roughBytes({ state, characters }: LoadedShipment): number {
  return 1_000 + 2 * JSON.stringify(state.record).length + characters + COMMAND_BYTES * state.commands.length;
}

interface Entry {
  readonly shipment: LoadedShipment;
  readonly bytes: number;
}

/**
 * The shipments used last, folded. What it holds may be behind the stream (another replica appended): an append at a
 * revision held here fails then, and what writes nothing is decided again on a fresh read.
 *
 * In two halves: what is used moves to the recent one, and when that is full the other is forgotten. So it keeps at
 * least the last half of what the limits allow, without the price of an exact order.
 */
export class ShipmentCache {
  private recent = new Map<string, Entry>();
  private former = new Map<string, Entry>();
  /** Of the recent half. */
  private bytes = 0;

  constructor(
    private readonly limits: CacheLimits,
    private readonly reads: Counter,
  ) {}

  get size(): number {
    return this.recent.size + this.former.size;
  }

  get(id: string): LoadedShipment | undefined {
    const entry = this.recent.get(id) ?? this.former.get(id);
    this.reads.add(1, { result: entry === undefined ? 'miss' : 'hit' });
    if (entry !== undefined && !this.recent.has(id)) this.keep(id, entry);
    return entry?.shipment;
  }

  /** Keeps it, unless what is kept already is newer: readers and the writer of a shipment run side by side. */
  put(id: string, shipment: LoadedShipment): void {
    const kept = this.recent.get(id) ?? this.former.get(id);
    if (kept !== undefined && kept.shipment.revision > shipment.revision) return;
    this.keep(id, { shipment, bytes: roughBytes(shipment) });
  }

  drop(id: string): void {
    this.bytes -= this.recent.get(id)?.bytes ?? 0;
    this.recent.delete(id);
    this.former.delete(id);
  }

  private keep(id: string, entry: Entry): void {
    this.drop(id);
    this.recent.set(id, entry);
    this.bytes += entry.bytes;
    if (this.recent.size * 2 <= this.limits.shipments && this.bytes * 2 <= this.limits.bytes) return;
    this.former = this.recent;
    this.recent = new Map();
    this.bytes = 0;
  }
}
