import { normalisePlaceName, type Place, type PlaceLookup } from '@tracking/contracts';

type Row = readonly [code: string, name: string, latitude: number, longitude: number, country?: string];

const JOURNEY_PLACE_ROWS: readonly Row[] = [
  ['BRSSZ', 'Santos', -23.95, -46.33],
  ['CAVAN', 'Vancouver', 49.28, -123.12],
  ['CNSGH', 'Shanghai Pt', 31.23, 121.5],
  ['CNSHA', 'Shanghai', 31.23, 121.47],
  ['CNSHG', 'Shanghai Port', 31.37, 121.5],
  ['CNTXG', 'Tianjin', 38.98, 117.7],
  ['FIHEL', 'Helsinki', 60.17, 24.94],
  ['JPTYO', 'Tokyo', 35.68, 139.75],
  ['JPYOK', 'Yokohama', 35.45, 139.65],
  ['KUL', 'Kuala Lumpur International Airport', 2.75, 101.71, 'MY'],
  ['LHR', 'London Heathrow Airport', 51.47, -0.46, 'GB'],
  ['MIL', 'Milan', 45.63, 8.72, 'IT'],
  ['MXP', 'Milano Malpensa Airport', 45.63, 8.72, 'IT'],
  ['MYJHB', 'Johor Bahru', 1.46, 103.76],
  ['NLRTM', 'Rotterdam', 51.92, 4.48],
  ['PEK', 'Beijing Capital International Airport', 40.08, 116.58, 'CN'],
  ['SGSIN', 'Singapore', 1.29, 103.85],
  ['USCHI', 'Chicago', 41.88, -87.63],
  ['USEWR', 'Newark', 40.73, -74.17],
  ['USLAX', 'Los Angeles', 34.05, -118.24],
  ['USLGB', 'Long Beach', 33.77, -118.18],
  ['USNYC', 'New York', 40.7, -74],
  ['USORF', 'Norfolk', 36.85, -76.29],
  ['USPDX', 'Portland', 45.52, -122.68],
  ['USPWM', 'Portland', 43.66, -70.26],
];
const PLACES_BY_CODE: ReadonlyMap<string, Place> = new Map(
  JOURNEY_PLACE_ROWS.map(([code, name, latitude, longitude, country = code.slice(0, 2)]) => [
    code,
    { code, name, country, latitude, longitude, timezone: null },
  ]),
);
const PLACE_ALIASES: Readonly<Record<string, readonly string[]>> = { MIL: ['MXP'], MXP: ['MIL'] };
const SAMPLE_PLACE_BY_US_STATE: Readonly<Record<string, string>> = { ca: 'USLAX', wa: 'none' };

/** A few places with coordinates and names, as journeys of carriers contain them. */
export const journeyPlacesStub: PlaceLookup = {
  find: (code) => PLACES_BY_CODE.get(code),
  isUnknownLocationCode: () => false,
  isWordOfPlaceName: () => false,
  lookUpPlaceCodesByName(text) {
    const words = normalisePlaceName(text).split(' ');
    const state = SAMPLE_PLACE_BY_US_STATE[words.at(-1) ?? ''];
    const name = (state === undefined ? words : words.slice(0, -1)).join(' ');
    const named = JOURNEY_PLACE_ROWS.filter((row) => normalisePlaceName(row[1]) === name).map(([code]) => code);
    if (named.length === 0) return undefined;
    return state === undefined ? named : named.filter((code) => code === state);
  },
  listAliases: (code) => PLACE_ALIASES[code] ?? [],
};
