import { EXCEPTION_STATUSES, SEVERITIES } from '@tracking/contracts';
import type { ExceptionStatus, ExceptionType, Scope, Severity, Timestamp } from '@tracking/contracts';
import type { Filter, FilterCondition } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import { inScope } from '../scope.ts';
import type { ListPart } from '../walked-ranges.ts';
import { NOBODY } from './exception-rows.ts';

type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What is asked for of an exception; all of it where several are given. */
export type ExceptionListFilter = Given<{
  /** Any of these. */
  readonly status: readonly ExceptionStatus[];
  readonly type: readonly ExceptionType[];
  readonly severity: readonly Severity[];
  readonly shipment_id: string;
  readonly assignee: string;
  /** Whether it is nobody's. */
  readonly unassigned: boolean;
  /** Bounds are inclusive. */
  readonly opened_from: Timestamp;
  readonly opened_to: Timestamp;
}>;

/** The newest or the oldest first; or the gravest, and of these the oldest. */
export const EXCEPTION_SORTS = ['-opened_at', 'opened_at', '-severity'] as const;
export type ExceptionSort = (typeof EXCEPTION_SORTS)[number];

/** Most ranges that are read side by side: a page looks into each of them. */
const MOST_RANGES = 24;
const GRAVEST_FIRST = [...SEVERITIES].reverse();

/** Fields that an index has before the time, each with the values that are asked for: as many ranges as combinations. */
type Ranged = Pick<ExceptionListFilter, 'type' | 'status' | 'severity'>;

/** An index with the ranges of it that hold what is asked for. */
interface Way {
  readonly index: string;
  readonly ranges: readonly Filter[];
}

/** The ranges in which a list lies. The gravest first: a part for each severity. */
export function partsOf(
  scope: Scope,
  filter: ExceptionListFilter,
  sort: ExceptionSort,
  after: SortValues | undefined,
): readonly ListPart[] {
  if (filter.unassigned === true && filter.assignee !== undefined) return [];
  if (sort !== '-severity') {
    const place = (values: readonly unknown[]) => values as SortValues;
    return [{ ...rangesOf(scope, filter, sort === '-opened_at'), after, place }];
  }
  const begun = GRAVEST_FIRST.findIndex((severity) => severity === after?.[0]);
  const left = GRAVEST_FIRST.filter((_, at) => at >= begun);
  return left
    .filter((severity) => filter.severity?.includes(severity) ?? true)
    .map((severity) => ({
      ...rangesOf(scope, { ...filter, severity: [severity] }, false),
      after: severity === after?.[0] ? after.slice(1) : undefined,
      place: (values) => [severity, ...values] as SortValues,
    }));
}

function rangesOf(scope: Scope, filter: ExceptionListFilter, descending: boolean): Omit<ListPart, 'after' | 'place'> {
  const { index, ranges } = wayTo(filter);
  const conditions = { ...inScope(scope), ...conditionsOf(filter) };
  const filters = ranges.map((range) => ({ ...conditions, ...range }));
  return { index, filters, sort: { fields: ['opened_at', 'id'], descending } };
}

/** That which leaves the fewest others to look at, of those with few enough ranges. */
function wayTo(filter: ExceptionListFilter): Way {
  if (filter.shipment_id !== undefined) return { index: 'by_shipment', ranges: [{}] };
  const { assignee, unassigned, type, severity } = filter;
  const status = EXCEPTION_STATUSES.filter((each) => filter.status?.includes(each) ?? true);
  const by = (index: string, ranged: Ranged): Way[] => [
    ...(severity ? [{ index: `${index}_severity`, ranges: combinations({ ...ranged, severity }) }] : []),
    { index, ranges: combinations(ranged) },
  ];
  const ways = [
    ...(assignee === undefined ? [] : by('by_assignee', { status })),
    ...(type ? by('by_type', { type, status }) : []),
    ...(unassigned === true ? by('by_assignee', { status }) : []),
    ...by('by_status', { status }),
  ];
  // The first that has; the last always does.
  return ways.reduceRight((best, way) => (way.ranges.length <= MOST_RANGES ? way : best));
}

function combinations(ranged: Ranged): readonly Filter[] {
  return Object.entries(ranged).reduce<readonly Filter[]>(
    (all, [field, values = []]) => all.flatMap((one) => values.map((value) => ({ ...one, [field]: value }))),
    [{}],
  );
}

function conditionsOf(filter: ExceptionListFilter): Filter {
  const { status, type, severity, shipment_id, opened_from, opened_to } = filter;
  const bounds = { ...(opened_from && { gte: opened_from }), ...(opened_to && { lte: opened_to }) };
  const conditions: Readonly<Record<string, FilterCondition | undefined>> = {
    status: status && { in: status },
    type: type && { in: type },
    severity: severity && { in: severity },
    shipment_id,
    assignee: assigneeOf(filter),
    opened_at: Object.keys(bounds).length > 0 ? bounds : undefined,
  };
  const given = Object.entries(conditions).filter(([, condition]) => condition !== undefined);
  return Object.fromEntries(given) as Filter;
}

function assigneeOf({ assignee, unassigned }: ExceptionListFilter): FilterCondition | undefined {
  if (assignee !== undefined || unassigned === undefined) return assignee;
  return unassigned ? NOBODY : { ne: NOBODY };
}
