import { EXCEPTION_STATUSES, EXCEPTION_TYPES, SEVERITIES } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentException } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import {
  type ExceptionListFilter,
  ExceptionQueries,
  type ExceptionReadModelRow,
  type ExceptionSort,
  STORED_UNASSIGNED_VALUE,
} from '../src/exceptions.ts';
import type { SortValues } from '../src/read-model.ts';
import type { ListScanWorkLimits } from '../src/walked-ranges.ts';
import { toTimeOfNthDay, createSeededRandom } from './listed-shipments.ts';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createSampleException,
  createNthTestShipmentToken,
} from './shipment-events.ts';

const ASSIGNEE_SAMPLES = [null, null, 'ann@example.com', 'team customs'];
const SAMPLE_EXCEPTION_TYPES = EXCEPTION_TYPES.slice(0, 5);

/**
 * Creates an exception. Any two filters match some exceptions in common, and several exceptions have the same opening
 * time.
 */
export function createRandomException(n: number, random: () => number): ShipmentException {
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  return createSampleException(Math.floor(n / 4), `-${n % 4}`, {
    status: one(EXCEPTION_STATUSES),
    type: one(SAMPLE_EXCEPTION_TYPES),
    severity: one(SEVERITIES),
    assignee: one(ASSIGNEE_SAMPLES),
    opened_at: toTimeOfNthDay(Math.floor(random() * 30)),
  });
}

export function createExceptionRow(
  of: ShipmentException,
  scope: WorkspaceScope = ACME_LIVE_SCOPE,
): ExceptionReadModelRow {
  const { id, shipment_id, status, type, severity, opened_at } = of;
  const assignee = of.assignee ?? STORED_UNASSIGNED_VALUE;
  return { ...scope, id, exception: of, revision: 1, shipment_id, status, type, severity, assignee, opened_at };
}

/**
 * Creates exceptions of one scope, and exceptions of other scopes that its lists must not contain. A shipment belongs
 * to one scope.
 */
export function createExceptionRows(count: number, seed = 1): readonly ExceptionReadModelRow[] {
  const random = createSeededRandom(seed);
  return Array.from({ length: count }, (_, n) => {
    const shipment = Math.floor(n / 4);
    const scope = shipment % 10 === 0 ? ACME_TEST_SCOPE : shipment % 10 === 1 ? OTHER_WORKSPACE : ACME_LIVE_SCOPE;
    return createExceptionRow(createRandomException(n, random), scope);
  });
}

/** Filters to test, each with values that some rows have and with values that no row has. */
export const TESTED_EXCEPTION_LIST_FILTERS: readonly ExceptionListFilter[] = [
  { status: ['open'] },
  { status: ['open', 'acknowledged'] },
  { status: EXCEPTION_STATUSES },
  { type: ['eta_slip'] },
  { type: ['lost'] },
  { type: SAMPLE_EXCEPTION_TYPES.slice(1, 4) },
  // This filter has more types than the maximum number of index ranges.
  { type: EXCEPTION_TYPES },
  { severity: ['critical'] },
  { severity: ['low', 'high'] },
  { shipment_id: `shp_${createNthTestShipmentToken(7)}` },
  // This shipment belongs to another scope.
  { shipment_id: `shp_${createNthTestShipmentToken(10)}` },
  { assignee: 'ann@example.com' },
  { assignee: 'Ann@example.com' },
  { unassigned: true },
  { unassigned: false },
  { opened_from: toTimeOfNthDay(10) },
  { opened_to: toTimeOfNthDay(20) },
];

const FILTER_PREDICATES: {
  readonly [Name in keyof ExceptionListFilter]-?: (of: ShipmentException, value: never) => boolean;
} = {
  status: ({ status }, those: readonly string[]) => those.includes(status),
  type: ({ type }, those: readonly string[]) => those.includes(type),
  severity: ({ severity }, those: readonly string[]) => those.includes(severity),
  shipment_id: ({ shipment_id }, value: string) => shipment_id === value,
  assignee: ({ assignee }, value: string) => assignee === value,
  unassigned: ({ assignee }, nobody: boolean) => (assignee === null) === nobody,
  opened_from: ({ opened_at }, value: string) => opened_at >= value,
  opened_to: ({ opened_at }, value: string) => opened_at <= value,
};

/** Reference implementation of the exception filters and sorts, for comparison with lists. */
export function filterAndSortExpectedExceptions(
  all: readonly ShipmentException[],
  filter: ExceptionListFilter,
  sort: ExceptionSort,
): readonly ShipmentException[] {
  const key = ({ severity, opened_at, id }: ShipmentException) =>
    `${sort === '-severity' ? 9 - SEVERITIES.indexOf(severity) : ''}${opened_at}${id}`;
  const asked = all.filter((each) =>
    Object.entries(filter).every(([name, value]) =>
      FILTER_PREDICATES[name as keyof ExceptionListFilter](each, value as never),
    ),
  );
  const sorted = [...asked].sort((one, other) => (key(one) < key(other) ? -1 : 1));
  return sort === '-opened_at' ? sorted.reverse() : sorted;
}

interface ExceptionListReadOptions {
  readonly filter: ExceptionListFilter;
  readonly sort: ExceptionSort;
  readonly limit: number;
}

/** This page size is larger than any of the lists. */
const PAGE_SIZE = 1_000;

/** Reads an exception list to its end, page by page. Returns the ids. */
export async function readAllExceptionIds(
  rows: Pick<Collection<ExceptionReadModelRow>, 'scan'>,
  query: ExceptionListReadOptions,
  bounds?: ListScanWorkLimits,
  onPage: () => void = () => undefined,
): Promise<string[]> {
  const queries = new ExceptionQueries({ openActiveGenerationRows: () => Promise.resolve(rows as never) }, bounds);
  const ids: string[] = [];
  for (let after: SortValues | undefined; ;) {
    const { items, next } = await queries.listExceptions(ACME_LIVE_SCOPE, { ...query, after });
    expect(items.length).toBeLessThanOrEqual(query.limit);
    // The limit of pages stops a list that repeats pages forever.
    expect(ids.length).toBeLessThan(PAGE_SIZE);
    ids.push(...items.map(({ id }) => id));
    onPage();
    if (next === undefined) return ids;
    // The API sends this position as a cursor, so it must survive a conversion to JSON.
    after = JSON.parse(JSON.stringify(next)) as SortValues;
  }
}
