import { LRUCache } from 'lru-cache';
import type { DueShipment } from './work-list.ts';

const REMEMBERED = 20_000;
/** Longer than the work list is mostly behind. */
const FIRST_HOLD_MS = 5_000;
const LONGEST_HOLD_MS = 10 * 60_000;

interface Check {
  readonly due_at: string;
  /** How often it was checked in vain before. */
  readonly times: number;
  /** In monotonic milliseconds. */
  readonly heldUntil: number;
}

/**
 * Shipments that were checked and are on the work list as before: since the list is behind, or since the check failed. They are
 * left alone for a while, four times as long each time. What is forgotten is checked again, which does nothing.
 */
export class RecentChecks {
  /** Bounded by size: with `max` the cache would take the memory of all of them when it is made. */
  private readonly checks = new LRUCache<string, Check>({ maxSize: REMEMBERED, sizeCalculation: () => 1 });

  /** @param elapsed monotonic milliseconds */
  constructor(private readonly elapsed: () => number) {}

  isHeld({ id, due_at }: DueShipment): boolean {
    const check = this.checks.get(id);
    return check !== undefined && check.due_at === due_at && this.elapsed() < check.heldUntil;
  }

  /** It was checked, whatever came of it. */
  checked(shipment: DueShipment): void {
    const before = this.checks.get(shipment.id);
    this.hold(shipment, before?.due_at === shipment.due_at ? before.times + 1 : 0);
  }

  /** It could not be checked now, for want of an engine or of room. */
  putOff(shipment: DueShipment): void {
    this.hold(shipment, 0);
  }

  private hold({ id, due_at }: DueShipment, times: number): void {
    const heldUntil = this.elapsed() + Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 4 ** times);
    this.checks.set(id, { due_at, times, heldUntil });
  }
}
