import type { Milestone, Scope, ShipmentRecord, Timestamp } from '@tracking/contracts';
import { isInScope } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { type ShipmentState, evolveRecord, fold, compareMilestones, toShipmentEvent } from '@tracking/shipments-domain';
import type { ListMilestonesAt, ReadPage } from './shipment-reads.ts';

/** Events of a stream in memory at once: long streams are not held whole. */
const PIECE = 500;

/** The shipment as it was recorded at a time; undefined where there was none, or is none of the scope. */
export async function recordAt(
  store: EventStore,
  stream: string,
  scope: Scope,
  at: Timestamp,
): Promise<ShipmentRecord | undefined> {
  let record: ShipmentRecord | undefined;
  for await (const events of recordedUntil(store, stream, scope, at)) {
    for (const event of events) record = evolveRecord(record, toShipmentEvent(event));
  }
  return record;
}

/** The same with all that it had. */
export async function stateAt(
  store: EventStore,
  stream: string,
  scope: Scope,
  at: Timestamp,
): Promise<ShipmentState | undefined> {
  let state: ShipmentState | undefined;
  for await (const events of recordedUntil(store, stream, scope, at)) state = fold(events.map(toShipmentEvent), state);
  return state;
}

/**
 * The events up to the first that was recorded later, in pieces. Times within a stream may go back a little, where clocks of
 * replicas differ: nothing behind one that was recorded later counts, so that a time never shows what was not there.
 */
async function* recordedUntil(store: EventStore, stream: string, scope: Scope, at: Timestamp) {
  for (let from = 0; ; from += PIECE) {
    const events = await store.read(stream, { from, to: from + PIECE - 1 });
    if (from === 0 && !isOfScope(events[0], scope)) return;
    const later = events.findIndex(({ metadata }) => String(metadata['recorded_at']) > at);
    yield later === -1 ? events : events.slice(0, later);
    if (later !== -1 || events.length < PIECE) return;
  }
}

export function isOfScope(first: StoredEvent | undefined, scope: Scope): boolean {
  const event = first && toShipmentEvent(first);
  return event?.type === 'shipment.created.v1' && isInScope(event.data, scope);
}

/** A page of the milestones that a shipment had. */
export function milestonePage({ timeline }: ShipmentState, query: ListMilestonesAt): ReadPage<Milestone> {
  const { limit, after } = query;
  const listed = timeline.map(({ milestone }) => milestone).filter((milestone) => isListed(milestone, query));
  const start =
    after === undefined ? 0 : listed.findIndex((milestone) => compareMilestones(milestone, asKey(after)) > 0);
  const items = start === -1 ? [] : listed.slice(start, start + limit);
  const last = items.at(-1);
  const hasMore = last !== undefined && start + limit < listed.length;
  return { items, next: hasMore ? [last.occurred_at, last.sequence, last.recorded_at, last.id] : null };
}

type Key = Pick<Milestone, 'occurred_at' | 'sequence' | 'recorded_at' | 'id'>;
function asKey([occurred_at, sequence, recorded_at, id]: readonly (string | number)[]): Key {
  return {
    occurred_at: String(occurred_at),
    sequence: Number(sequence),
    recorded_at: String(recorded_at),
    id: String(id),
  };
}

function isListed(milestone: Milestone, query: ListMilestonesAt): boolean {
  const { classifiers, container_number, include_superseded, include_retracted } = query;
  return (
    classifiers.includes(milestone.classifier) &&
    (container_number === undefined || milestone.container_number === container_number) &&
    (include_superseded || milestone.superseded_at === null) &&
    (include_retracted || milestone.retracted_at === null)
  );
}
