import { DomainError, isResourceInScope, type RuleSettings, type Warning } from '@tracking/contracts';
import { computeEventBytes, type EventStore, type NewEvent, type Position, type StoredEvent } from '@tracking/ports';
import {
  type AnswerOf,
  type CommandResult,
  type CommandType,
  decide,
  type DecideContext,
  fold,
  getCommandHandler,
  createShipmentNotFoundError,
  findRevisionAppendedByCommand,
  type ShipmentCommand,
  type ShipmentState,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { createIdOfShipmentPart } from './ids.ts';
import {
  addMetadataToShipmentEvents,
  countCharactersKeptByEvent,
  type LoadedShipment,
  MAX_EVENTS_PER_READ,
  readEventsInSlices,
  toNewEvent,
} from './shipment-cache.ts';

/**
 * The outcome of one command of a batch. It is valid if the batch's events are appended at the revision of the
 * decision.
 */
type CommandOutcome =
  | { readonly kind: 'answered'; readonly answer: ShipmentAnswer }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Its events are in the stream, or in this batch: the first answer is rebuilt from there. */
  | { readonly kind: 'repeated' };

export interface BatchDecision {
  /** Outcomes in the order of the commands. If one append would become too large, the last commands have no outcome. */
  readonly outcomes: readonly CommandOutcome[];
  readonly events: readonly NewEvent[];
  /** The shipment after all commands, without its position in the store; undefined if the shipment does not exist. */
  readonly after: Pick<LoadedShipment, 'state' | 'characters'> | undefined;
  /**
   * True if every command appends events. A successful append then proves that the commands were decided on the current
   * stream.
   */
  readonly proven: boolean;
}

/**
 * Maximum bytes of data and metadata that one command stores. An append allows more bytes, because an import adds
 * metadata.
 */
export const MAX_EVENT_BYTES_PER_COMMAND = 1_000_000;
/** Maximum bytes that several commands store in one append. */
const MAX_SHARED_APPEND_BYTES = MAX_EVENT_BYTES_PER_COMMAND / 2;

/**
 * Returns the error for a command whose events are too large. The events of an update contain the former values too.
 */
export function createCommandTooLargeError(): DomainError {
  return new DomainError(
    'body_too_large',
    `The data that this request would store is larger than ${MAX_EVENT_BYTES_PER_COMMAND} bytes.`,
  );
}

/** Inputs of decisions on a shipment, other than its state. */
export type DecisionBasis = Pick<DecideContext, 'places' | 'settings'>;

/**
 * Returns the context for deciding a command. Ids of new resources are derived from the command, so that a repeated
 * command creates the same ids.
 */
export function createDecideContext(command: ShipmentCommand, basis: DecisionBasis): DecideContext {
  return { ...basis, newId: (kind, n) => createIdOfShipmentPart(kind, command.shipment_id, command.id, n) };
}

/**
 * Decides commands of one shipment one after another, each on the state after the previous command. A refused command
 * does not affect the state or other commands.
 */
export function decideCommandBatch(
  commands: readonly ShipmentCommand[],
  loaded: LoadedShipment | undefined,
  basis: DecisionBasis,
): BatchDecision {
  const batch = new DecidedBatch(loaded);
  for (const command of commands) {
    if (!batch.decideCommandIfItFits(command, createDecideContext(command, basis))) break;
  }
  return batch.toBatchDecision();
}

/** Decisions on several commands of one shipment. */
class DecidedBatch {
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

  /** Decides one more command. Returns false if its events do not fit into the append. */
  decideCommandIfItFits(command: ShipmentCommand, context: DecideContext): boolean {
    try {
      if (this.state !== undefined && !isResourceInScope(this.state, command)) throw createShipmentNotFoundError();
      if (this.state === undefined || findRevisionAppendedByCommand(this.state, command.id) === undefined) {
        return this.addDecisionToBatch(command, context);
      }
      this.outcomes.push({ kind: 'repeated' });
    } catch (error) {
      this.outcomes.push({ kind: 'failed', error });
    }
    return true;
  }

  private addDecisionToBatch(command: ShipmentCommand, context: DecideContext): boolean {
    const decision = decide(command, this.state, context);
    const made = addMetadataToShipmentEvents(command, decision.events, decision.nextCheckAt, this.revision + 1);
    const after = fold(made, this.state);
    if (after === undefined) throw new Error(`cannot decide ${command.type}: its events create no shipment`);
    const stored = made.map(toNewEvent);
    const bytes = stored.reduce((sum, event) => sum + computeEventBytes(event), 0);
    if (bytes > MAX_EVENT_BYTES_PER_COMMAND) throw createCommandTooLargeError();
    this.bytes += bytes;
    if (this.events.length > 0 && this.bytes > MAX_SHARED_APPEND_BYTES) return false;
    this.outcomes.push({ kind: 'answered', answer: buildCommandAnswer(command, decision, decision.warnings, after) });
    this.events.push(...stored);
    this.state = after;
    this.revision += made.length;
    this.wrote += made.length > 0 ? 1 : 0;
    return true;
  }

  toBatchDecision(): BatchDecision {
    const { events, outcomes, state, loaded } = this;
    const characters = events.reduce((sum, event) => sum + countCharactersKeptByEvent(event), loaded?.characters ?? 0);
    return { outcomes, events, after: state && { state, characters }, proven: this.wrote === outcomes.length };
  }
}

/** The answer to a command, and the position from which readers see its change. */
export interface AnswerWithPosition<Answer> {
  readonly answer: Answer;
  /**
   * Position of the command's last event. If the command changed nothing, the position of the shipment's last event.
   */
  readonly position: Position;
}

export type ShipmentAnswer = AnswerOf<CommandType>;

/** Builds the answer to a command from its result and the shipment directly after the command. */
function buildCommandAnswer(
  { type }: ShipmentCommand,
  result: CommandResult,
  warnings: readonly Warning[],
  after: ShipmentState,
): ShipmentAnswer {
  return { ...getCommandHandler(type).buildAnswerFromResult(result, after), warnings };
}

/** The stored events of one command, and the shipment before them. */
export interface StoredEventsOfCommand {
  readonly commandId: string;
  readonly before: ShipmentState | undefined;
  readonly events: readonly StoredEvent[];
}

/**
 * Finds the events of commands in their stream, with one read for all of them. Yields them in the order of the stream,
 * without commands that have no event.
 * @throws UnavailableError
 */
export async function* findStoredCommandOutcomes(
  store: EventStore,
  stream: string,
  commandIds: Iterable<string>,
): AsyncIterable<StoredEventsOfCommand> {
  const missing = new Set(commandIds);
  let before: ShipmentState | undefined;
  let unfolded: StoredEvent[] = [];
  for await (const events of readEventsByCommand(store, stream)) {
    const commandId = readCommandId(events[0]);
    const isFound = missing.delete(commandId);
    if (isFound || unfolded.length >= MAX_EVENTS_PER_READ) {
      before = fold(unfolded.map(upcastStoredShipmentEvent), before);
      unfolded = [];
    }
    if (isFound) yield { commandId, before, events };
    if (missing.size === 0) return;
    unfolded.push(...events);
  }
}

/** Reads the events of a stream, in groups of the events that one command appended. */
async function* readEventsByCommand(store: EventStore, stream: string): AsyncIterable<readonly StoredEvent[]> {
  let group: StoredEvent[] = [];
  for await (const events of readEventsInSlices(store, stream)) {
    for (const event of events) {
      if (group.length > 0 && readCommandId(group[0]) !== readCommandId(event)) {
        yield group;
        group = [];
      }
      group.push(event);
    }
  }
  if (group.length > 0) yield group;
}

function readCommandId(event: StoredEvent | undefined): string {
  return String(event?.metadata['command_id']);
}

/**
 * Rebuilds the first answer to a stored command from its events and the shipment directly after them. Later events are
 * ignored. Warnings are not stored, so they are decided again on the shipment before the command.
 */
export function rebuildAnswerToCommand(
  command: ShipmentCommand,
  { before, events: stored }: StoredEventsOfCommand,
  context: DecideContext,
): AnswerWithPosition<ShipmentAnswer> {
  const events = stored.map(upcastStoredShipmentEvent);
  const last = stored.at(-1);
  const after = fold(events, before);
  if (last === undefined || after === undefined)
    throw new Error(`cannot rebuild the answer to ${command.type} ${command.id}: the command has no stored events`);
  const result = getCommandHandler(command.type).rebuildResultFromEvents(events, command);
  if (result === undefined)
    throw new Error(`cannot rebuild the answer: ${command.id} is the id of a command of another type`);
  return {
    answer: buildCommandAnswer(command, result, decideCommandWarnings(command, before, context), after),
    position: last.position,
  };
}

function decideCommandWarnings(
  command: ShipmentCommand,
  before: ShipmentState | undefined,
  context: DecideContext,
): readonly Warning[] {
  try {
    return decide(command, before, context).warnings;
  } catch {
    // The command was accepted before, so newer rules that refuse it now are ignored; it had no warning then.
    return [];
  }
}

/** Reads the rule settings of workspaces. */
export interface RuleSettingsReader<T extends RuleSettings = RuleSettings> {
  /** Returns settings that are at most 5 seconds old. @throws UnavailableError */
  getCachedSettings(workspaceId: string): Promise<T>;
}

/** Maximum number of workspaces whose settings are cached. The least recently used settings are dropped first. */
const MAX_CACHED_SETTINGS = 10_000;

/**
 * Caches rule settings. If the settings cannot be read, returns the last known settings, so that shipments can be
 * written while the settings' store is unavailable. The shipments service and the re-check job of a process share one
 * reader, so that no check uses earlier settings than the job has read.
 */
export function createCachedRuleSettingsReader<T extends RuleSettings>(
  reader: RuleSettingsReader<T>,
  atMost = MAX_CACHED_SETTINGS,
): RuleSettingsReader<T> {
  // Limited by size, because with `max` the cache would allocate memory for all entries at once.
  const known = new LRUCache<string, T>({ maxSize: atMost, sizeCalculation: () => 1 });
  return {
    async getCachedSettings(workspaceId) {
      try {
        const settings = await reader.getCachedSettings(workspaceId);
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
