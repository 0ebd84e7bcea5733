import { aShipment } from '../a-shipment.ts';
import { forEachOf, type Tally } from './for-each.ts';
import { NOTHING, selectedOf, toggled, withRange } from './selection.ts';
import { CSV_HEADER, csvRow } from './shipment-csv.ts';

const rows = ['a', 'b', 'c', 'd'].map((id) => aShipment({ id }));

describe('a selection', () => {
  it('takes one in and out', () => {
    expect([...toggled(NOTHING, 'a')]).toEqual(['a']);
    expect([...toggled(new Set(['a', 'b']), 'a')]).toEqual(['b']);
  });

  it('takes in what lies between, upwards too', () => {
    expect([...withRange(new Set(['d']), rows, 2, 1)]).toEqual(['d', 'b', 'c']);
  });

  it('is only of rows that are there', () => {
    expect(selectedOf(new Set(['b', 'gone']), rows)).toEqual([rows[1]]);
  });
});

describe('one thing done to several', () => {
  const never = new AbortController().signal;

  it('is done to all but those that fail', async () => {
    const told: Tally<number>[] = [];
    const write = (n: number) => (n % 2 === 0 ? Promise.reject(new Error(`no ${n}`)) : Promise.resolve());
    const outcome = await forEachOf([1, 2, 3, 4, 5], { write, onProgress: (it) => told.push(it), signal: never });
    expect(outcome).toMatchObject({ done: 3, left: 0 });
    expect(outcome.failed.map(({ item }) => item)).toEqual([2, 4]);
    expect(told).toHaveLength(5);
  });

  it('has no more than a few under way', async () => {
    let [now, most] = [0, 0];
    const write = async () => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
    };
    await forEachOf(Array.from({ length: 20 }), { write, onProgress: () => undefined, signal: never });
    expect(most).toBe(4);
  });

  it('ends what it began where it is stopped, and begins nothing more', async () => {
    const stopped = new AbortController();
    const write = () => {
      stopped.abort();
      return Promise.resolve();
    };
    const parts = { write, onProgress: () => undefined, signal: stopped.signal };
    expect(await forEachOf([1, 2, 3], parts)).toEqual({ done: 1, failed: [], left: 2 });
  });
});

it('writes a shipment as a row of the file', () => {
  const shipment = aShipment({
    mode: 'ocean',
    container_numbers: ['CSQU3054383', 'MSKU1234565'],
    references: [{ type: 'po', value: '7' }],
  });
  const row = Object.fromEntries(csvRow(shipment).map((cell, index) => [CSV_HEADER[index], cell]));
  expect(row).toMatchObject({
    id: 'shp_1',
    external_id: 'PO-1',
    mode: 'ocean',
    eta: '',
    container_numbers: 'CSQU3054383 MSKU1234565',
    references: 'po:7',
    open_exceptions_count: '0',
  });
});
