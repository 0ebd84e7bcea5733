import { createUpsertCommand, SAMPLE_SCOPE } from '../test/builders.ts';
import { findShipmentIdOfOperationRequest } from './operations.ts';

describe('findShipmentIdOfOperationRequest', () => {
  const shipment_id = `shp_${'a'.repeat(25)}a`;
  const part = `${'a'.repeat(26)}${'b'.repeat(16)}`;

  it.each([
    ['a command', { shipment_id }, shipment_id],
    ['a query of an exception', { ...SAMPLE_SCOPE, exception_id: `exc_${part}` }, shipment_id],
    ['a query of a document', { ...SAMPLE_SCOPE, document_id: `doc_${part}` }, shipment_id],
    ['a command with a malformed id', { shipment_id: 'shp_Ø' }, undefined],
    ['a query of no shipment', {}, undefined],
  ])('returns the shipment of %s', (_, request, expected) => {
    expect(findShipmentIdOfOperationRequest(request)).toBe(expected);
  });

  it('returns the same shipment for all upserts of one external_id', () => {
    const [one, other] = [
      createUpsertCommand({ external_id: 'PO-1' }),
      createUpsertCommand({ external_id: 'PO-1', house_bill: 'HB-1' }),
    ];
    expect(findShipmentIdOfOperationRequest(one)).toMatch(/^shp_/);
    expect(findShipmentIdOfOperationRequest(other)).toBe(findShipmentIdOfOperationRequest(one));
    expect(findShipmentIdOfOperationRequest(createUpsertCommand({ external_id: 'PO-2' }))).not.toBe(
      findShipmentIdOfOperationRequest(one),
    );
  });
});
