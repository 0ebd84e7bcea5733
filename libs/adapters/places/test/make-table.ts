/**
 * Generates src/table/places.tsv from the packages `sea-ports` and `airport-data-js`. Loading them at run time would
 * add 300 ms and 90 MB to a start; the table adds a few milliseconds. After an update of either package, run `node
 * test/make-table.ts`.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { COUNTRY_CODES } from '../src/locode-list.ts';

export const PLACE_TABLE_FILE = new URL('../src/table/places.tsv', import.meta.url);

interface SeaPort {
  readonly name: string;
  readonly coordinates?: readonly [longitude: number, latitude: number];
  readonly timezone?: string;
  readonly province?: string;
}
interface AirportRow {
  readonly iata: string;
  readonly country_code: string;
  readonly airport: string;
  readonly latitude: number | string;
  readonly longitude: number | string;
  readonly time: string;
}
interface PlaceTableFileRow {
  readonly code: string;
  readonly country: string;
  readonly name: string;
  readonly at: PlaceCoordinates | null;
  readonly zone: string | null;
  /** Name of the state or province; empty if it is not known. */
  readonly subdivision: string;
}
interface PlaceCoordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Time zones that correct errors of the packages that no rule below finds, by airport. */
const AIRPORT_ZONE_FIXES: Readonly<Record<string, string>> = { BWT: 'Australia/Hobart' };
/** Coordinates that correct errors of the packages that no rule below finds, by port. */
const PORT_COORDINATE_FIXES: Readonly<Record<string, PlaceCoordinates>> = {
  CNDCB: { latitude: 22.48, longitude: 113.87 },
  CNFOC: { latitude: 26.07, longitude: 119.3 },
  CNSTG: { latitude: 23.36, longitude: 116.68 },
  CNYTN: { latitude: 22.57, longitude: 114.27 },
};
/** Codes in common use that `sea-ports` lacks, with the code of the port whose other columns they have. */
const PORT_CODES_BY_ALIAS: Readonly<Record<string, string>> = { CNSHG: 'CNSHA' };
/** Ports whose time zone is correct although the nearest airport of the country has another zone. */
const PORTS_EXEMPT_FROM_ZONE_CHECK: ReadonlySet<string> = new Set(['CASUM', 'UASVP']);
/** Current names of renamed time zones that the packages still use. */
const RENAMED_ZONES: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Pacific/Ponape': 'Pacific/Pohnpei',
};
/**
 * Maximum distance in km from the nearest airport of the country. The coordinates of a port beyond this distance are
 * wrong.
 */
const MAX_KM_TO_NEAREST_AIRPORT = 500;
/** Distance in km within which an airport of the same country has the port's time zone. */
const MAX_SAME_ZONE_KM = 120;

export async function generatePlaceTableFile(): Promise<string> {
  const require = createRequire(import.meta.url);
  const ports = require('sea-ports/lib/ports.json') as Readonly<Record<string, SeaPort>>;
  const { findAirports } = require('airport-data-js') as { findAirports(filter: object): Promise<AirportRow[]> };
  const airports = (await findAirports({})).filter(isUsableAirport).map(createAirportRow);
  const additions = Object.entries(PORT_CODES_BY_ALIAS).flatMap(([code, like]) => {
    const port = ports[like];
    return port === undefined || ports[code] !== undefined ? [] : [[code, port] as const];
  });
  const rows = [
    ...[...Object.entries(ports), ...additions].flatMap(([code, port]) =>
      createPlaceTableRowsOfSeaPort(code, port, airports),
    ),
    ...airports,
  ];
  rows.sort((a, b) => (a.code < b.code ? -1 : 1));
  return rows.map(formatPlaceTableLine).join('\n') + '\n';
}

function isUsableAirport(row: AirportRow): boolean {
  return /^[A-Z]{3}$/.test(row.iata) && COUNTRY_CODES.has(row.country_code);
}

function createAirportRow(row: AirportRow): PlaceTableFileRow {
  const zone = AIRPORT_ZONE_FIXES[row.iata] ?? row.time;
  const at = { latitude: Number(row.latitude), longitude: Number(row.longitude) };
  return {
    code: row.iata,
    country: row.country_code,
    name: row.airport,
    at: row.latitude !== '' && isOnEarth(at) ? at : null,
    zone: toCurrentValidTimeZone(zone),
    subdivision: '',
  };
}

function createPlaceTableRowsOfSeaPort(
  code: string,
  port: SeaPort,
  airports: readonly PlaceTableFileRow[],
): readonly PlaceTableFileRow[] {
  const country = code.slice(0, 2);
  if (!COUNTRY_CODES.has(country)) return []; // The Netherlands Antilles (AN) were dissolved.
  const around = airports.filter((airport) => airport.country === country && airport.at);
  const at = findPlausibleCoordinates(code, port, around);
  return [
    {
      code,
      country,
      name: port.name,
      at,
      zone: findTimeZoneOfPort(code, port, at, around),
      subdivision: port.province ?? '',
    },
  ];
}

/** Returns the time zone of the port if airports nearby confirm it; otherwise the zone of these airports. */
function findTimeZoneOfPort(
  code: string,
  port: SeaPort,
  at: PlaceCoordinates | null,
  around: readonly PlaceTableFileRow[],
): string | null {
  const own = toCurrentValidTimeZone(port.timezone);
  if (PORTS_EXEMPT_FROM_ZONE_CHECK.has(code)) return own;
  const nearest = at ? findNearestAirport(at, around) : undefined;
  const witnesses = nearest && nearest.km <= MAX_SAME_ZONE_KM ? [nearest.airport] : around;
  const zones = [...new Set(witnesses.map((airport) => airport.zone))];
  if (zones.length === 0 || zones.some((zone) => own && formatZoneOffsets(zone) === formatZoneOffsets(own))) return own;
  return zones.length === 1 ? (zones[0] ?? null) : null;
}

/**
 * Returns the port's coordinates. They are swapped if only the swapped coordinates are in the country; the result is
 * null if they are wrong.
 */
function findPlausibleCoordinates(
  code: string,
  port: SeaPort,
  around: readonly PlaceTableFileRow[],
): PlaceCoordinates | null {
  if (PORT_COORDINATE_FIXES[code]) return PORT_COORDINATE_FIXES[code];
  if (!port.coordinates) return null;
  const [longitude, latitude] = port.coordinates;
  for (const at of [
    { latitude, longitude },
    { latitude: longitude, longitude: latitude },
  ]) {
    if (!isOnEarth(at)) continue;
    const nearest = findNearestAirport(at, around);
    if (!nearest || nearest.km <= MAX_KM_TO_NEAREST_AIRPORT) return at;
  }
  return null;
}

function findNearestAirport(
  at: PlaceCoordinates,
  airports: readonly PlaceTableFileRow[],
): { readonly airport: PlaceTableFileRow; readonly km: number } | undefined {
  let best: { airport: PlaceTableFileRow; km: number } | undefined;
  for (const airport of airports) {
    const km = airport.at ? computeDistanceKm(at, airport.at) : Infinity;
    if (!best || km < best.km) best = { airport, km };
  }
  return best;
}

/** Returns the great-circle distance in km. */
function computeDistanceKm(a: PlaceCoordinates, b: PlaceCoordinates): number {
  const radians = Math.PI / 180;
  const height = Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2;
  const width = Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  const chord = height + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * width;
  return 12_742 * Math.asin(Math.sqrt(chord));
}

function isOnEarth({ latitude, longitude }: PlaceCoordinates): boolean {
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
}

function toCurrentValidTimeZone(name: string | undefined): string | null {
  const zone = name?.replaceAll(' ', '') ?? '';
  const current = RENAMED_ZONES[zone] ?? zone;
  return current !== '' && formatZoneOffsets(current) !== null ? current : null;
}

/** Returns the zone's offsets in winter and summer; null if the zone does not exist. */
function formatZoneOffsets(zone: string | null): string | null {
  if (zone === null) return null;
  const known = offsetsByZone.get(zone);
  if (known !== undefined) return known;
  let found: string | null = null;
  try {
    found = [new Date('2026-01-15'), new Date('2026-07-15')].map((at) => formatOffset(zone, at)).join();
  } catch {
    // no such zone
  }
  offsetsByZone.set(zone, found);
  return found;
}
const offsetsByZone = new Map<string, string | null>();

function formatOffset(zone: string, at: Date): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  return format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? '';
}

function formatPlaceTableLine({ code, country, name, at, zone, subdivision }: PlaceTableFileRow): string {
  const degrees = (value: number | undefined) => (value === undefined ? '' : String(Math.round(value * 1e4) / 1e4));
  const [plain, state] = [name, subdivision].map((text) => text.replace(/\s+/g, ' ').trim());
  return [code, country, plain, degrees(at?.latitude), degrees(at?.longitude), zone ?? '', state].join('\t').trimEnd();
}

if (import.meta.main) writeFileSync(PLACE_TABLE_FILE, await generatePlaceTableFile());
