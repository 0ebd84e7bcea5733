import type { BodyOf } from '@tracking/client';
import {
  LOAD_TYPE_LABELS,
  TRANSPORT_MODE_LABELS,
  type Mode,
  isCarrierCode,
  isContainerNumber,
  isPortCode,
  normaliseCode,
} from '../../values/codes.ts';
import { USER_TIME_ZONE } from '../../values/zones.ts';
import { parseContainerNumbers } from '../form/check-values.ts';
import {
  type PlainFieldName,
  createRecordOfPlainShipmentFields,
  getPlainFieldDefinition,
  parsePlainShipmentFieldText,
} from '../plain-fields.ts';
import { type DayOrder, type Mapping, type Target, parseImportedTimeCell } from './columns.ts';
import { type ImportFileContent, hasNonEmptyCell } from './read-file.ts';

export type Body = BodyOf<'upsertShipments'>['shipments'][number];
/** Time zone of imported times without a UTC offset: local time at the port, the user's time zone, or UTC. */
export type ZoneChoice = 'port' | 'own' | 'utc';

export interface ImportParsingOptions {
  readonly mapping: Mapping;
  readonly dayOrder: DayOrder;
  readonly zone: ZoneChoice;
  /** Returns the time zone of a port. Returns undefined if the zone is unknown. */
  readonly zoneOf: (port: string) => string | undefined;
}
/** An error in one row of the imported file. */
export interface ImportRowError {
  /** Row number as a spreadsheet shows it. The header row is number 1. */
  readonly row: number;
  /** Header of the column with the error. Empty if the error concerns the whole row. */
  readonly column: string;
  readonly value: string;
  readonly message: string;
}
/** A shipment to import. It is built from one row of the file, or from several rows with one container each. */
export interface ShipmentToImport {
  readonly rows: readonly number[];
  readonly body: Body;
}
export interface RowCheckResult {
  readonly items: readonly ShipmentToImport[];
  readonly errors: readonly ImportRowError[];
}

const MODE_BY_NAME: ReadonlyMap<string, Mode> = new Map([
  ...(Object.keys(TRANSPORT_MODE_LABELS) as Mode[]).map((mode) => [mode, mode] as const),
  ...([
    ['sea', 'ocean'],
    ['vessel', 'ocean'],
    ['truck', 'road'],
  ] as const),
]);
const CONTAINER_NUMBER_SEPARATOR_PATTERN = /[,;|\n]+/;

/** Converts one row of the file to a shipment, and collects the errors of the row. */
class ImportRowConverter {
  readonly errors: ImportRowError[] = [];
  readonly containers: string[] = [];
  readonly references: { type: string; value: string }[] = [];
  readonly metadata: (readonly [header: string, value: string])[] = [];
  private readonly cells = new Map<Target, { readonly value: string; readonly column: string }>();

  constructor(
    readonly number: number,
    headers: readonly string[],
    row: readonly string[],
    mapping: Mapping,
  ) {
    mapping.forEach((target, index) => {
      const [value, column] = [row[index] ?? '', headers[index] ?? ''];
      if (target === null || value === '') return;
      if (target === 'reference') this.references.push({ type: convertColumnHeaderToReferenceType(column), value });
      else if (target === 'metadata') this.metadata.push([column, value]);
      else if (target === 'container_numbers') this.addContainerNumbersFromCell(value, column);
      else this.cells.set(target, { value, column });
    });
  }

  /**
   * Parses the cell of a column. If the parser fails, the error is recorded. Returns undefined for an empty or invalid
   * cell.
   */
  parseImportCell<T>(target: Target, read: (value: string) => T): T | undefined {
    const cell = this.cells.get(target);
    if (cell === undefined) return undefined;
    try {
      return read(cell.value);
    } catch (error) {
      this.errors.push({ row: this.number, ...cell, message: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  readCellText(target: Target): string | undefined {
    return this.cells.get(target)?.value;
  }

  addRowError(message: string, column = '', value = ''): void {
    this.errors.push({ row: this.number, column, value, message });
  }

  private addContainerNumbersFromCell(value: string, column: string): void {
    const mode = this.readCellText('mode')?.toLowerCase() ?? '';
    for (const number of parseContainerNumbers(value.split(CONTAINER_NUMBER_SEPARATOR_PATTERN))) {
      // If the mode column is to the right of this column, the number is checked without knowing the mode.
      if (isContainerNumber(number, MODE_BY_NAME.get(mode) ?? 'multimodal')) this.containers.push(number);
      else this.addRowError('is not a valid container number', column, number);
    }
  }
}

/**
 * Converts the rows of a file to shipments, and lists the errors. If one row of a shipment is invalid, the whole
 * shipment is left out.
 */
export function convertRowsToShipments(
  { headers, rows, firstRow }: Omit<ImportFileContent, 'name'>,
  reading: ImportParsingOptions,
): RowCheckResult {
  const errors: ImportRowError[] = [];
  const items = new Map<string, { readonly rows: number[]; readonly body: Body }>();
  /** Number of the first invalid row, by reference of the shipment. */
  const wrong = new Map<string, number>();
  rows.forEach((cells, index) => {
    if (!hasNonEmptyCell(cells)) return;
    const row = new ImportRowConverter(index + firstRow, headers, cells, reading.mapping);
    if (cells.length > headers.length)
      row.addRowError(
        `has ${cells.length} cells for ${headers.length} columns. Put quotes around cells that contain a separator.`,
      );
    const body = buildShipmentBodyFromImportRow(row, reading);
    const known = items.get(body.external_id ?? '');
    const differing = known === undefined ? undefined : findDifferingField(known.body, body);
    if (differing !== undefined)
      row.addRowError(
        `has the same reference as row ${known?.rows[0]}, but a different ${differing}. Correct one of the rows.`,
      );
    errors.push(...row.errors);
    const reference = row.readCellText('external_id');
    if (row.errors.length > 0) {
      if (reference !== undefined && !wrong.has(reference)) wrong.set(reference, row.number);
    } else if (known === undefined) items.set(body.external_id ?? '', { rows: [row.number], body });
    else {
      known.rows.push(row.number);
      addContainerNumbersToImportBody(known.body, body);
    }
  });
  for (const [reference, because] of wrong) {
    const rows = items.get(reference)?.rows ?? [];
    const message = `belongs to the same shipment as row ${because}, which has errors`;
    errors.push(...rows.map((row) => ({ row, column: '', value: '', message })));
    items.delete(reference);
  }
  return { items: [...items.values()], errors };
}

function addContainerNumbersToImportBody(to: Body, { container_numbers }: Body): void {
  const all = [...new Set([...(to.container_numbers ?? []), ...(container_numbers ?? [])])];
  if (all.length > 0) to.container_numbers = all;
}

/** Finds a field that differs between two rows of the same shipment. The containers of the rows may differ. */
function findDifferingField(one: Body, other: Body): string | undefined {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)] as (keyof Body)[]);
  fields.delete('container_numbers');
  return [...fields].find((field) => JSON.stringify(one[field]) !== JSON.stringify(other[field]));
}

function buildShipmentBodyFromImportRow(row: ImportRowConverter, reading: ImportParsingOptions): Body {
  if (row.readCellText('external_id') === undefined)
    row.addRowError('has no reference. Without one, each import would create the shipment again.');
  const mode = row.parseImportCell('mode', parseMode);
  const [origin_port, destination_port] = [
    parseImportedPortCode(row, 'origin_port', mode),
    parseImportedPortCode(row, 'destination_port', mode),
  ];
  const carrier_scac = row.parseImportCell('carrier_scac', (value) => parseCarrierCode(value, mode));
  const moment = (target: 'etd' | 'eta', at: 'origin_port' | 'destination_port', port: string | undefined) => {
    // The time of an invalid port is read as UTC, so that the row gets only one error for the port.
    const isOfWrongPort = reading.zone === 'port' && port === undefined && row.readCellText(at) !== undefined;
    const zone = isOfWrongPort ? 'UTC' : findImportTimeZone(reading, port);
    return row.parseImportCell(target, (value) => parseImportedTimeCell(value, reading.dayOrder, zone));
  };
  const journey = {
    ...{ mode, carrier_scac, origin_port, destination_port },
    ...{ etd: moment('etd', 'origin_port', origin_port), eta: moment('eta', 'destination_port', destination_port) },
  };
  const [vessel, voyage] = [row.readCellText('vessel'), row.readCellText('voyage')];
  const isOnLeg = vessel !== undefined || voyage !== undefined;
  return removeUndefinedProperties({
    external_id: row.readCellText('external_id'),
    load_type: row.parseImportCell('load_type', parseLoadType),
    ...(createRecordOfPlainShipmentFields((name) =>
      row.parseImportCell(name, (value) => parsePlainFieldCell(name, value)),
    ) as Pick<Body, PlainFieldName>),
    ...journey,
    shipper: readParty(row, 'shipper'),
    consignee: readParty(row, 'consignee'),
    container_numbers: row.containers.length > 0 ? row.containers : undefined,
    references: row.references.length > 0 ? row.references : undefined,
    metadata: row.metadata.length > 0 ? Object.fromEntries(row.metadata) : undefined,
    legs: isOnLeg ? [removeUndefinedProperties({ ...journey, vessel, voyage })] : undefined,
  });
}

function removeUndefinedProperties<T extends object>(all: T): T {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;
}

function readParty(row: ImportRowConverter, who: 'shipper' | 'consignee') {
  const [name, external_id] = [row.readCellText(`${who}.name`), row.readCellText(`${who}.external_id`)];
  return name === undefined && external_id === undefined ? undefined : removeUndefinedProperties({ name, external_id });
}

function findImportTimeZone({ zone, zoneOf }: ImportParsingOptions, port: string | undefined): string | undefined {
  if (zone === 'utc') return 'UTC';
  if (zone === 'own') return USER_TIME_ZONE;
  return port === undefined ? undefined : zoneOf(port);
}

function parseMode(value: string): Mode {
  const mode = MODE_BY_NAME.get(value.toLowerCase());
  if (mode === undefined)
    throw new Error(`is not a mode. Use one of: ${Object.keys(TRANSPORT_MODE_LABELS).join(', ')}`);
  return mode;
}

function parseLoadType(value: string) {
  const found = (Object.keys(LOAD_TYPE_LABELS) as (keyof typeof LOAD_TYPE_LABELS)[]).find(
    (type) => type === value.toLowerCase().replaceAll(/[ -]/g, '_'),
  );
  if (found === undefined)
    throw new Error(`is not a load type. Use one of: ${Object.keys(LOAD_TYPE_LABELS).join(', ')}`);
  return found;
}

function parsePlainFieldCell(name: PlainFieldName, text: string): string {
  const value = parsePlainShipmentFieldText(name, text);
  if (value !== undefined) return value;
  const { label, choices = [] } = getPlainFieldDefinition(name);
  throw new Error(
    `is not a valid ${label.toLowerCase()}. Use one of: ${choices.map((choice) => choice.value).join(', ')}`,
  );
}

function parseImportedPortCode(
  row: ImportRowConverter,
  target: 'origin_port' | 'destination_port',
  mode: Mode | undefined,
): string | undefined {
  return row.parseImportCell(target, (value) => {
    const code = normaliseCode(value);
    if (!isPortCode(code, mode ?? null)) throw new Error('is not a port code such as NLRTM');
    return code;
  });
}

function parseCarrierCode(value: string, mode: Mode | undefined): string {
  const code = normaliseCode(value);
  if (!isCarrierCode(code, mode ?? 'air')) throw new Error('is not a carrier code such as MAEU');
  return code;
}

/** Converts the header of a column to a reference type, such as "Purchase order" to `purchase_order`. */
function convertColumnHeaderToReferenceType(header: string): string {
  return (
    header
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
      .replaceAll(/^_|_$/g, '') || 'reference'
  );
}

/** Lists the codes of all ports in the file. Their time zones are needed to convert local times. */
export function listImportedPortCodes({ rows }: Pick<ImportFileContent, 'rows'>, mapping: Mapping): readonly string[] {
  const columns = mapping.flatMap((target, index) =>
    target === 'origin_port' || target === 'destination_port' ? [index] : [],
  );
  const codes = rows.flatMap((row) => columns.map((column) => normaliseCode(row[column] ?? '')));
  return [...new Set(codes)].filter((code) => /^[A-Z]{2}[A-Z2-9]{1,3}$/.test(code));
}
