import type { EventStore, StoredEvent } from '@tracking/ports';
import type { PageEnd, ReadPage } from './shipment-reads.ts';

/** Events read at a time. */
const PIECE = 100;
/** Most events that one page looks at: what tells nothing is passed over, and costs too. */
const PER_PAGE = 2_000;

/** What an event tells; undefined for nothing. `before`: up to the one before it, those of its command among them. */
export type TellOf<T> = (event: StoredEvent, before: readonly StoredEvent[]) => T | undefined | Promise<T | undefined>;

/**
 * A page of what the events of a stream tell, the newest first. Reads only the part of the stream that the page is about.
 * @param end of the page before
 */
export async function pageBackwards<T>(
  store: EventStore,
  stream: string,
  page: { readonly limit: number; readonly after?: PageEnd | undefined },
  tell: TellOf<T>,
): Promise<ReadPage<T>> {
  const last = page.after === undefined ? await store.lastRevision(stream) : Number(page.after[0]) - 1;
  const items: T[] = [];
  let place = last ?? -1;
  const stop = place - PER_PAGE;
  while (place >= 0 && place > stop) {
    const first = Math.max(0, place - PIECE + 1);
    const events = await store.read(stream, { from: Math.max(0, first - BEFORE), to: place });
    for (let index = events.length - 1; index >= 0; index--) {
      const event = events[index];
      if (event === undefined || event.revision < first) break;
      const told = await tell(event, events.slice(Math.max(0, index - BEFORE), index));
      if (told === undefined) continue;
      items.push(told);
      if (items.length === page.limit) return { items, next: event.revision > 0 ? [event.revision] : null };
    }
    place = first - 1;
  }
  return { items, next: place >= 0 ? [place + 1] : null };
}

/** Events before one that it may be told by: those of its command. */
const BEFORE = 3;
