import {
  ACME_LIVE_SCOPE,
  createShipmentEventForTest,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import { shipmentsReadModel } from './shipment-rows.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;
const sent = { etd: null, eta: null, legs: [] };

function event(revision: number, type: string, data: object) {
  const stored = { ...createShipmentEventForTest({ type, data }), stream, revision, position: String(revision) };
  return {
    id: stored.id,
    stream,
    position: stored.position,
    scope: undefined,
    event: upcastStoredShipmentEvent(stored),
  };
}
const created = event(0, 'shipment.created.v1', {
  ...ACME_LIVE_SCOPE,
  shipment: createSampleShipmentRecord(1, { house_bill: 'HB' }),
  sent,
});
const delivered = event(1, 'shipment.changed.v1', { changes: { status: { from: 'pending', to: 'delivered' } } });

const apply = (each: typeof created, before?: ShipmentReadModelRow) =>
  shipmentsReadModel.applyEventToRows(each, () => before);

describe('rows of shipments', () => {
  it('a created shipment has a row of its scope with the list fields', () => {
    expect(shipmentsReadModel.listRowIdsNeededToProjectEvent?.(created)).toEqual([]);
    expect(apply(created)).toEqual([
      expect.objectContaining({
        id: `shp_${createNthTestShipmentToken(1)}`,
        ...ACME_LIVE_SCOPE,
        revision: 0,
        position: '0',
        status: 'pending',
        eta: null,
        created_at: createSampleShipmentRecord(1).created_at,
        terms: expect.arrayContaining(['status:pending', 'active:true', 'word:hb house_bill:hb']),
      }),
    ]);
  });

  it('a shipment that ends is no longer active', () => {
    const [before] = apply(created);
    expect(shipmentsReadModel.listRowIdsNeededToProjectEvent?.(delivered)).toEqual([
      `shp_${createNthTestShipmentToken(1)}`,
    ]);
    const [after] = apply(delivered, before);
    expect(after).toMatchObject({ revision: 1, position: '1', status: 'delivered', ...ACME_LIVE_SCOPE });
    expect(after?.terms).toEqual(expect.arrayContaining(['status:delivered', 'word:hb house_bill:hb']));
    expect(after?.terms).not.toEqual(expect.arrayContaining([expect.stringMatching('pending|active')]));
    expect(after?.record).toMatchObject({ status: 'delivered', version: 2, house_bill: 'HB' });
  });

  it('an event that the row already reflects writes nothing', () => {
    const [before] = apply(created);
    expect(apply(created, before)).toEqual([]);
  });

  it("the cache weight follows the size of the client's data", () => {
    const weightOf = (fields: Parameters<typeof createSampleShipmentRecord>[1]) => {
      const [row] = apply(
        event(0, 'shipment.created.v1', { ...ACME_LIVE_SCOPE, shipment: createSampleShipmentRecord(1, fields), sent }),
      );
      return row && shipmentsReadModel.weight?.(row);
    };
    const names = Array.from({ length: 50 }, (_, n) => [`n${n}`, 'x'.repeat(1_000)]);
    expect(weightOf({})).toBeLessThan(2);
    expect(weightOf({ metadata: Object.fromEntries(names) })).toBeGreaterThan(50);
  });

  it('a missing event is refused', () => {
    const [before] = apply(created);
    expect(() => apply(event(2, delivered.event.type, delivered.event.data), before)).toThrow(
      'expected revision 1 of the stream, got 2',
    );
    expect(() => apply(delivered)).toThrow('expected revision 0 of the stream, got 1');
  });
});
