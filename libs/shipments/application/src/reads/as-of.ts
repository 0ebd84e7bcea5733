import type { Milestone, Scope, Timestamp } from '@tracking/contracts';
import { isInScope } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { type ShipmentState, fold, compareMilestones, toShipmentEvent } from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { roughBytes } from '../shipment-cache.ts';
import { lastingCharacters } from '../shipment-stream.ts';
import type { ListMilestonesAt, ReadPage } from './shipment-reads.ts';

/** Events of a stream in memory at once: long streams are not held whole. */
const PIECE = 500;

/** Of shipments as of a time, those asked for last are kept: a listing asks for the same one with every page. */
const KEPT = { shipments: 100, bytes: 16 * 1024 * 1024 };

/** A shipment as far as it is folded. */
interface Past {
  readonly state: ShipmentState | undefined;
  /** So many of the stream's first events. */
  readonly events: number;
  readonly characters: number;
  /** Whether the next one was recorded later than asked for: then nothing comes on top, whatever is recorded. */
  readonly isOver: boolean;
}
const NOTHING: Past = { state: undefined, events: 0, characters: 0, isOver: false };

/** Shipments with all that they had, as they were recorded at a time. */
export class PastShipments {
  private readonly kept = new LRUCache<string, Past & { readonly state: ShipmentState }>({
    max: KEPT.shipments,
    maxSize: KEPT.bytes,
    sizeCalculation: roughBytes,
  });

  constructor(private readonly store: EventStore) {}

  /**
   * Undefined where there was none, or is none of the scope. The stream is folded up to the first event that was recorded
   * later. Times within it may go back a little, where clocks of replicas differ: nothing behind that one counts, so that
   * a time never shows what was not there.
   */
  async at(stream: string, { workspace_id, environment }: Scope, at: Timestamp): Promise<ShipmentState | undefined> {
    const key = [workspace_id, environment, stream, at].join('/');
    let past: Past = this.kept.get(key) ?? NOTHING;
    for (let hasMore = !past.isOver; hasMore;) {
      const events = await this.store.read(stream, { from: past.events, to: past.events + PIECE - 1 });
      if (past.events === 0 && !isOfScope(events[0], { workspace_id, environment })) return undefined;
      if (events.length > 0) past = after(past, events, at);
      hasMore = events.length === PIECE && !past.isOver;
    }
    const { state } = past;
    if (state !== undefined) this.kept.set(key, { ...past, state });
    return state;
  }
}

function after({ state, events: before, characters }: Past, events: readonly StoredEvent[], at: Timestamp): Past {
  const later = events.findIndex(({ metadata }) => String(metadata['recorded_at']) > at);
  const recorded = later === -1 ? events : events.slice(0, later);
  return {
    state: fold(recorded.map(toShipmentEvent), state),
    events: before + recorded.length,
    characters: recorded.reduce((sum, event) => sum + lastingCharacters(event), characters),
    isOver: later !== -1,
  };
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
