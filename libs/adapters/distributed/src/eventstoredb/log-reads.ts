import { BACKWARDS, END, type StreamingRead } from '@eventstore/db-client';
import type { Position } from '@tracking/ports';
import { late } from './eventstoredb-errors.ts';
import type { NodeClient } from './node-client.ts';
import { fromPosition, toLogEntry, toPosition } from './stored-event.ts';

export const PAGE = 500;

/** Of the last entry of the whole log, `$all`, the node's own included; undefined in an empty one. */
export async function readHead({ client, callOptions }: NodeClient, timeoutMs: number): Promise<Position | undefined> {
  const read = client.readAll({ ...callOptions, direction: BACKWARDS, fromPosition: END, maxCount: 1 });
  const [entry] = await collect(read, timeoutMs);
  return entry?.event && toPosition(entry.event.position);
}

/** What follows a position in the log, of whatever stream: at least `PAGE` entries, or all up to the end. */
export async function readPage({ client, callOptions }: NodeClient, after: Position, timeoutMs: number) {
  // Other than a subscription, a read begins with the entry at the position.
  const read = client.readAll({ ...callOptions, fromPosition: fromPosition(after), maxCount: PAGE + 1 });
  return (await collect(read, timeoutMs)).map(toLogEntry).filter(({ position }) => position > after);
}

/** All that a call answers. The client neither ends it nor bears with an error of it by itself once nobody reads on. */
export async function collect<T>(read: StreamingRead<T>, timeoutMs: number): Promise<T[]> {
  read.on('error', () => undefined);
  const timer = setTimeout(() => read.destroy(late()), timeoutMs);
  const found: T[] = [];
  try {
    for await (const one of read as AsyncIterable<T>) found.push(one);
    return found;
  } finally {
    clearTimeout(timer);
    read.cancel().catch(() => undefined);
  }
}
