import { jest } from '@jest/globals';
import { type Place, PlaceLoader } from './places.ts';

const placeOf = (code: string): Place => ({
  code,
  name: `Port of ${code}`,
  country: code.slice(0, 2),
  latitude: null,
  longitude: null,
  timezone: null,
});

it('sends simultaneous requests as one', async () => {
  const find = jest.fn((codes: readonly string[]) => Promise.resolve(codes.filter((c) => c !== 'XXXXX').map(placeOf)));
  const asker = new PlaceLoader(find);
  const asked = ['NLRTM', 'CNSHA', 'NLRTM', 'XXXXX'].map((code) => asker.loadPlace(code));
  expect((await Promise.all(asked)).map((place) => place?.name)).toEqual([
    'Port of NLRTM',
    'Port of CNSHA',
    'Port of NLRTM',
    undefined,
  ]);
  expect(find.mock.calls).toEqual([[['NLRTM', 'CNSHA', 'XXXXX']]]);
});

it('splits requests that do not fit into one', async () => {
  const find = jest.fn((codes: readonly string[]) => Promise.resolve(codes.map(placeOf)));
  const asker = new PlaceLoader(find);
  const codes = Array.from({ length: 250 }, (_, n) => `XX${n}`);
  const places = await Promise.all(codes.map((code) => asker.loadPlace(code)));
  expect(places.map((place) => place?.code)).toEqual(codes);
  expect(find.mock.calls.map(([some]) => some.length)).toEqual([120, 120, 10]);
});

it('fails for all codes of a failed request, but not for later requests', async () => {
  const find = jest.fn<(codes: readonly string[]) => Promise<readonly Place[]>>();
  find.mockRejectedValueOnce(new Error('away')).mockResolvedValueOnce([placeOf('NLRTM')]);
  const asker = new PlaceLoader(find);
  await expect(asker.loadPlace('NLRTM')).rejects.toThrow('away');
  expect(await asker.loadPlace('NLRTM')).toMatchObject({ name: 'Port of NLRTM' });
});

it('loads the time zones that it does not know yet', async () => {
  const find = jest.fn((codes: readonly string[]) =>
    Promise.resolve(codes.map((code) => ({ ...placeOf(code), timezone: `Zone/${code}` }))),
  );
  const loader = new PlaceLoader(find);
  await loader.loadTimeZonesOfPlaces(['NZAKL', null, 'NZAKL']);
  expect(loader.findLoadedZone('NZAKL')).toBe('Zone/NZAKL');
  await loader.loadTimeZonesOfPlaces(['NZAKL', 'NLRTM']);
  expect(find.mock.calls).toEqual([[['NZAKL']], [['NLRTM']]]);
});
