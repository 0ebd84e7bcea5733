import type { Warning } from '@tracking/contracts';
import type { Position, StoredEvent } from '@tracking/ports';
import {
  type DecideContext,
  type MilestoneDecision,
  type RecordMilestoneAnswer,
  type ShipmentCommand,
  type ShipmentEvent,
  type ShipmentState,
  type UpsertDecision,
  type UpsertShipmentAnswer,
  decide,
  findMilestone,
  fold,
} from '@tracking/shipments-domain';
import { toShipmentEvent } from './shipment-stream.ts';

/** What a command is answered, and the position from which on readers see it. */
export interface Written<Answer> {
  readonly answer: Answer;
  /** For a command that changed nothing: that of the shipment's last event, which is what the answer shows. */
  readonly position: Position;
}

export type ShipmentAnswer = UpsertShipmentAnswer | RecordMilestoneAnswer;
export type AnswerTo<Command extends ShipmentCommand> = Command extends { readonly type: 'UpsertShipment' }
  ? UpsertShipmentAnswer
  : RecordMilestoneAnswer;
type Told =
  Pick<UpsertDecision, 'outcome' | 'warnings'> | Pick<MilestoneDecision, 'outcome' | 'milestoneId' | 'warnings'>;

/** The answer to a command, from what was decided and the shipment right after that. */
export function answerFrom(told: Told, after: ShipmentState): ShipmentAnswer {
  const { warnings } = told;
  switch (told.outcome) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return { outcome: told.outcome, shipment: after.record, warnings };
    case 'recorded':
    case 'corrected':
    case 'existing': {
      const milestone = findMilestone(after, told.milestoneId);
      if (milestone === undefined) throw new Error(`there is no milestone ${told.milestoneId} to answer`);
      return { outcome: told.outcome, milestone, warnings };
    }
  }
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
  const answer = answerFrom(toldBy(command, events, warningsOf(command, before, context)), after);
  return { answer, position: last.position };
}

function toldBy(command: ShipmentCommand, events: readonly ShipmentEvent[], warnings: readonly Warning[]): Told {
  switch (command.type) {
    case 'UpsertShipment':
      return { outcome: events[0]?.type === 'shipment.created.v1' ? 'created' : 'updated', warnings };
    case 'RecordMilestone':
      for (const { type, data } of events) {
        if (type === 'milestone.recorded.v1') return { outcome: 'recorded', milestoneId: data.milestone.id, warnings };
        if (type === 'milestone.corrected.v1')
          return { outcome: 'corrected', milestoneId: data.milestone.id, warnings };
      }
      throw new Error(`${command.id} was the id of another command`);
  }
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
