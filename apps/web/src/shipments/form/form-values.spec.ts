import {
  EMPTY_LEG_VALUES,
  EMPTY_SHIPMENT_VALUES,
  toShipmentRequestBody,
  listChangedFields,
  buildShipmentPatch,
} from './form-values.ts';

describe('the shipment form', () => {
  it('sends filled fields only', () => {
    const leg = { ...EMPTY_LEG_VALUES, mode: 'ocean' as const, vessel: ' Maersk Honam ' };
    const shipper = { name: 'Acme', external_id: ' ' };
    expect(
      toShipmentRequestBody({ ...EMPTY_SHIPMENT_VALUES, external_id: ' PO-1 ', mode: 'ocean', shipper, legs: [leg] }),
    ).toEqual({
      external_id: 'PO-1',
      mode: 'ocean',
      shipper: { name: 'Acme', external_id: null },
      legs: [
        {
          mode: 'ocean',
          carrier_scac: null,
          vessel: 'Maersk Honam',
          voyage: null,
          origin_port: null,
          destination_port: null,
          etd: null,
          eta: null,
        },
      ],
    });
  });

  it('sends only the changed fields, and null for cleared fields', () => {
    const before = { ...EMPTY_SHIPMENT_VALUES, external_id: 'PO-1', booking_number: 'B-1', house_bill: 'H-1' };
    expect(
      buildShipmentPatch(before, { ...before, booking_number: '', house_bill: 'H-1 ', carrier_scac: 'MAEU' }),
    ).toEqual({
      booking_number: null,
      carrier_scac: 'MAEU',
    });
  });

  it('sends a chosen Incoterm, and null for a cleared one', () => {
    const before = { ...EMPTY_SHIPMENT_VALUES, external_id: 'PO-1', incoterm: 'FOB' };
    expect(toShipmentRequestBody(before)).toEqual({ external_id: 'PO-1', incoterm: 'FOB' });
    expect(buildShipmentPatch(before, { ...before, incoterm: '' })).toEqual({ incoterm: null });
  });

  it('sends null for removed keys of metadata, because metadata is merged', () => {
    const before = { ...EMPTY_SHIPMENT_VALUES, metadata: [...named('team', 'north'), ...named('cost_centre', '4711')] };
    const after = { ...before, metadata: named('team', 'south') };
    expect(buildShipmentPatch(before, after)).toEqual({ metadata: { team: 'south', cost_centre: null } });
    expect(buildShipmentPatch(before, { ...before, metadata: [] })).toEqual({ metadata: null });
  });

  it('treats a field as unchanged if it was changed back', () => {
    const before = { ...EMPTY_SHIPMENT_VALUES, container_numbers: ['CSQU3054383'] };
    expect(listChangedFields(before, { ...before, container_numbers: ['CSQU3054383'] })).toEqual([]);
    expect(listChangedFields(before, { ...before, container_numbers: [] })).toEqual(['container_numbers']);
  });
});

function named(name: string, value: string) {
  return [{ name, value }];
}
