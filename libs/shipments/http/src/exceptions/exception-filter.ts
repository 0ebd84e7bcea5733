import { EXCEPTION_STATUSES, EXCEPTION_TYPES, SEVERITIES } from '@tracking/contracts';
import type { ExceptionListQuery, ExceptionSort } from '@tracking/read-models';
import type { ListExceptionsDto } from './list-exceptions.dto.ts';

/** Which exceptions a query asks for: each filter in one form, so that a cursor fits however the client spells it. */
export function exceptionListing(query: ListExceptionsDto): Pick<ExceptionListQuery, 'filter' | 'sort'> {
  const { shipment_id, assignee, unassigned, opened_from, opened_to } = query;
  const filter = {
    status: named(EXCEPTION_STATUSES, query.status),
    type: named(EXCEPTION_TYPES, query.type),
    severity: named(SEVERITIES, query.severity),
    shipment_id,
    assignee,
    unassigned: unassigned === undefined ? undefined : unassigned === 'true',
    opened_from,
    opened_to,
  };
  return { filter, sort: (query.sort ?? '-opened_at') as ExceptionSort };
}

function named<T extends string>(all: readonly T[], given: string | undefined): readonly T[] | undefined {
  const names = given?.split(',');
  return names && all.filter((one) => names.includes(one));
}
