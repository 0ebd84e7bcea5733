import type {
  ExceptionStatus,
  ExceptionType,
  Scope,
  Severity,
  ShipmentException,
  Timestamp,
} from '@tracking/contracts';
import { exceptionAfter, exceptionChange, isWholeException } from '@tracking/shipments-domain';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { SCOPE_FIELDS, scopeOf } from '../scope.ts';

/** One exception; what lists filter and sort by stands beside it. */
export interface ExceptionRow extends ReadModelRow, Scope {
  readonly exception: ShipmentException;
  readonly shipment_id: string;
  readonly status: ExceptionStatus;
  readonly type: ExceptionType;
  readonly severity: Severity;
  /** `NOBODY` where it has none: not every engine's indexes tell null from absent. */
  readonly assignee: string;
  readonly opened_at: Timestamp;
}

/** No text that a client may give: that is never blank. */
export const NOBODY = '';

const OPENED = ['opened_at', 'id'];

/**
 * Exceptions as they are answered, one row each. Every index but the last has the status before the time: those that wait
 * for somebody lie together, however many are resolved.
 */
export const exceptionsModel: ReadModel<ExceptionRow, 'exceptions'> = {
  name: 'exceptions',
  version: 1,
  // Behind the id: what else may be asked for while such an index is walked, so that rows that are left out are not looked at.
  indexes: [
    { name: 'by_status', fields: [...SCOPE_FIELDS, 'status', ...OPENED] },
    { name: 'by_status_severity', fields: [...SCOPE_FIELDS, 'status', 'severity', ...OPENED] },
    { name: 'by_type', fields: [...SCOPE_FIELDS, 'type', 'status', ...OPENED, 'assignee'] },
    { name: 'by_type_severity', fields: [...SCOPE_FIELDS, 'type', 'status', 'severity', ...OPENED, 'assignee'] },
    { name: 'by_assignee', fields: [...SCOPE_FIELDS, 'assignee', 'status', ...OPENED, 'type'] },
    { name: 'by_assignee_severity', fields: [...SCOPE_FIELDS, 'assignee', 'status', 'severity', ...OPENED, 'type'] },
    { name: 'by_shipment', fields: ['shipment_id', ...OPENED] },
  ],
  scoped: true,

  weight: ({ exception }) => 1 + Math.round(JSON.stringify(exception).length / 1_000),

  reads({ event }) {
    const change = exceptionChange(event);
    return change === undefined || isWholeException(change) ? [] : [change.id];
  },

  apply({ event, scope }, row) {
    const change = exceptionChange(event);
    if (change === undefined) return [];
    if (!scope) throw new Error('a stream that does not begin with a shipment');
    const before = isWholeException(change) ? undefined : row(change.id);
    if (before !== undefined && before.revision >= event.revision) return [];
    const exception = exceptionAfter(change, before?.exception);
    const { id, shipment_id, status, type, severity, assignee, opened_at } = exception;
    return [
      {
        id,
        ...scopeOf(scope),
        exception,
        revision: event.revision,
        shipment_id,
        status,
        type,
        severity,
        assignee: assignee ?? NOBODY,
        opened_at,
      },
    ];
  },
};
