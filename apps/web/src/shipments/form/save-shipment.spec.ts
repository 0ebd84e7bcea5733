import { ConflictError, type Shipment } from '@tracking/client';
import { type ShipmentPatch, type ShipmentFormValues, toShipmentFormValues } from './form-values.ts';
import { mergeFormWithOtherChanges, saveShipmentChangesOrFindConflict } from './save-shipment.ts';

const BASE = {
  ...{ id: 'shp_1', version: 3, external_id: 'PO-1', mode: 'ocean', load_type: null, house_bill: 'H-1' },
  ...{ master_bill: null, booking_number: 'B-1', container_numbers: [], carrier_scac: 'MAEU', origin_port: 'CNSHA' },
  ...{
    destination_port: 'NLRTM',
    etd: null,
    eta: null,
    shipper: null,
    consignee: null,
    references: [],
    metadata: null,
  },
  legs: [],
} as unknown as Shipment;
const ANN = { type: 'user', id: 'usr_1', name: 'Ann' };

/** Returns a service that holds this shipment and rejects changes of an earlier version. */
function serviceWith(now: Shipment, changed: readonly string[] = []) {
  const sent: { readonly changes: ShipmentPatch; readonly ifMatch: string }[] = [];
  const refusal = { type: 'conflict', code: 'precondition_failed', message: 'It has changed.' } as const;
  const headers = { etag: `"${now.version}"` };
  const entry = {
    ...{ id: 'evt_1', type: 'shipment.updated', at: '2026-11-23T09:00:00Z', actor: ANN, version: now.version },
    changes: Object.fromEntries(changed.map((field) => [field, {}])),
  };
  const shipments = {
    patch: async (_id: string, changes: ShipmentPatch, { ifMatch }: { ifMatch: string }) => {
      sent.push({ changes, ifMatch });
      if (ifMatch !== headers.etag) throw new ConflictError({ status: 412, headers, error: refusal });
      return { warnings: [] };
    },
    get: async () => now,
    history: () => ({ page: async () => ({ data: [entry] }) }),
  };
  return { api: { shipments } as never, sent };
}

const mine = (changes: Partial<ShipmentFormValues>) => ({ ...toShipmentFormValues(BASE), ...changes });

describe('saving a form', () => {
  it('sends the changes with the version that the form was opened with', async () => {
    const { api, sent } = serviceWith(BASE);
    expect(await saveShipmentChangesOrFindConflict(api, BASE, mine({ booking_number: 'B-2' }))).toEqual({
      kind: 'saved',
      warnings: [],
    });
    expect(sent).toEqual([{ changes: { booking_number: 'B-2' }, ifMatch: '"3"' }]);
  });

  it('succeeds if others have changed only other parts of the shipment', async () => {
    const { api, sent } = serviceWith({ ...BASE, version: 5 });
    expect(await saveShipmentChangesOrFindConflict(api, BASE, mine({ booking_number: 'B-2' }))).toMatchObject({
      kind: 'saved',
    });
    expect(sent.map(({ ifMatch }) => ifMatch)).toEqual(['"3"', '"5"']);
  });

  it('succeeds if the shipment already contains all changes, as after a lost response', async () => {
    const { api, sent } = serviceWith({ ...BASE, version: 4, booking_number: 'B-2' });
    expect(await saveShipmentChangesOrFindConflict(api, BASE, mine({ booking_number: 'B-2' }))).toMatchObject({
      kind: 'saved',
    });
    expect(sent).toHaveLength(1);
  });

  it('reports the changes of others, their authors, and the conflicting fields', async () => {
    const now = { ...BASE, version: 4, booking_number: 'B-9', house_bill: 'H-9' };
    const { api } = serviceWith(now, ['booking_number']);
    const values = mine({ booking_number: 'B-2', carrier_scac: 'MSCU' });
    const saved = await saveShipmentChangesOrFindConflict(api, BASE, values);
    if (saved.kind !== 'conflict') throw new Error('it was saved');
    const { conflict } = saved;
    expect(conflict.both).toMatchObject([{ field: 'booking_number', by: { actor: ANN } }]);
    expect(conflict.others).toEqual([{ field: 'house_bill', by: undefined }]);
    expect(conflict.own).toEqual(['carrier_scac']);
    const kept = { ...toShipmentFormValues(now), carrier_scac: 'MSCU' };
    expect(mergeFormWithOtherChanges(values, conflict, { booking_number: 'theirs' })).toEqual(kept);
    expect(mergeFormWithOtherChanges(values, conflict, { booking_number: 'mine' })).toEqual({
      ...kept,
      booking_number: 'B-2',
    });
  });
});
