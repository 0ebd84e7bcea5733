import type { AllStreamResolvedEvent, Position as LogPosition, RecordedEvent } from '@eventstore/db-client';
import type { JsonObject } from '@tracking/contracts';
import { InvalidPosition, type Position, type StoredEvent } from '@tracking/ports';

const HALF = 16;
/** Before the first event. */
export const BEGINNING: Position = '0'.repeat(2 * HALF);

/** Commit and prepare position in 16 hexadecimal digits each: as strings they sort as the log does. */
export function toPosition({ commit, prepare }: LogPosition): Position {
  return commit.toString(16).padStart(HALF, '0') + prepare.toString(16).padStart(HALF, '0');
}

/** As the client takes it to begin after. */
export function fromPosition(position: Position): LogPosition | 'start' {
  if (!/^[0-9a-f]{32}$/.test(position)) throw new InvalidPosition(position);
  if (position === BEGINNING) return 'start';
  return { commit: BigInt(`0x${position.slice(0, HALF)}`), prepare: BigInt(`0x${position.slice(HALF)}`) };
}

export function later(one: Position, other: Position): Position {
  return one > other ? one : other;
}

/** @throws TypeError for a node before 22.6, which does not tell the positions of a stream's events */
export function toStoredEvent({ streamId, id, revision, type, data, metadata, position }: RecordedEvent): StoredEvent {
  if (position === undefined) throw new TypeError('the node does not tell positions: it is older than 22.6');
  return {
    id,
    type,
    data: data as JsonObject,
    metadata: (metadata ?? {}) as JsonObject,
    stream: streamId,
    revision: Number(revision),
    position: toPosition(position),
  };
}

/** What one entry of the whole log is to a reader. */
export interface LogEntry {
  readonly position: Position;
  /** Absent where it is one of the node's own, as its statistics. */
  readonly event?: StoredEvent;
}

/** Those events of a piece of the log that match, and how far it reaches. */
export interface LogSlice {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
}

export function toLogEntry({ event }: AllStreamResolvedEvent): LogEntry {
  // There is none only where links are resolved, which is never asked for.
  if (event === undefined) return { position: BEGINNING };
  if (event.streamId.startsWith('$')) return { position: toPosition(event.position) };
  return { position: toPosition(event.position), event: toStoredEvent(event) };
}

export function matches({ stream }: StoredEvent, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => stream.startsWith(prefix));
}
