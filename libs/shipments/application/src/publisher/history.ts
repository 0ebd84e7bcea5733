import type { ShipmentException } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import {
  type ShipmentEvent,
  type Snapshot,
  evolveRecord,
  exceptionAfter,
  exceptionChange,
  weightOfRecord,
  toShipmentEvent,
} from '@tracking/shipments-domain';

/** A shipment right after the event at `revision`, as far as snapshots show it. */
export interface Folded extends Snapshot {
  readonly revision: number;
}

/** Share of a cache that a shipment takes; an ordinary one takes 1. */
export function weightOf({ record, exceptions }: Folded): number {
  const characters = exceptions.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
  return weightOfRecord(record) + Math.round(characters / 1_000);
}

/** @throws Error when the event is not the next one: the snapshot would look whole and not be */
export function foldNext(before: Folded | undefined, event: ShipmentEvent): Folded {
  const expected = (before?.revision ?? -1) + 1;
  if (event.revision !== expected) throw new Error(`revision ${event.revision} where ${expected} comes next`);
  const scope = event.type === 'shipment.created.v1' ? event.data : before;
  if (scope === undefined) throw new Error(`${event.type} of no shipment`);
  const { workspace_id, environment } = scope;
  const record = evolveRecord(before?.record, event);
  return { workspace_id, environment, record, exceptions: exceptionsAfter(before, event), revision: event.revision };
}

/** A resolved exception never changes again, so it is forgotten with the next change of another one. */
function exceptionsAfter(before: Folded | undefined, event: ShipmentEvent): readonly ShipmentException[] {
  const known = before?.exceptions ?? [];
  const change = exceptionChange(event);
  if (change === undefined) return known;
  const others = known.filter(({ id, status }) => id !== change.id && status !== 'resolved');
  return [
    ...others,
    exceptionAfter(
      change,
      known.find(({ id }) => id === change.id),
    ),
  ];
}

/** Events of a stream read at once. One may be a megabyte. */
const PIECE = 50;

export interface FoldOn {
  /** What is folded already. */
  readonly before: Folded | undefined;
  /** The last revision. */
  readonly to: number;
  /** Told of every event on the way, with the shipment right after it. */
  readonly seen?: (stored: StoredEvent, event: ShipmentEvent, after: Folded) => void;
}

/**
 * Goes on through a stream, from what is folded already up to and including the event at `to`.
 * @throws Unavailable; anything else means that the stream cannot be folded
 */
export async function foldOn(
  store: EventStore,
  stream: string,
  { before, to, seen }: FoldOn,
): Promise<Folded | undefined> {
  let folded = before;
  for (let from = (before?.revision ?? -1) + 1; from <= to; from += PIECE) {
    for (const stored of await store.read(stream, { from, to: Math.min(to, from + PIECE - 1) })) {
      const event = toShipmentEvent(stored);
      folded = foldNext(folded, event);
      seen?.(stored, event, folded);
    }
  }
  return folded;
}
