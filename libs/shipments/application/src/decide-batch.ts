import { DomainError, isInScope } from '@tracking/contracts';
import { type NewEvent, bytesOf } from '@tracking/ports';
import {
  type DecideContext,
  type ShipmentCommand,
  type ShipmentState,
  decide,
  fold,
  noSuchShipment,
  revisionOf,
} from '@tracking/shipments-domain';
import { type ShipmentAnswer, answerTo } from './answers.ts';
import { partId } from './ids.ts';
import { type LoadedShipment, eventsOf, lastingCharacters, toNewEvent } from './shipment-stream.ts';

/** What became of one command of a batch, if its events are appended where they were decided. */
export type CommandOutcome =
  | { readonly kind: 'answered'; readonly answer: ShipmentAnswer }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Its events are in the stream, or in this batch: the first answer is rebuilt from there. */
  | { readonly kind: 'repeated' };

export interface BatchDecision {
  /** By the order of the commands; shorter than them when one append would grow too large. */
  readonly outcomes: readonly CommandOutcome[];
  readonly events: readonly NewEvent[];
  /** The shipment after all of them, but for its place in the store; undefined when there is none. */
  readonly after: Pick<LoadedShipment, 'state' | 'characters'> | undefined;
  /** Whether every command wrote, so that appending also proves that each was decided on the stream as it is. */
  readonly proven: boolean;
}

/** Most bytes of data and metadata that one command stores. An append has room for more: an import adds to metadata. */
export const MAX_COMMAND_BYTES = 1_000_000;
/** Most bytes that several commands store in one append. */
const SHARED_APPEND_BYTES = MAX_COMMAND_BYTES / 2;

/** Refuses a command: its events hold the change and, for an update, the former values. */
export function tooLarge(): DomainError {
  return new DomainError('body_too_large', `What this request would store is larger than ${MAX_COMMAND_BYTES} bytes.`);
}

/** What decisions on a shipment need to know beside it. */
export type DecisionBasis = Pick<DecideContext, 'places' | 'settings'>;

/** Names what a command makes after the command, so that a repetition makes the same. */
export function contextFor(command: ShipmentCommand, basis: DecisionBasis): DecideContext {
  return { ...basis, newId: (kind, n) => partId(kind, command.shipment_id, command.id, n) };
}

/**
 * Decides commands of one shipment one after another, each on the state that the one before it leaves. A command that is
 * refused leaves no trace, and the others do not suffer from it.
 */
export function decideBatch(
  commands: readonly ShipmentCommand[],
  loaded: LoadedShipment | undefined,
  basis: DecisionBasis,
): BatchDecision {
  const batch = new Batch(loaded);
  for (const command of commands) {
    if (!batch.add(command, contextFor(command, basis))) break;
  }
  return batch.decision();
}

/** Decisions on one shipment, while they are made. */
class Batch {
  private readonly events: NewEvent[] = [];
  private readonly outcomes: CommandOutcome[] = [];
  private state: ShipmentState | undefined;
  private revision: number;
  private bytes = 0;
  private wrote = 0;

  constructor(private readonly loaded: LoadedShipment | undefined) {
    this.state = loaded?.state;
    this.revision = loaded?.revision ?? -1;
  }

  /** Answers whether there was room for what the command stores. */
  add(command: ShipmentCommand, context: DecideContext): boolean {
    try {
      if (this.state !== undefined && !isInScope(this.state, command)) throw noSuchShipment();
      if (this.state === undefined || revisionOf(this.state, command.id) === undefined) {
        return this.decide(command, context);
      }
      this.outcomes.push({ kind: 'repeated' });
    } catch (error) {
      this.outcomes.push({ kind: 'failed', error });
    }
    return true;
  }

  private decide(command: ShipmentCommand, context: DecideContext): boolean {
    const decision = decide(command, this.state, context);
    const made = eventsOf(command, decision.events, decision.nextCheckAt, this.revision + 1);
    const after = fold(made, this.state);
    if (after === undefined) throw new Error(`${command.type} made no shipment`);
    const stored = made.map(toNewEvent);
    const bytes = stored.reduce((sum, event) => sum + bytesOf(event), 0);
    if (bytes > MAX_COMMAND_BYTES) throw tooLarge();
    this.bytes += bytes;
    if (this.events.length > 0 && this.bytes > SHARED_APPEND_BYTES) return false;
    this.outcomes.push({ kind: 'answered', answer: answerTo(command, decision, decision.warnings, after) });
    this.events.push(...stored);
    this.state = after;
    this.revision += made.length;
    this.wrote += made.length > 0 ? 1 : 0;
    return true;
  }

  decision(): BatchDecision {
    const { events, outcomes, state, loaded } = this;
    const characters = events.reduce((sum, event) => sum + lastingCharacters(event), loaded?.characters ?? 0);
    return { outcomes, events, after: state && { state, characters }, proven: this.wrote === outcomes.length };
  }
}
