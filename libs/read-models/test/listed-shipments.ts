import { TRANSPORT_MODES, SHIPMENT_STATUSES } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import type { ListPageReadLimits, ScopedRowsWithBounds } from '../src/shipments/list-plan.ts';
import type { ShipmentListFilter, ShipmentSortOrder } from '../src/shipments/list-conditions.ts';
import { ShipmentQueries } from '../src/shipments/shipment-queries.ts';
import { shipmentsReadModel } from '../src/shipments/shipment-rows.ts';
import type { ShipmentReadModelRow } from '../src/shipments/shipment-rows.ts';
import { listShipmentSearchTerms } from '../src/shipments/shipment-terms.ts';
import type { SortValues } from '../src/read-model.ts';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from './shipment-events.ts';

/** Returns a generator of numbers from 0 to below 1. The sequence is the same in every run. */
export function createSeededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.parse('2026-01-01T00:00:00.000Z');

export function toTimeOfNthDay(n: number): string {
  return new Date(FIRST_DAY_MS + n * DAY_MS).toISOString();
}

/**
 * Creates a shipment record. Any two filters match some shipments in common, and several shipments have the same times.
 */
export function createRandomShipmentRecord(n: number, random: () => number): ShipmentRecord {
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const some = <T>(of: readonly T[], share: number): readonly T[] => of.filter(() => random() < share);
  return createSampleShipmentRecord(n, {
    external_id: random() < 0.8 ? `TMS-${n}` : null,
    status: one(SHIPMENT_STATUSES),
    mode: one([...TRANSPORT_MODES, null]),
    house_bill: one([null, 'HBL 1', 'HBL-2']),
    master_bill: one([null, 'MAEU1', 'MAEU12']),
    booking_number: one([null, 'B/1', 'B/2']),
    // This field does not use `random`, so that the other fields stay the same for each seed.
    incoterm: ([null, 'FOB', 'DAP'] as const)[n % 3] ?? null,
    container_numbers: some(['MSKU1234565', 'TEMU0000004', 'CSQU3054383'], 0.4),
    carrier_scac: one([null, 'MAEU', 'MSCU']),
    origin_port: one([null, 'CNSHA', 'CNNGB']),
    destination_port: one([null, 'NLRTM', 'DEHAM']),
    eta: random() < 0.4 ? null : toTimeOfNthDay(100 + Math.floor(random() * 20)),
    shipper: one([null, { name: 'Acme Électronique', external_id: null }, { name: null, external_id: 'CUST-1' }]),
    consignee: one([null, { name: 'ООО Ромашка', external_id: 'CUST-1' }, { name: 'Acme BV', external_id: 'CUST-2' }]),
    references: some(['PO-1', 'PO-2', 'tms maeu'], 0.3).map((value) => ({ type: 'po', value })),
    legs: some(['Maersk Honam', 'MSC Gülsün'], 0.4).map((vessel) => ({
      mode: null,
      carrier_scac: null,
      vessel,
      voyage: null,
      origin_port: null,
      destination_port: null,
      etd: null,
      eta: null,
      etd_precision: 'time',
      eta_precision: 'time',
      atd: null,
      ata: null,
    })),
    open_exceptions_count: one([0, 0, 1, 3]),
    created_at: toTimeOfNthDay(Math.floor(random() * 30)),
    updated_at: toTimeOfNthDay(30 + Math.floor(random() * 30)),
  });
}

export function toShipmentRow(record: ShipmentRecord, scope: WorkspaceScope = ACME_LIVE_SCOPE): ShipmentReadModelRow {
  const { id, created_at, updated_at, eta, status, open_exceptions_count, version } = record;
  const terms = listShipmentSearchTerms(record);
  return {
    ...scope,
    id,
    record,
    revision: version - 1,
    position: '1',
    created_at,
    updated_at,
    eta,
    status,
    has_open_exceptions: open_exceptions_count > 0,
    terms,
  };
}

/** Creates shipments of one scope, and shipments of other scopes that its lists must not contain. */
export function createRandomShipmentRows(count: number, seed = 1): readonly ShipmentReadModelRow[] {
  const random = createSeededRandom(seed);
  return Array.from({ length: count }, (_, n) =>
    toShipmentRow(
      createRandomShipmentRecord(n, random),
      n % 10 === 0 ? ACME_TEST_SCOPE : n % 10 === 1 ? OTHER_WORKSPACE : ACME_LIVE_SCOPE,
    ),
  );
}

/** Filters to test, each with values that some rows have and with values that no row has. */
export const TESTED_SHIPMENT_LIST_FILTERS: readonly ShipmentListFilter[] = [
  { ids: [10, 12, 12, 23, 31, 45, 46, 47, 58, 99, 999].map((n) => `shp_${createNthTestShipmentToken(n)}`) },
  { status: ['in_transit'] },
  { status: ['arrived', 'pending', 'cancelled'] },
  { status: SHIPMENT_STATUSES },
  { active: true },
  { active: false },
  { has_open_exceptions: true },
  { has_open_exceptions: false },
  { mode: ['ocean'] },
  { mode: ['air', 'ocean', 'rail'] },
  { incoterm: ['FOB'] },
  { incoterm: ['CIF', 'DAP', 'FOB'] },
  { external_id: 'TMS-7' },
  { house_bill: 'HBL 1' },
  { house_bill: 'hbl 1' },
  { master_bill: 'MAEU1' },
  { booking_number: 'B/2' },
  { reference: 'PO-1' },
  { shipper: 'CUST-1' },
  { consignee: 'CUST-2' },
  { container_number: 'MSKU1234565' },
  { carrier_scac: 'MAEU' },
  { origin_port: 'CNSHA' },
  { destination_port: 'DEHAM' },
  { eta_from: toTimeOfNthDay(105) },
  { eta_to: toTimeOfNthDay(112) },
  { created_from: toTimeOfNthDay(10) },
  { created_to: toTimeOfNthDay(20) },
  { updated_since: toTimeOfNthDay(45) },
  { words: ['a'] },
  { words: ['maeu', 'ma'] },
  { words: ['ром', 'acme'] },
  { words: ['po-1'] },
  { words: ['po1', 'acme'] },
  { reference: 'po 1' },
];

export const SHIPMENT_LIST_ORDERS: readonly ShipmentSortOrder[] = (
  ['created_at', 'updated_at', 'eta'] as const
).flatMap((field) => [
  { field, descending: false },
  { field, descending: true },
]);

export function describeFilter(filter: object): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ');
}

const WORD_BEGINNINGS_BY_SHIPMENT = new WeakMap<ShipmentRecord, readonly string[]>();

/** Returns the text of the record's references and names from the beginning of each word on, without separators. */
function listTextsFromEachWord(record: ShipmentRecord): readonly string[] {
  const references = [
    record.external_id,
    record.house_bill,
    record.master_bill,
    record.booking_number,
    ...record.container_numbers,
    ...record.references.map(({ value }) => value),
  ];
  const names = [record.shipper?.name, record.consignee?.name, ...record.legs.map(({ vessel }) => vessel)];
  const runs = [
    ...references.flatMap((text) => text?.split('/') ?? []),
    ...names.flatMap((text) => text?.split(/[ /]/) ?? []),
  ];
  return runs.flatMap((run) => {
    const words = run.toLowerCase().split(/[ -]/);
    return words.map((_, index) => words.slice(index).join(''));
  });
}

function isSameReferenceIgnoringCaseAndSpaces(one: string | null, other: string): boolean {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[ -]/g, '');
  return one !== null && fold(one) === fold(other);
}

/** Reference implementation of the shipment filters. It uses only the record. */
const FILTER_PREDICATES: {
  readonly [Name in keyof ShipmentListFilter]-?: (record: ShipmentRecord, value: never) => boolean;
} = {
  ids: ({ id }, those: readonly string[]) => those.includes(id),
  status: ({ status }, those: readonly string[]) => those.includes(status),
  active: ({ status }, active: boolean) =>
    ['delivered', 'completed', 'returned', 'cancelled'].includes(status) !== active,
  has_open_exceptions: ({ open_exceptions_count }, has: boolean) => open_exceptions_count > 0 === has,
  mode: ({ mode }, those: readonly string[]) => mode !== null && those.includes(mode),
  incoterm: ({ incoterm }, those: readonly string[]) => incoterm !== null && those.includes(incoterm),
  external_id: ({ external_id }, value: string) => isSameReferenceIgnoringCaseAndSpaces(external_id, value),
  house_bill: ({ house_bill }, value: string) => isSameReferenceIgnoringCaseAndSpaces(house_bill, value),
  master_bill: ({ master_bill }, value: string) => isSameReferenceIgnoringCaseAndSpaces(master_bill, value),
  booking_number: ({ booking_number }, value: string) => isSameReferenceIgnoringCaseAndSpaces(booking_number, value),
  reference: ({ references }, value: string) =>
    references.some((one) => isSameReferenceIgnoringCaseAndSpaces(one.value, value)),
  shipper: ({ shipper }, value: string) => shipper?.external_id === value,
  consignee: ({ consignee }, value: string) => consignee?.external_id === value,
  container_number: ({ container_numbers }, value: string) => container_numbers.includes(value),
  carrier_scac: ({ carrier_scac }, value: string) => carrier_scac === value,
  origin_port: ({ origin_port }, value: string) => origin_port === value,
  destination_port: ({ destination_port }, value: string) => destination_port === value,
  eta_from: ({ eta }, value: string) => eta !== null && eta >= value,
  eta_to: ({ eta }, value: string) => eta !== null && eta <= value,
  created_from: ({ created_at }, value: string) => created_at >= value,
  created_to: ({ created_at }, value: string) => created_at <= value,
  updated_since: ({ updated_at }, value: string) => updated_at >= value,
  words: (record, beginnings: readonly string[]) => {
    const beginningsOfWords = WORD_BEGINNINGS_BY_SHIPMENT.get(record) ?? listTextsFromEachWord(record);
    WORD_BEGINNINGS_BY_SHIPMENT.set(record, beginningsOfWords);
    return beginnings.every((beginning) =>
      beginningsOfWords.some((word) => word.startsWith(beginning.replaceAll('-', ''))),
    );
  },
  // A phrase only matters if no shipment matches the words.
  phrase: () => true,
};

export function matchesShipmentListFilter(record: ShipmentRecord, filter: ShipmentListFilter): boolean {
  return Object.entries(filter).every(([name, value]) =>
    FILTER_PREDICATES[name as keyof ShipmentListFilter](record, value as never),
  );
}

export function sortShipmentRecords(
  records: readonly ShipmentRecord[],
  { field, descending }: ShipmentSortOrder,
): ShipmentRecord[] {
  const way = descending ? -1 : 1;
  return [...records].sort((one, other) => {
    const [a, b] = [one[field], other[field]];
    if (a === b) return one.id < other.id ? -way : way;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b ? -way : way;
  });
}

/** Active rows that are always these rows. @param version version of the read model that built them */
export function createFixedRowSource(rows: unknown, version = shipmentsReadModel.version) {
  const open = { rows: rows as never, version };
  return {
    openActiveGenerationRows: () => Promise.resolve(open.rows),
    openRowsOfQueriedGeneration: () => Promise.resolve(open),
  };
}

/** Reads a shipment list to its end, page by page. Returns the cost of each page. */
export async function readAllShipmentPages(
  rows: ScopedRowsWithBounds['rows'],
  query: { readonly filter: ShipmentListFilter; readonly order: ShipmentSortOrder; readonly limit: number },
  bounds?: ListPageReadLimits,
  onPage: () => void = () => undefined,
): Promise<string[]> {
  const queries = new ShipmentQueries(createFixedRowSource(rows), bounds);
  const ids: string[] = [];
  for (let after: SortValues | undefined; ;) {
    const { items, next } = await queries.listShipments(ACME_LIVE_SCOPE, { ...query, after });
    expect(items.length).toBeLessThanOrEqual(query.limit);
    ids.push(...items.map(({ id }) => id));
    onPage();
    if (next === undefined) return ids;
    // The API sends this position as a cursor, so it must survive a conversion to JSON.
    after = JSON.parse(JSON.stringify(next)) as SortValues;
  }
}
