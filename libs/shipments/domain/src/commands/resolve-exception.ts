import type { ManualResolutionCode } from '@tracking/contracts';
import { whileCancelled } from '../decision.ts';
import { findException } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import { withConsequences } from './consequences.ts';
import { type ExceptionAnswer, answerException, withException } from './exception-decision.ts';

/** A person resolves an exception: its rule opens no other one until the condition has ended once. */
export interface ResolveException extends CommandContext {
  readonly type: 'ResolveException';
  readonly shipment_id: string;
  readonly exception_id: string;
  readonly code: ManualResolutionCode;
  readonly note: string | null;
}

interface ResolveResult {
  /** `unchanged`: it was resolved already, however. */
  readonly outcome: 'resolved' | 'unchanged';
  readonly exceptionId: string;
}
export interface ResolveExceptionAnswer extends Pick<ResolveResult, 'outcome'>, ExceptionAnswer {}

export const resolveException: CommandHandler<
  ResolveException,
  ResolveResult,
  Omit<ResolveExceptionAnswer, 'warnings'>
> = {
  decide({ exception_id, code, note, actor, at }, state, context) {
    const previous = findException(state, exception_id);
    const common = { exceptionId: previous.id, warnings: whileCancelled(state.record, state.record) };
    if (previous.status === 'resolved') {
      return { ...common, outcome: 'unchanged', events: [], nextCheckAt: state.nextCheckAt };
    }
    const resolution = { code, note, by: actor };
    const exception = { ...previous, status: 'resolved', resolution, resolved_at: at } as const;
    const open_exceptions_count = state.record.open_exceptions_count - 1;
    const data = { exception_id, resolution, resolved_at: at, open_exceptions_count };
    const event = { type: 'exception.resolved.v2', data } as const;
    const after = withException(state, exception, open_exceptions_count);
    return { ...common, outcome: 'resolved', ...withConsequences(at, after, [event], context) };
  },
  resultOf(events, { exception_id }) {
    const isResolved = events.some(
      ({ type, data }) => type === 'exception.resolved.v2' && data.exception_id === exception_id,
    );
    return isResolved ? { outcome: 'resolved', exceptionId: exception_id } : undefined;
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerException(result, after) }),
};
