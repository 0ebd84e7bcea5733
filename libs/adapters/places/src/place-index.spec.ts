import type { PlaceDirectory } from '@tracking/contracts';
import { loadPlaces } from './index.ts';

let places: PlaceDirectory;
beforeAll(async () => {
  places = await loadPlaces();
});

const codes = (text: string, limit = 5) => places.searchPlaces(text, limit).map(({ code }) => code);

it.each([
  ['NLRTM', 'NLRTM'],
  ['nlrtm', 'NLRTM'],
  ['rotterd', 'NLRTM'],
  ['shangh', 'CNSHA'],
  ['los ang', 'USLAX'],
  ['ang los', 'USLAX'],
])('finds %j as the place %s', (text, code) => {
  expect(codes(text)).toContain(code);
});

it('puts the typed code first, and sea ports before airports', () => {
  expect(codes('AMS')[0]).toBe('AMS');
  const kinds = codes('amsterdam', 20).map((code) => code.length);
  expect(kinds).toEqual(kinds.toSorted((one, other) => other - one));
});

it.each(['', '  ', '—', '%', 'qqqqqqq', 'rotterdam qqqq'])('finds nothing for %j', (text) => {
  expect(codes(text)).toEqual([]);
});

it('finds names regardless of accents', () => {
  expect(codes('goteborg', 10)).toEqual(codes('Göteborg', 10));
});

it('returns at most the requested number', () => {
  expect(codes('a', 7)).toHaveLength(7);
});
