import type { PublicAddresses, PublishedEvent } from '@tracking/contracts';
import type { EventStore } from '@tracking/ports';
import { Unavailable } from '@tracking/ports';
import { type MakeEvents, publicEvent } from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { type FoldOn, type Folded, foldOn, weightOf } from './history.ts';

const STREAMS_AT_ONCE = 4;

export interface EventMakerOptions {
  readonly eventStore: EventStore;
  /** The same as the publisher's. */
  readonly addresses: PublicAddresses;
  /** Ordinary shipments kept in memory, so that the next page of one need not begin anew; 1,000 by default. */
  readonly cachedShipments?: number;
}

/**
 * Public events, made again from their streams: the same bytes as were published. In the order asked for; those that
 * cannot be made are left out, since nobody was told of them either: the publisher has parked their streams.
 * The functions throw Unavailable.
 */
export function eventMaker({ eventStore, addresses, cachedShipments = 1_000 }: EventMakerOptions): MakeEvents {
  const cache = new LRUCache<string, Folded>({ maxSize: cachedShipments, sizeCalculation: weightOf });

  const makeFrom = async (stream: string, wanted: ReadonlySet<number>, made: Map<string, PublishedEvent>) => {
    const revisions = [...wanted].sort((a, b) => a - b);
    const [first = 0, last = 0] = [revisions[0], revisions[revisions.length - 1]];
    const kept = cache.get(stream);
    const before = kept !== undefined && kept.revision < first ? kept : undefined;
    try {
      const seen: FoldOn['seen'] = (stored, event, after) => {
        const body = wanted.has(event.revision) ? publicEvent(stored.id, event, after, addresses) : undefined;
        if (body !== undefined) made.set(body.id, body);
      };
      const folded = await foldOn(eventStore, stream, { before, to: last, seen });
      if (folded !== undefined) cache.set(stream, folded);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
    }
  };

  return async (references) => {
    const wanted = new Map<string, Set<number>>();
    for (const { stream, revision } of references) {
      const revisions = wanted.get(stream) ?? new Set();
      wanted.set(stream, revisions.add(revision));
    }
    const made = new Map<string, PublishedEvent>();
    const streams = wanted.entries();
    const makeSome = async () => {
      for (const [stream, revisions] of streams) await makeFrom(stream, revisions, made);
    };
    await Promise.all(Array.from({ length: Math.min(STREAMS_AT_ONCE, wanted.size) }, makeSome));
    return references.flatMap(({ id }) => made.get(id) ?? []);
  };
}
