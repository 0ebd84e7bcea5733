import type { ItemOf } from '@tracking/client';
import { buildEtaPoints } from './shipment-queries.ts';

const at = (hour: number) => `2026-11-24T${String(hour).padStart(2, '0')}:00:00.000Z`;
const change = (reported_at: string, eta: string | null) => ({ reported_at, eta }) as ItemOf<'listEtaHistory'>;

describe('the points of the ETA chart', () => {
  it('runs from the first estimate to the current time', () => {
    const points = buildEtaPoints([change(at(3), at(20)), change(at(1), at(10))], Date.parse(at(5)));
    expect(points).toEqual([
      { reported: Date.parse(at(1)), eta: Date.parse(at(10)) },
      { reported: Date.parse(at(3)), eta: Date.parse(at(20)) },
      { reported: Date.parse(at(5)), eta: Date.parse(at(20)) },
    ]);
  });

  it('contains a gap for the time without an estimate', () => {
    const [, gap] = buildEtaPoints([change(at(3), null), change(at(1), at(10))], Date.parse(at(3)));
    expect(gap).toEqual({ reported: Date.parse(at(3)), eta: null });
  });

  it('is empty without estimates', () => {
    expect(buildEtaPoints([], Date.parse(at(3)))).toEqual([]);
  });
});
