import type { Warning } from '@tracking/contracts';
import type { Position, StoredEvent } from '@tracking/ports';
import {
  type CancellationAnswer,
  type CancellationDecision,
  type DecideContext,
  type MilestoneDecision,
  type RecordMilestone,
  type RecordMilestoneAnswer,
  type ShipmentCommand,
  type ShipmentEvent,
  type ShipmentState,
  type UpsertDecision,
  type UpsertShipment,
  type UpsertShipmentAnswer,
  decide,
  findMilestone,
  fold,
  toShipmentEvent,
} from '@tracking/shipments-domain';

/** What a command is answered, and the position from which on readers see it. */
export interface Written<Answer> {
  readonly answer: Answer;
  /** For a command that changed nothing: that of the shipment's last event, which is what the answer shows. */
  readonly position: Position;
}

export type ShipmentAnswer = UpsertShipmentAnswer | RecordMilestoneAnswer | CancellationAnswer;
export type AnswerTo<Command extends ShipmentCommand> = Command extends UpsertShipment
  ? UpsertShipmentAnswer
  : Command extends RecordMilestone
    ? RecordMilestoneAnswer
    : CancellationAnswer;
type Told =
  | Pick<UpsertDecision | CancellationDecision, 'outcome' | 'warnings'>
  | Pick<MilestoneDecision, 'outcome' | 'milestoneId' | 'warnings'>;

/** The answer to a command, from what was decided and the shipment right after that. */
export function answerFrom(told: Told, after: ShipmentState): ShipmentAnswer {
  const { warnings } = told;
  switch (told.outcome) {
    case 'created':
    case 'updated':
    case 'cancelled':
    case 'reopened':
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
        if (type === 'milestone.corrected.v1') {
          const { milestone, previous } = data;
          const outcome = milestone.revision === previous.revision ? 'existing' : 'corrected';
          return { outcome, milestoneId: milestone.id, warnings };
        }
      }
      throw new Error(`${command.id} was the id of another command`);
    case 'CancelShipment':
      return { outcome: 'cancelled', warnings };
    case 'ReopenShipment':
      return { outcome: 'reopened', warnings };
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
