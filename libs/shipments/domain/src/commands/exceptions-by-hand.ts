import {
  DomainError,
  EXCEPTION_TITLES,
  type ExceptionType,
  type FieldError,
  type ManualResolutionCode,
  type Severity,
  type ShipmentException,
  type Warning,
} from '@tracking/contracts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { createFindingKey, addEventsOfDerivedChanges } from '../exceptions/reconcile.ts';
import { normaliseCode } from '../references.ts';
import { findExceptionOrThrow, findMilestone, type ShipmentState } from '../state.ts';
import {
  type CommandContext,
  type CommandHandler,
  type DecideContext,
  type Decision,
  throwIfInvalidFields,
  warnOfCancelledShipment,
} from './command.ts';
import { checkContainerExists } from './record-milestone.ts';

/** Fields of an exception that a person opens, with correct types; null if absent. */
export interface ExceptionInput {
  readonly type: ExceptionType;
  readonly severity: Severity;
  /** Title of the exception; null for the default title of its type. */
  readonly title: string | null;
  readonly detail: string | null;
  readonly container_number: string | null;
  readonly milestone_id: string | null;
  readonly reason_code: string | null;
  readonly assignee: string | null;
}

/**
 * Opens an exception by hand, unless an exception of its type is already open for the same container or the shipment.
 */
export interface OpenExceptionCommand extends CommandContext {
  readonly type: 'OpenException';
  readonly shipment_id: string;
  readonly exception: ExceptionInput;
}

interface OpenExceptionResult {
  /** `existing`: the exception was already open, or its rule opens the exception together with this command. */
  readonly outcome: 'opened' | 'existing';
  readonly exceptionId: string;
}
export interface OpenExceptionAnswer extends Pick<OpenExceptionResult, 'outcome'>, ExceptionCommandAnswer {}

export const openExceptionHandler: CommandHandler<
  OpenExceptionCommand,
  OpenExceptionResult,
  Omit<OpenExceptionAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment: decideExceptionOpening,
  rebuildResultFromEvents(events, { exception }) {
    const opened = findExceptionOpenedByEvents(events, normaliseExceptionInput(exception));
    if (opened === undefined) return undefined;
    return { outcome: opened.rule === null ? 'opened' : 'existing', exceptionId: opened.id };
  },
  buildAnswerFromResult: (result, after) => ({
    outcome: result.outcome,
    ...createExceptionCommandAnswer(result, after),
  }),
};

/** @throws DomainError with every invalid field in `details`; `limit_exceeded` */
function decideExceptionOpening(
  command: OpenExceptionCommand,
  state: ShipmentState,
  context: DecideContext,
): Decision<OpenExceptionResult> {
  const { at } = command;
  const { record } = state;
  const input = normaliseExceptionInput(command.exception);
  throwIfInvalidFields([...checkContainerExists(input, record), ...listMissingMilestoneErrors(input, state)]);
  const warnings = warnOfCancelledShipment(record, record);
  const present = state.exceptions.find((each) => each.status !== 'resolved' && isSameExceptionSubject(each, input));
  if (present !== undefined) {
    const { nextCheckAt } = state;
    return { outcome: 'existing', exceptionId: present.id, events: [], nextCheckAt, warnings };
  }
  // If its rule is due, the rule opens the exception, so that the outcome does not depend on when the clock last
  // checked the shipment.
  const due = addEventsOfDerivedChanges(at, state, [], context);
  const byRule = findExceptionOpenedByEvents(due.events, input);
  if (byRule !== undefined) return { outcome: 'existing', exceptionId: byRule.id, ...due, warnings };

  throwIfInvalidFields(checkExceptionLimit(state));
  const exception = buildManualShipmentException(command, input, context);
  const open_exceptions_count = record.open_exceptions_count + 1;
  const exceptions = [...state.exceptions, exception];
  const after = { ...state, exceptions, record: { ...record, open_exceptions_count } };
  const event: ShipmentEventBody = { type: 'exception.opened.v1', data: { exception, open_exceptions_count } };
  return {
    outcome: 'opened',
    exceptionId: exception.id,
    ...addEventsOfDerivedChanges(at, after, [event], context),
    warnings,
  };
}

type ExceptionSubject = Pick<ExceptionInput, 'type' | 'container_number'>;

function isSameExceptionSubject(a: ExceptionSubject, b: ExceptionSubject): boolean {
  return createFindingKey(a.type, a.container_number) === createFindingKey(b.type, b.container_number);
}

function findExceptionOpenedByEvents(
  events: readonly ShipmentEventBody[],
  subject: ExceptionSubject,
): ShipmentException | undefined {
  return events
    .flatMap(({ type, data }) => (type === 'exception.opened.v1' ? [data.exception] : []))
    .find((exception) => isSameExceptionSubject(exception, subject));
}

function normaliseExceptionInput(input: ExceptionInput): ExceptionInput {
  return { ...input, container_number: input.container_number === null ? null : normaliseCode(input.container_number) };
}

function buildManualShipmentException(
  { at, shipment_id }: OpenExceptionCommand,
  input: ExceptionInput,
  { newId }: DecideContext,
) {
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

function listMissingMilestoneErrors({ milestone_id }: ExceptionInput, state: ShipmentState): readonly FieldError[] {
  if (milestone_id === null || findMilestone(state, milestone_id) !== undefined) return [];
  const message = `The shipment has no milestone ${milestone_id}.`;
  return [{ param: 'milestone_id', code: 'unknown_milestone', message }];
}

function checkExceptionLimit({ exceptions }: ShipmentState): readonly FieldError[] {
  if (exceptions.length < SHIPMENT_LIMITS.exceptions) return [];
  const message = `A shipment can have at most ${SHIPMENT_LIMITS.exceptions} exceptions, including resolved ones.`;
  return [{ param: 'type', code: 'limit_exceeded', message }];
}

/** A person acknowledges an exception. A repeated acknowledgement can change the assignee or add a note. */
export interface AcknowledgeException extends CommandContext {
  readonly type: 'AcknowledgeException';
  readonly shipment_id: string;
  readonly exception_id: string;
  /** New assignee. If absent, the assignee does not change; null removes the assignee. */
  readonly assignee?: string | null;
  /** Note for the history of the shipment. */
  readonly note: string | null;
}

interface AcknowledgeExceptionResult {
  /** `unchanged`: the exception already had these values, and the note is absent or equals the last note. */
  readonly outcome: 'acknowledged' | 'unchanged';
  readonly exceptionId: string;
}
export interface AcknowledgeExceptionAnswer
  extends Pick<AcknowledgeExceptionResult, 'outcome'>, ExceptionCommandAnswer {}

export const acknowledgeExceptionHandler: CommandHandler<
  AcknowledgeException,
  AcknowledgeExceptionResult,
  Omit<AcknowledgeExceptionAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ exception_id, note, at, ...command }, state, context) {
    const previous = findExceptionOrThrow(state, exception_id);
    if (previous.status === 'resolved') {
      throw new DomainError(
        'exception_resolved',
        'The exception is resolved. If the problem persists, open a new exception.',
      );
    }
    const { assignee = previous.assignee } = command;
    const common = { exceptionId: previous.id, warnings: warnOfCancelledShipment(state.record, state.record) };
    const isNoteKnown = note === null || note === state.acknowledgementNotes.get(previous.id);
    if (previous.status === 'acknowledged' && assignee === previous.assignee && isNoteKnown) {
      return { ...common, outcome: 'unchanged', events: [], nextCheckAt: state.nextCheckAt };
    }
    const acknowledged_at = previous.acknowledged_at ?? at;
    const exception = { ...previous, status: 'acknowledged', assignee, acknowledged_at } as const;
    const event = { type: 'exception.updated.v1', data: { exception, previous, note } } as const;
    const after = replaceExceptionInShipmentState(state, exception);
    return { ...common, outcome: 'acknowledged', ...addEventsOfDerivedChanges(at, after, [event], context) };
  },
  rebuildResultFromEvents(events, { exception_id }) {
    const isUpdated = events.some(
      ({ type, data }) => type === 'exception.updated.v1' && data.exception.id === exception_id,
    );
    return isUpdated ? { outcome: 'acknowledged', exceptionId: exception_id } : undefined;
  },
  buildAnswerFromResult: (result, after) => ({
    outcome: result.outcome,
    ...createExceptionCommandAnswer(result, after),
  }),
};

/** A person resolves an exception. Its rule opens no new exception until the condition has ended once. */
export interface ResolveExceptionCommand extends CommandContext {
  readonly type: 'ResolveException';
  readonly shipment_id: string;
  readonly exception_id: string;
  readonly code: ManualResolutionCode;
  readonly note: string | null;
}

interface ResolveExceptionResult {
  /** `unchanged`: the exception was already resolved, with any code. */
  readonly outcome: 'resolved' | 'unchanged';
  readonly exceptionId: string;
}
export interface ResolveExceptionAnswer extends Pick<ResolveExceptionResult, 'outcome'>, ExceptionCommandAnswer {}

export const resolveExceptionHandler: CommandHandler<
  ResolveExceptionCommand,
  ResolveExceptionResult,
  Omit<ResolveExceptionAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ exception_id, code, note, actor, at }, state, context) {
    const previous = findExceptionOrThrow(state, exception_id);
    const common = { exceptionId: previous.id, warnings: warnOfCancelledShipment(state.record, state.record) };
    if (previous.status === 'resolved') {
      return { ...common, outcome: 'unchanged', events: [], nextCheckAt: state.nextCheckAt };
    }
    const resolution = { code, note, by: actor };
    const exception = { ...previous, status: 'resolved', resolution, resolved_at: at } as const;
    const open_exceptions_count = state.record.open_exceptions_count - 1;
    const data = { exception_id, resolution, resolved_at: at, open_exceptions_count };
    const event = { type: 'exception.resolved.v2', data } as const;
    const after = replaceExceptionInShipmentState(state, exception, open_exceptions_count);
    return { ...common, outcome: 'resolved', ...addEventsOfDerivedChanges(at, after, [event], context) };
  },
  rebuildResultFromEvents(events, { exception_id }) {
    const isResolved = events.some(
      ({ type, data }) => type === 'exception.resolved.v2' && data.exception_id === exception_id,
    );
    return isResolved ? { outcome: 'resolved', exceptionId: exception_id } : undefined;
  },
  buildAnswerFromResult: (result, after) => ({
    outcome: result.outcome,
    ...createExceptionCommandAnswer(result, after),
  }),
};

/** The answer to every command about one exception. */
interface ExceptionCommandAnswer {
  readonly exception: ShipmentException;
  /** Version of the shipment right after the command. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

function createExceptionCommandAnswer({ exceptionId }: { readonly exceptionId: string }, after: ShipmentState) {
  return { exception: findExceptionOrThrow(after, exceptionId), shipment_version: after.record.version };
}

/** Returns the state with a changed exception and an updated count of open exceptions. */
function replaceExceptionInShipmentState(
  { exceptions, record, ...state }: ShipmentState,
  changed: ShipmentException,
  open_exceptions_count = record.open_exceptions_count,
): ShipmentState {
  return {
    ...state,
    record: { ...record, open_exceptions_count },
    exceptions: exceptions.map((each) => (each.id === changed.id ? changed : each)),
  };
}
