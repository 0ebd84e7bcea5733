import { DomainError } from '@tracking/contracts';
import { whileCancelled } from '../decision.ts';
import { findException } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import { withConsequences } from './consequences.ts';
import { type ExceptionAnswer, answerException, withException } from './exception-decision.ts';

/** Somebody deals with an exception; done again, somebody else does, or there is something to say about it. */
export interface AcknowledgeException extends CommandContext {
  readonly type: 'AcknowledgeException';
  readonly shipment_id: string;
  readonly exception_id: string;
  /** Absent: as it is; null: nobody. */
  readonly assignee?: string | null;
  /** For its history. */
  readonly note: string | null;
}

interface AcknowledgeResult {
  /** `unchanged`: it was so already, without a note or with the last one. */
  readonly outcome: 'acknowledged' | 'unchanged';
  readonly exceptionId: string;
}
export interface AcknowledgeExceptionAnswer extends Pick<AcknowledgeResult, 'outcome'>, ExceptionAnswer {}

export const acknowledgeException: CommandHandler<
  AcknowledgeException,
  AcknowledgeResult,
  Omit<AcknowledgeExceptionAnswer, 'warnings'>
> = {
  decide({ exception_id, note, at, ...command }, state, context) {
    const previous = findException(state, exception_id);
    if (previous.status === 'resolved') {
      throw new DomainError('exception_resolved', 'The exception is resolved. Open another one if it is not over.');
    }
    const { assignee = previous.assignee } = command;
    const common = { exceptionId: previous.id, warnings: whileCancelled(state.record, state.record) };
    const isNoteKnown = note === null || note === state.acknowledgementNotes.get(previous.id);
    if (previous.status === 'acknowledged' && assignee === previous.assignee && isNoteKnown) {
      return { ...common, outcome: 'unchanged', events: [], nextCheckAt: state.nextCheckAt };
    }
    const acknowledged_at = previous.acknowledged_at ?? at;
    const exception = { ...previous, status: 'acknowledged', assignee, acknowledged_at } as const;
    const event = { type: 'exception.updated.v1', data: { exception, previous, note } } as const;
    const after = withException(state, exception);
    return { ...common, outcome: 'acknowledged', ...withConsequences(at, after, [event], context) };
  },
  resultOf(events, { exception_id }) {
    const isUpdated = events.some(
      ({ type, data }) => type === 'exception.updated.v1' && data.exception.id === exception_id,
    );
    return isUpdated ? { outcome: 'acknowledged', exceptionId: exception_id } : undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerException(result, after) }),
};
