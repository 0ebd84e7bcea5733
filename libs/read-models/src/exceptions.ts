import {
  EXCEPTION_STATUSES,
  type ExceptionStatus,
  type ExceptionType,
  type WorkspaceScope,
  SEVERITIES,
  type Severity,
  type ShipmentException,
  type Timestamp,
} from '@tracking/contracts';
import type { Filter, FilterCondition } from '@tracking/ports';
import { applyChangeToException, readExceptionChange, isWholeExceptionInChange } from '@tracking/shipments-domain';
import type { ActiveGenerationSelector } from './active-rows.ts';
import {
  createScopeFilter,
  type QueryPage,
  type ReadModel,
  type ReadModelRow,
  SCOPE_FIELDS,
  pickScopeFields,
  type SortValues,
} from './read-model.ts';
import {
  type IndexRangesOfListPart,
  MAX_PAGE_BYTES,
  readPageFromConsecutiveListParts,
  type ListScanWorkLimits,
  scanRowRanges,
} from './walked-ranges.ts';

/** Row of one exception, with separate fields for filters and sorting. */
export interface ExceptionReadModelRow extends ReadModelRow, WorkspaceScope {
  readonly exception: ShipmentException;
  readonly shipment_id: string;
  readonly status: ExceptionStatus;
  readonly type: ExceptionType;
  readonly severity: Severity;
  /**
   * Assignee of the exception, or `STORED_UNASSIGNED_VALUE`. Null is not stored, because indexes of some engines do not
   * distinguish null from absent.
   */
  readonly assignee: string;
  readonly opened_at: Timestamp;
}

/** Value stored for an exception without an assignee. Clients cannot send it, because an assignee is never blank. */
export const STORED_UNASSIGNED_VALUE = '';

const OPENED_AT_SORT_FIELDS = ['opened_at', 'id'];

/**
 * Read model of exceptions in API format, one row per exception. In all indexes except the last, the status precedes
 * the time, so that open exceptions are adjacent however many exceptions are resolved.
 */
export const exceptionsReadModel: ReadModel<ExceptionReadModelRow, 'exceptions'> = {
  name: 'exceptions',
  version: 1,
  // Filter fields follow the id in the index, so that a scan skips non-matching rows without reading them.
  indexes: [
    { name: 'by_status', fields: [...SCOPE_FIELDS, 'status', ...OPENED_AT_SORT_FIELDS] },
    { name: 'by_status_severity', fields: [...SCOPE_FIELDS, 'status', 'severity', ...OPENED_AT_SORT_FIELDS] },
    { name: 'by_type', fields: [...SCOPE_FIELDS, 'type', 'status', ...OPENED_AT_SORT_FIELDS, 'assignee'] },
    {
      name: 'by_type_severity',
      fields: [...SCOPE_FIELDS, 'type', 'status', 'severity', ...OPENED_AT_SORT_FIELDS, 'assignee'],
    },
    { name: 'by_assignee', fields: [...SCOPE_FIELDS, 'assignee', 'status', ...OPENED_AT_SORT_FIELDS, 'type'] },
    {
      name: 'by_assignee_severity',
      fields: [...SCOPE_FIELDS, 'assignee', 'status', 'severity', ...OPENED_AT_SORT_FIELDS, 'type'],
    },
    { name: 'by_shipment', fields: ['shipment_id', ...OPENED_AT_SORT_FIELDS] },
  ],
  scoped: true,

  weight: ({ exception }) => 1 + Math.round(JSON.stringify(exception).length / 1_000),

  listRowIdsNeededToProjectEvent({ event }) {
    const change = readExceptionChange(event);
    return change === undefined || isWholeExceptionInChange(change) ? [] : [change.id];
  },

  applyEventToRows({ event, scope }, row) {
    const change = readExceptionChange(event);
    if (change === undefined) return [];
    if (!scope) throw new Error('the stream does not begin with a shipment event');
    const before = isWholeExceptionInChange(change) ? undefined : row(change.id);
    if (before !== undefined && before.revision >= event.revision) return [];
    const exception = applyChangeToException(change, before?.exception);
    const { id, shipment_id, status, type, severity, assignee, opened_at } = exception;
    return [
      {
        id,
        ...pickScopeFields(scope),
        exception,
        revision: event.revision,
        shipment_id,
        status,
        type,
        severity,
        assignee: assignee ?? STORED_UNASSIGNED_VALUE,
        opened_at,
      },
    ];
  },
};

export interface ExceptionListQuery {
  readonly filter: ExceptionListFilter;
  readonly sort: ExceptionSort;
  /** Maximum number of items in the page, at least 1. */
  readonly limit: number;
  /** Value of `next` from the previous page with the same filter and sort. */
  readonly after?: SortValues | undefined;
}

/** Limits of the work for one page. All parts of the list share these limits. */
const EXCEPTION_LIST_PAGE_SCAN_LIMITS: ListScanWorkLimits = { visit: 2_000, stretches: 2, bytes: MAX_PAGE_BYTES };

/** Queries of exceptions. For read-your-writes, wait with `ReadModelProgress`. */
export class ExceptionQueries {
  constructor(
    private readonly active: Pick<ActiveGenerationSelector<ExceptionReadModelRow>, 'openActiveGenerationRows'>,
    private readonly bounds = EXCEPTION_LIST_PAGE_SCAN_LIMITS,
  ) {}

  /**
   * Lists exceptions in the requested order, then by id. A page visits a bounded number of rows, so it can have fewer
   * items than `limit`, even none, although more follow. During concurrent writes, each unchanged exception appears on
   * exactly one page.
   * @throws UnavailableError, BusyError
   */
  async listExceptions(
    scope: WorkspaceScope,
    { filter, sort, limit, after }: ExceptionListQuery,
  ): Promise<QueryPage<ShipmentException>> {
    const rows = await this.active.openActiveGenerationRows();
    const parts = splitExceptionListIntoIndexRanges(scope, filter, sort, after);
    const { stretches } = this.bounds;
    const visit = Math.ceil(this.bounds.visit / parts.length);
    const bytes = this.bounds.bytes / parts.length;
    const page = await readPageFromConsecutiveListParts(parts, limit, (part, wanted) =>
      scanRowRanges(rows, part, wanted, { visit, stretches, bytes }),
    );
    return { items: page.rows.map(({ exception }) => exception), next: page.next };
  }
}

type OptionalFields<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** Filter of an exception list. All given conditions must match. */
export type ExceptionListFilter = OptionalFields<{
  /** Accepted statuses; all statuses if absent. */
  readonly status: readonly ExceptionStatus[];
  readonly type: readonly ExceptionType[];
  readonly severity: readonly Severity[];
  readonly shipment_id: string;
  readonly assignee: string;
  /** True to list only exceptions without an assignee, false to list only assigned exceptions. */
  readonly unassigned: boolean;
  /** Bounds of the opening time, both inclusive. */
  readonly opened_from: Timestamp;
  readonly opened_to: Timestamp;
}>;

/** Sort orders of exception lists: newest first, oldest first, or most severe first and then oldest first. */
export const EXCEPTION_SORTS = ['-opened_at', 'opened_at', '-severity'] as const;
export type ExceptionSort = (typeof EXCEPTION_SORTS)[number];

/** Maximum number of index ranges that one page reads. */
const MAX_INDEX_RANGES = 24;
const SEVERITIES_DESCENDING = [...SEVERITIES].reverse();

/** Requested values by index field, for the fields before the time. Each combination of values is one index range. */
type RangeFields = Pick<ExceptionListFilter, 'type' | 'status' | 'severity'>;

/** An index and those of its ranges that contain the matching rows. */
interface IndexRanges {
  readonly index: string;
  readonly ranges: readonly Filter[];
}

/** Splits the list into ranges of an index. If the list is sorted by severity, it has one part per severity. */
function splitExceptionListIntoIndexRanges(
  scope: WorkspaceScope,
  filter: ExceptionListFilter,
  sort: ExceptionSort,
  after: SortValues | undefined,
): readonly IndexRangesOfListPart[] {
  if (filter.unassigned === true && filter.assignee !== undefined) return [];
  if (sort !== '-severity') {
    const toSortValues = (values: readonly unknown[]) => values as SortValues;
    return [{ ...buildExceptionListQueryPart(scope, filter, sort === '-opened_at'), after, toSortValues }];
  }
  const begun = SEVERITIES_DESCENDING.findIndex((severity) => severity === after?.[0]);
  const left = SEVERITIES_DESCENDING.filter((_, at) => at >= begun);
  return left
    .filter((severity) => filter.severity?.includes(severity) ?? true)
    .map((severity) => ({
      ...buildExceptionListQueryPart(scope, { ...filter, severity: [severity] }, false),
      after: severity === after?.[0] ? after.slice(1) : undefined,
      toSortValues: (values) => [severity, ...values] as SortValues,
    }));
}

function buildExceptionListQueryPart(
  scope: WorkspaceScope,
  filter: ExceptionListFilter,
  descending: boolean,
): Omit<IndexRangesOfListPart, 'after' | 'toSortValues'> {
  const { index, ranges } = chooseIndexRanges(filter);
  const conditions = { ...createScopeFilter(scope), ...toRowFilter(filter) };
  const filters = ranges.map((range) => ({ ...conditions, ...range }));
  return { index, filters, sort: { fields: ['opened_at', 'id'], descending } };
}

/** Chooses the index with the fewest non-matching rows among those with at most `MAX_INDEX_RANGES` ranges. */
function chooseIndexRanges(filter: ExceptionListFilter): IndexRanges {
  if (filter.shipment_id !== undefined) return { index: 'by_shipment', ranges: [{}] };
  const { assignee, unassigned, type, severity } = filter;
  const status = EXCEPTION_STATUSES.filter((each) => filter.status?.includes(each) ?? true);
  const by = (index: string, ranged: RangeFields): IndexRanges[] => [
    ...(severity
      ? [{ index: `${index}_severity`, ranges: createFiltersForCombinations({ ...ranged, severity }) }]
      : []),
    { index, ranges: createFiltersForCombinations(ranged) },
  ];
  const ways = [
    ...(assignee === undefined ? [] : by('by_assignee', { status })),
    ...(type ? by('by_type', { type, status }) : []),
    ...(unassigned === true ? by('by_assignee', { status }) : []),
    ...by('by_status', { status }),
  ];
  // Chooses the first candidate with few enough ranges. The last candidate always has few enough ranges.
  return ways.reduceRight((best, way) => (way.ranges.length <= MAX_INDEX_RANGES ? way : best));
}

function createFiltersForCombinations(ranged: RangeFields): readonly Filter[] {
  return Object.entries(ranged).reduce<readonly Filter[]>(
    (all, [field, values = []]) => all.flatMap((one) => values.map((value) => ({ ...one, [field]: value }))),
    [{}],
  );
}

function toRowFilter(filter: ExceptionListFilter): Filter {
  const { status, type, severity, shipment_id, opened_from, opened_to } = filter;
  const bounds = { ...(opened_from && { gte: opened_from }), ...(opened_to && { lte: opened_to }) };
  const conditions: Readonly<Record<string, FilterCondition | undefined>> = {
    status: status && { in: status },
    type: type && { in: type },
    severity: severity && { in: severity },
    shipment_id,
    assignee: createAssigneeCondition(filter),
    opened_at: Object.keys(bounds).length > 0 ? bounds : undefined,
  };
  const given = Object.entries(conditions).filter(([, condition]) => condition !== undefined);
  return Object.fromEntries(given) as Filter;
}

function createAssigneeCondition({ assignee, unassigned }: ExceptionListFilter): FilterCondition | undefined {
  if (assignee !== undefined || unassigned === undefined) return assignee;
  return unassigned ? STORED_UNASSIGNED_VALUE : { ne: STORED_UNASSIGNED_VALUE };
}
