import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import type { EventBatch, EventStore, NewEvent, Position, StoredEvent } from '@tracking/ports';
import { patient } from './eventually.ts';

export function newEvent(data: JsonObject = {}): NewEvent {
  return { id: randomUUID(), type: 'thing.happened.v1', data, metadata: { command_id: randomUUID() } };
}

export function newEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => newEvent({ index }));
}

/** A beginning of stream names that nothing else has. */
export function newPrefix(): string {
  return `t${randomUUID().replaceAll('-', '')}-`;
}

export function ids(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id);
}

export interface Followed {
  readonly events: readonly StoredEvent[];
  readonly batches: readonly EventBatch[];
  /** Position of the last batch. */
  readonly position: Position | undefined;
}

/**
 * Follows a catch-up until `enough` says so or 20 seconds have passed: what is missing then shows in what came.
 * @param between runs after each batch, before the next one is asked for
 */
export async function follow(
  store: EventStore,
  options: { readonly prefixes: readonly string[]; readonly after?: Position | undefined; readonly maxBatch?: number },
  enough: (followed: Followed) => boolean,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Followed> {
  const signal = AbortSignal.timeout(patient(20_000));
  const events: StoredEvent[] = [];
  const batches: EventBatch[] = [];
  const { prefixes: streamPrefixes, after, maxBatch = 500 } = options;
  for await (const batch of store.catchUp({ streamPrefixes, after, maxBatch, signal })) {
    events.push(...batch.events);
    batches.push(batch);
    if (enough({ events, batches, position: batch.position })) break;
    await between();
  }
  return { events, batches, position: batches.at(-1)?.position };
}

/** Enough: so many events came. */
export function count(events: number): (followed: Followed) => boolean {
  return (followed) => followed.events.length >= events;
}

/** Enough: nothing more is stored. */
export function caughtUp({ batches }: Followed): boolean {
  return batches.at(-1)?.caughtUp === true;
}
