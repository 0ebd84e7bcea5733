import { DomainError } from '@tracking/contracts';
import { MAX_APPEND_BYTES, type NewEvent } from '@tracking/ports';
import { type DecideContext, type ShipmentCommand, decide, fold, revisionOf } from '@tracking/shipments-domain';
import { type ShipmentAnswer, answerTo } from './answers.ts';
import { partId } from './ids.ts';
import {
  type LoadedShipment,
  eventsOf,
  isInScope,
  lastingCharacters,
  noSuchShipment,
  toNewEvent,
} from './shipment-stream.ts';

/** What became of one command of a batch, if its events are appended where they were decided. */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: ShipmentAnswer }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Its events are in the stream, or in this batch: the first answer is rebuilt from there. */
  | { readonly kind: 'repeated' };

export interface BatchDecision {
  /** By the order of the commands; shorter than them when one append would grow too large. */
  readonly outcomes: readonly Outcome[];
  readonly events: readonly NewEvent[];
  /** The shipment after all of them, but for its place in the store; undefined when there is none. */
  readonly after: Pick<LoadedShipment, 'state' | 'characters'> | undefined;
  /** Whether every command wrote, so that appending also proves that each was decided on the stream as it is. */
  readonly proven: boolean;
}

/** Characters of one append. Engines refuse appends above a size (EventStoreDB: 1 MiB by default). */
const MAX_APPEND_CHARACTERS = 256 * 1024;

/** What one request stores: the change, and for an update what was there before. */
export function tooLarge(): DomainError {
  return new DomainError('body_too_large', `What this request would store is larger than ${MAX_APPEND_BYTES} bytes.`);
}

/** Names what a command makes after the command, so that a repetition makes the same. */
export function contextFor(command: ShipmentCommand, places: DecideContext['places']): DecideContext {
  return { places, newId: (kind, n) => partId(kind, command.shipment_id, command.id, n) };
}

/**
 * Decides commands of one shipment one after another, each on the state that the one before it leaves. A command that is
 * refused leaves no trace, and the others do not suffer from it.
 */
export function decideBatch(
  commands: readonly ShipmentCommand[],
  known: LoadedShipment | undefined,
  places: DecideContext['places'],
): BatchDecision {
  let state = known?.state;
  let revision = known?.revision ?? -1;
  let size = 0;
  let wrote = 0;
  const events: NewEvent[] = [];
  const outcomes: Outcome[] = [];
  for (const command of commands) {
    try {
      if (state !== undefined && !isInScope(state, command)) throw noSuchShipment();
      if (state !== undefined && revisionOf(state, command.id) !== undefined) {
        outcomes.push({ kind: 'repeated' });
        continue;
      }
      const decision = decide(command, state, contextFor(command, places));
      const made = eventsOf(command, decision.events, decision.nextCheckAt, revision + 1);
      const after = fold(made, state);
      if (after === undefined) throw new Error(`${command.type} made no shipment`);
      const stored = made.map(toNewEvent);
      const characters = commands.length > 1 ? JSON.stringify(stored).length : 0;
      // Alone it is refused by the store; among others it must not take them with it.
      if (characters > MAX_APPEND_BYTES) throw tooLarge();
      size += characters;
      if (events.length > 0 && size > MAX_APPEND_CHARACTERS) break;
      outcomes.push({ kind: 'answered', answer: answerTo(command, decision, decision.warnings, after) });
      events.push(...stored);
      state = after;
      revision += made.length;
      wrote += made.length > 0 ? 1 : 0;
    } catch (error) {
      outcomes.push({ kind: 'failed', error });
    }
  }
  const characters = events.reduce((sum, event) => sum + lastingCharacters(event), known?.characters ?? 0);
  return { outcomes, events, after: state && { state, characters }, proven: wrote === outcomes.length };
}
