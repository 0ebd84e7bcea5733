import { type Leg, stopsOf } from './stops.ts';

const leg = (origin_port: string, destination_port: string, more: Partial<Leg> = {}): Leg => ({
  ...{ mode: 'ocean', carrier_scac: null, vessel: null, voyage: null, origin_port, destination_port },
  ...{ etd: null, eta: null, atd: null, ata: null, ...more },
});
const places = (legs: readonly Leg[]) => stopsOf(legs).map(({ place, state }) => [place, state]);

describe('the stops of a journey', () => {
  it('are none without legs', () => {
    expect(stopsOf([])).toEqual([]);
  });

  it('are where a leg ends and the next one begins', () => {
    const stops = stopsOf([leg('CNSHA', 'ESALG', { eta: 'a' }), leg('ESALG', 'NLRTM', { etd: 'b' })]);
    expect(stops.map(({ place }) => place)).toEqual(['CNSHA', 'ESALG', 'NLRTM']);
    expect(stops[1]).toMatchObject({ arrival: { estimated: 'a' }, departure: { estimated: 'b' } });
    expect([stops[0]?.arrival, stops[2]?.departure]).toEqual([undefined, undefined]);
  });

  it('are two where the next leg begins somewhere else', () => {
    expect(places([leg('CNSHA', 'ESALG'), leg('ESBCN', 'NLRTM')]).map(([place]) => place)).toEqual([
      ...['CNSHA', 'ESALG', 'ESBCN', 'NLRTM'],
    ]);
  });

  it('tell how far the goods have come, also where nobody told of a stop between', () => {
    const first = leg('CNSHA', 'ESALG', { atd: 'a' });
    expect(places([first, leg('ESALG', 'NLRTM')])).toEqual([
      ['CNSHA', 'left'],
      ['ESALG', 'ahead'],
      ['NLRTM', 'ahead'],
    ]);
    expect(places([{ ...first, ata: 'b' }, leg('ESALG', 'NLRTM')])[1]).toEqual(['ESALG', 'here']);
    expect(places([first, leg('ESALG', 'NLRTM', { ata: 'c' })])).toEqual([
      ['CNSHA', 'left'],
      ['ESALG', 'left'],
      ['NLRTM', 'here'],
    ]);
  });
});
