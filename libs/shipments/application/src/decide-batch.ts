import { DomainError, isInScope, type RuleSettings, type Warning } from '@tracking/contracts';
import { eventSizeBytes, type EventStore, type NewEvent, type Position, type StoredEvent } from '@tracking/ports';
import {
  type AnswerOf,
  type CommandResult,
  type CommandType,
  decide,
  type DecideContext,
  fold,
  handlerOf,
  shipmentNotFound,
  revisionOf,
  type ShipmentCommand,
  type ShipmentState,
  toShipmentEvent,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { partId } from './ids.ts';
import { eventsOf, lastingCharacters, type LoadedShipment, readSlices, toNewEvent } from './shipment-cache.ts';

/** What became of one command of a batch, if its events are appended where they were decided. */
type CommandOutcome =
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
const MAX_SHARED_APPEND_BYTES = MAX_COMMAND_BYTES / 2;

/** Refuses a command: its events hold the change and, for an update, the former values. */
export function commandTooLarge(): DomainError {
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
      if (this.state !== undefined && !isInScope(this.state, command)) throw shipmentNotFound();
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
    const bytes = stored.reduce((sum, event) => sum + eventSizeBytes(event), 0);
    if (bytes > MAX_COMMAND_BYTES) throw commandTooLarge();
    this.bytes += bytes;
    if (this.events.length > 0 && this.bytes > MAX_SHARED_APPEND_BYTES) return false;
    this.outcomes.push({ kind: 'answered', answer: buildAnswer(command, decision, decision.warnings, after) });
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

/** What a command is answered, and the position from which on readers see it. */
export interface Written<Answer> {
  readonly answer: Answer;
  /** For a command that changed nothing: that of the shipment's last event, which is what the answer shows. */
  readonly position: Position;
}

export type ShipmentAnswer = AnswerOf<CommandType>;

/** The answer to a command, from what was decided and the shipment right after that. */
function buildAnswer(
  { type }: ShipmentCommand,
  result: CommandResult,
  warnings: readonly Warning[],
  after: ShipmentState,
): ShipmentAnswer {
  return { ...handlerOf(type).answer(result, after), warnings };
}

/** The events of one command in a stream, and the shipment before them. */
interface StoredOutcome {
  readonly before: ShipmentState | undefined;
  readonly events: readonly StoredEvent[];
}

/** @throws Unavailable; Error if the stream has no event of the command */
export async function findOutcome(store: EventStore, stream: string, command: ShipmentCommand): Promise<StoredOutcome> {
  const isOwn = (event: StoredEvent) => event.metadata['command_id'] === command.id;
  let before: ShipmentState | undefined;
  const found: StoredEvent[] = [];
  for await (const events of readSlices(store, stream)) {
    const own = events.filter(isOwn);
    if (found.length > 0 && own.length === 0) break;
    const start = found.length > 0 ? 0 : events.findIndex(isOwn);
    before = fold(events.slice(0, start === -1 ? events.length : start).map(toShipmentEvent), before);
    found.push(...own);
  }
  if (found.length === 0) throw new Error(`${command.type} ${command.id} is not in its stream`);
  return { before, events: found };
}

/**
 * The first answer to a command that is in the stream: what its events say, on the shipment as it was right after them,
 * whatever came later. The warnings are not stored; they are decided again on the shipment as it was before.
 */
export function rebuildAnswer(
  command: ShipmentCommand,
  { before, events: stored }: StoredOutcome,
  context: DecideContext,
): Written<ShipmentAnswer> {
  const events = stored.map(toShipmentEvent);
  const last = stored.at(-1);
  const after = fold(events, before);
  if (last === undefined || after === undefined) throw new Error(`${command.type} ${command.id} has no events`);
  const result = handlerOf(command.type).resultOf(events, command);
  if (result === undefined) throw new Error(`${command.id} was the id of another command`);
  return {
    answer: buildAnswer(command, result, decideWarnings(command, before, context), after),
    position: last.position,
  };
}

function decideWarnings(
  command: ShipmentCommand,
  before: ShipmentState | undefined,
  context: DecideContext,
): readonly Warning[] {
  try {
    return decide(command, before, context).warnings;
  } catch {
    // It was accepted once. Rules that came later are no reason to refuse it now, nor had they a warning then.
    return [];
  }
}

/** By which exceptions open by themselves, of each workspace. */
export interface RuleSettingsReader {
  /** As they were at most five seconds ago. @throws Unavailable */
  of(workspaceId: string): Promise<RuleSettings>;
}

/** Workspaces whose settings are remembered: the longest unused are forgotten first. */
const MAX_CACHED_SETTINGS = 10_000;

/** Goes on with what it knew last where settings cannot be read: a shipment is written also while their store is away. */
export function cachedRuleSettings(reader: RuleSettingsReader, atMost = MAX_CACHED_SETTINGS): RuleSettingsReader {
  // As sizes: with `max` the cache takes the memory of all of them when it is made.
  const known = new LRUCache<string, RuleSettings>({ maxSize: atMost, sizeCalculation: () => 1 });
  return {
    async of(workspaceId) {
      try {
        const settings = await reader.of(workspaceId);
        known.set(workspaceId, settings);
        return settings;
      } catch (error) {
        const last = known.get(workspaceId);
        if (last === undefined) throw error;
        return last;
      }
    },
  };
}
