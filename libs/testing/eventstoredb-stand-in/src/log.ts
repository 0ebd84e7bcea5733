import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import { fromLogPosition, toLogPosition } from './records.ts';

/** Events that a backwards read holds in memory at once. */
const PAGE = 1_000;

/** The events of the streams that begin so, after one position and up to another; none where that is undefined. */
export async function* eventsUntil(
  store: EventStore,
  after: Position | undefined,
  to: Position | undefined,
  streamPrefixes: readonly string[],
): AsyncGenerator<StoredEvent> {
  if (to === undefined || (after !== undefined && after >= to)) return;
  for await (const batch of store.catchUp({ after, streamPrefixes, signal: new AbortController().signal })) {
    for (const event of batch.events) if (event.position <= to) yield event;
    if (batch.position >= to) return;
  }
}

/** The events before a position, or all, the last one first. The store's positions have no holes. */
export async function* eventsBackwards(store: EventStore, before: Position | undefined): AsyncGenerator<StoredEvent> {
  const head = await store.head();
  let to = before === undefined ? head : previous(before);
  if (head !== undefined && to !== undefined && to > head) to = head;
  while (to !== undefined) {
    const after: Position | undefined = previous(to, PAGE);
    const page: StoredEvent[] = [];
    for await (const event of eventsUntil(store, after, to, [''])) page.push(event);
    yield* page.reverse();
    to = after;
  }
}

/** The position some events before; undefined for the beginning. */
export function previous(position: Position, count = 1): Position | undefined {
  const step = BigInt(toLogPosition('0000000000000001'));
  const logPosition = BigInt(toLogPosition(position)) - BigInt(count) * step;
  return logPosition > 0n ? fromLogPosition(String(logPosition)) : undefined;
}
