import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import type { EventBatch, EventStore, NewEvent, Position, StoredEvent } from '@tracking/ports';
import { scaleTimeout } from './eventually.ts';

export function createNewEvent(data: JsonObject = {}): NewEvent {
  return { id: randomUUID(), type: 'thing.happened.v1', data, metadata: { command_id: randomUUID() } };
}

export function createSampleNewEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => createNewEvent({ index }));
}

/** Returns a stream name prefix that no other test uses. */
export function createUniqueStreamPrefix(): string {
  return `t${randomUUID().replaceAll('-', '')}-`;
}

export function listEventIds(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id);
}

export interface CatchUpResult {
  readonly events: readonly StoredEvent[];
  readonly batches: readonly EventBatch[];
  /** Position of the last batch of the catch-up. */
  readonly position: Position | undefined;
}

/**
 * Collects the batches of a catch-up until `isDone` returns true or 20 seconds have passed. After a timeout, the result
 * shows which events are missing.
 * @param afterBatch runs after each batch, before the next batch is requested
 */
export async function collectCatchUpEventsUntilDone(
  store: EventStore,
  options: { readonly prefixes: readonly string[]; readonly after?: Position | undefined; readonly maxBatch?: number },
  isDone: (followed: CatchUpResult) => boolean,
  afterBatch: () => Promise<unknown> = () => Promise.resolve(),
): Promise<CatchUpResult> {
  const signal = AbortSignal.timeout(scaleTimeout(20_000));
  const events: StoredEvent[] = [];
  const batches: EventBatch[] = [];
  const { prefixes: streamPrefixes, after, maxBatch = 500 } = options;
  for await (const batch of store.catchUp({ streamPrefixes, after, maxBatch, signal })) {
    events.push(...batch.events);
    batches.push(batch);
    if (isDone({ events, batches, position: batch.position })) break;
    await afterBatch();
  }
  return { events, batches, position: batches.at(-1)?.position };
}

/** Returns a condition that is met when a catch-up has read at least this many stored events. */
export function createCatchUpEventCountCheck(events: number): (followed: CatchUpResult) => boolean {
  return (followed) => followed.events.length >= events;
}

/** True if the catch-up has read all stored events. */
export function hasCatchUpReadAllEvents({ batches }: CatchUpResult): boolean {
  return batches.at(-1)?.caughtUp === true;
}
