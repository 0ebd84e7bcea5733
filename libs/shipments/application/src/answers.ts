import type { Warning } from '@tracking/contracts';
import type { Position, StoredEvent } from '@tracking/ports';
import {
  type AnswerOf,
  type CommandResult,
  type CommandType,
  type DecideContext,
  type ShipmentCommand,
  type ShipmentState,
  decide,
  fold,
  handlerOf,
  toShipmentEvent,
} from '@tracking/shipments-domain';

/** What a command is answered, and the position from which on readers see it. */
export interface Written<Answer> {
  readonly answer: Answer;
  /** For a command that changed nothing: that of the shipment's last event, which is what the answer shows. */
  readonly position: Position;
}

export type ShipmentAnswer = AnswerOf<CommandType>;

/** The answer to a command, from what was decided and the shipment right after that. */
export function answerTo(
  { type }: ShipmentCommand,
  result: CommandResult,
  warnings: readonly Warning[],
  after: ShipmentState,
): ShipmentAnswer {
  return { ...handlerOf(type).answer(result, after), warnings };
}

/**
 * The first answer to a command that is in the stream: what its events say, on the shipment as it was right after them,
 * whatever came later. The warnings are not stored; they are decided again on the shipment as it was before.
 * @param history the whole stream
 */
export function rebuildAnswer(
  command: ShipmentCommand,
  history: readonly StoredEvent[],
  context: DecideContext,
): Written<ShipmentAnswer> {
  const isOwn = (event: StoredEvent | undefined) => event?.metadata['command_id'] === command.id;
  const start = history.findIndex(isOwn);
  const end = history.findLastIndex(isOwn);
  const last = history[end];
  if (last === undefined) throw new Error(`${command.type} ${command.id} is not in its stream`);
  const before = fold(history.slice(0, start).map(toShipmentEvent));
  const events = history.slice(start, end + 1).map(toShipmentEvent);
  const after = fold(events, before);
  if (after === undefined) throw new Error(`${last.stream} is empty`);
  const result = handlerOf(command.type).resultOf(events, command);
  if (result === undefined) throw new Error(`${command.id} was the id of another command`);
  return { answer: answerTo(command, result, warningsOf(command, before, context), after), position: last.position };
}

function warningsOf(
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
