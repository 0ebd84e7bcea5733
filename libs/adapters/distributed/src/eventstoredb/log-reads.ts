import { BACKWARDS, END, type StreamingRead } from '@eventstore/db-client';
import type { Position } from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { timedOut } from './eventstoredb-errors.ts';
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

/**
 * All that a call answers. The client neither ends one that failed, nor bears with an error of it by itself once nobody
 * waits for it. To iterate over what is read, or to cancel what has ended, would cost as much as the call.
 */
export async function collect<T>(read: StreamingRead<T>, timeoutMs: number): Promise<T[]> {
  const found: T[] = [];
  const ended = Promise.withResolvers<void>();
  read
    .on('data', (one: T) => found.push(one))
    .on('end', ended.resolve)
    .on('error', ended.reject);
  try {
    await withDeadline(ended.promise, timeoutMs, timedOut);
    return found;
  } catch (error) {
    read.cancel().catch(() => undefined);
    throw error;
  }
}
