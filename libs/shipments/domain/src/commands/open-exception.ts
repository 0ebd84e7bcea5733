import {
  EXCEPTION_TITLES,
  type ExceptionType,
  type FieldError,
  type Severity,
  type ShipmentException,
} from '@tracking/contracts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import { refuseIfAny, whileCancelled } from '../decision.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { keyOf } from '../exceptions/reconcile.ts';
import { normaliseCode } from '../references.ts';
import { type ShipmentState, findMilestone } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';
import { withConsequences } from './consequences.ts';
import { type ExceptionAnswer, answerException } from './exception-decision.ts';
import { unknownContainer } from './milestone-decision.ts';

/** An exception as a person opens it, of the right types; what is absent is null. */
export interface ExceptionInput {
  readonly type: ExceptionType;
  readonly severity: Severity;
  /** Null: that of its type. */
  readonly title: string | null;
  readonly detail: string | null;
  readonly container_number: string | null;
  readonly milestone_id: string | null;
  readonly reason_code: string | null;
  readonly assignee: string | null;
}

/** Opens an exception by hand, unless one of its type is open already for the container, or for the shipment without one. */
export interface OpenException extends CommandContext {
  readonly type: 'OpenException';
  readonly shipment_id: string;
  readonly exception: ExceptionInput;
}

interface OpenResult {
  /** `existing`: it was open already, or its rule has opened it now. */
  readonly outcome: 'opened' | 'existing';
  readonly exceptionId: string;
}
export interface OpenExceptionAnswer extends Pick<OpenResult, 'outcome'>, ExceptionAnswer {}

export const openException: CommandHandler<OpenException, OpenResult, Omit<OpenExceptionAnswer, 'warnings'>> = {
  decide,
  resultOf(events, { exception }) {
    const opened = openedAmong(events, normalised(exception));
    if (opened === undefined) return undefined;
    return { outcome: opened.rule === null ? 'opened' : 'existing', exceptionId: opened.id };
  },
  answer: (result, after) => ({ outcome: result.outcome, ...answerException(result, after) }),
};

/** @throws DomainError naming every faulty field; `limit_exceeded` */
function decide(command: OpenException, state: ShipmentState, context: DecideContext): Decision<OpenResult> {
  const { at } = command;
  const { record } = state;
  const input = normalised(command.exception);
  refuseIfAny([...unknownContainer(input, record), ...unknownMilestone(input, state)]);
  const warnings = whileCancelled(record, record);
  const present = state.exceptions.find((each) => each.status !== 'resolved' && isSame(each, input));
  if (present !== undefined) {
    const { nextCheckAt } = state;
    return { outcome: 'existing', exceptionId: present.id, events: [], nextCheckAt, warnings };
  }
  // Where its rule was only not asked yet, it is the rule's: whether the clock came by before tells nobody anything.
  const due = withConsequences(at, state, [], context);
  const byRule = openedAmong(due.events, input);
  if (byRule !== undefined) return { outcome: 'existing', exceptionId: byRule.id, ...due, warnings };

  refuseIfAny(tooMany(state));
  const exception = opened(command, input, context);
  const open_exceptions_count = record.open_exceptions_count + 1;
  const exceptions = [...state.exceptions, exception];
  const after = { ...state, exceptions, record: { ...record, open_exceptions_count } };
  const event: ShipmentEventBody = { type: 'exception.opened.v1', data: { exception, open_exceptions_count } };
  return { outcome: 'opened', exceptionId: exception.id, ...withConsequences(at, after, [event], context), warnings };
}

type Subject = Pick<ExceptionInput, 'type' | 'container_number'>;

function isSame(a: Subject, b: Subject): boolean {
  return keyOf(a.type, a.container_number) === keyOf(b.type, b.container_number);
}

function openedAmong(events: readonly ShipmentEventBody[], subject: Subject): ShipmentException | undefined {
  return events
    .flatMap(({ type, data }) => (type === 'exception.opened.v1' ? [data.exception] : []))
    .find((exception) => isSame(exception, subject));
}

function normalised(input: ExceptionInput): ExceptionInput {
  return { ...input, container_number: input.container_number === null ? null : normaliseCode(input.container_number) };
}

function opened({ at, shipment_id }: OpenException, input: ExceptionInput, { newId }: DecideContext) {
  return {
    ...input,
    id: newId('exc', 0),
    shipment_id,
    title: input.title ?? EXCEPTION_TITLES[input.type],
    status: 'open',
    detected_by: 'manual',
    rule: null,
    metrics: {},
    resolution: null,
    opened_at: at,
    acknowledged_at: null,
    resolved_at: null,
  } as const satisfies ShipmentException;
}

function unknownMilestone({ milestone_id }: ExceptionInput, state: ShipmentState): readonly FieldError[] {
  if (milestone_id === null || findMilestone(state, milestone_id) !== undefined) return [];
  const message = `${milestone_id} is no milestone of this shipment.`;
  return [{ param: 'milestone_id', code: 'unknown_milestone', message }];
}

function tooMany({ exceptions }: ShipmentState): readonly FieldError[] {
  if (exceptions.length < SHIPMENT_LIMITS.exceptions) return [];
  const message = `A shipment has at most ${SHIPMENT_LIMITS.exceptions} exceptions, resolved ones too.`;
  return [{ param: 'type', code: 'limit_exceeded', message }];
}
