import type { EventType } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import {
  computeSlotsOfStream,
  type HandledPosition,
  listSlotsOfPartition,
  STREAM_SLOT_COUNT,
  toLogPosition,
} from '@tracking/subscriptions';

/** An event whose data must be readable. */
export interface AwaitedEvent {
  readonly stream: string;
  readonly position: Position;
  readonly type: EventType;
}

/** Slots by the key of their partition. Keys change rarely. */
const slotsByPartition = new Map<string, readonly number[]>();
const MAX_REMEMBERED_PARTITIONS = 1_000;

/** Returns the slots of a partition; none if no layout has the partition. */
export function listPartitionSlots(partition: string): readonly number[] {
  const known = slotsByPartition.get(partition);
  if (known !== undefined) return known;
  if (slotsByPartition.size >= MAX_REMEMBERED_PARTITIONS) slotsByPartition.clear();
  const slots = listSlotsOfPartition(partition, SHIPMENT_STREAM_PREFIX);
  slotsByPartition.set(partition, slots);
  return slots;
}

/** Returns the last position of each slot that contains events. */
export function getLastPositionsOfSlots(
  events: Iterable<{ readonly stream: string; readonly position: Position }>,
): ReadonlyMap<number, Position> {
  const last = new Map<number, Position>();
  for (const { stream, position } of events)
    for (const slot of computeSlotsOfStream(stream, SHIPMENT_STREAM_PREFIX))
      if (position > (last.get(slot) ?? '')) last.set(slot, position);
  return last;
}

/** Positions that the slots of one generation have reached. They only increase. */
export class PositionsReachedByStreamSlots {
  private readonly places: HandledPosition[] = Array.from({ length: STREAM_SLOT_COUNT }, () => '');

  /** Raises the positions of a partition. Returns true if one of them was lower. */
  raisePositions(partition: string, place: HandledPosition): boolean {
    let isRaised = false;
    for (const slot of listPartitionSlots(partition)) {
      if (place <= (this.places[slot] ?? '')) continue;
      this.places[slot] = place;
      isRaised = true;
    }
    return isRaised;
  }

  /** Returns the lowest position; undefined if a slot has none. */
  getMinPosition(): HandledPosition | undefined {
    let least = this.places[0] ?? '';
    for (const place of this.places) if (place < least) least = place;
    return least === '' ? undefined : least;
  }

  haveSlotsReachedPositions(awaited: ReadonlyMap<number, Position>): boolean {
    for (const [slot, position] of awaited) if ((this.places[slot] ?? '') < position) return false;
    return true;
  }

  /**
   * Returns true if every slot has the log position that another generation has. The positions of events that were
   * handled late differ between generations.
   */
  hasCaughtUpWithSlotPositions(others: PositionsReachedByStreamSlots): boolean {
    return others.places.every((place, slot) => (this.places[slot] ?? '') >= toLogPosition(place));
  }
}

/** Numbers of processes that project a slot, by generation. */
export class ProcessCountsOfSlots {
  private readonly counts = new Map<number, number[]>();

  incrementSlotProcessCounts(generation: number, partition: string): void {
    this.changeSlotCounts(generation, partition, 1);
  }

  decrementSlotProcessCounts(generation: number, partition: string): void {
    this.changeSlotCounts(generation, partition, -1);
  }

  /** Returns true if every slot of the generation is projected, here or in the other counts. */
  hasProcessForEverySlot(generation: number | undefined, others?: ProcessCountsOfSlots): boolean {
    const [own, other] = [this, others].map((each) => each?.counts.get(generation ?? 0));
    for (let slot = 0; slot < STREAM_SLOT_COUNT; slot += 1) if (!own?.[slot] && !other?.[slot]) return false;
    return true;
  }

  private changeSlotCounts(generation: number, partition: string, by: number): void {
    const counts = this.counts.get(generation) ?? Array.from({ length: STREAM_SLOT_COUNT }, () => 0);
    for (const slot of listPartitionSlots(partition)) counts[slot] = Math.max(0, (counts[slot] ?? 0) + by);
    if (counts.some((count) => count > 0)) this.counts.set(generation, counts);
    else this.counts.delete(generation);
  }
}
