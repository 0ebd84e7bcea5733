import type { Shipment } from '@tracking/client';

/** Builds a shipment for specs. Fields that are not given have default values. */
export function buildShipmentForTest(fields: Partial<Shipment> = {}): Shipment {
  const empty = {
    carrier_scac: null,
    origin_port: null,
    destination_port: null,
    etd: null,
    eta: null,
    atd: null,
    ata: null,
    original_eta: null,
    ...({ etd_precision: 'time', eta_precision: 'time', original_eta_precision: 'time' } as const),
    status_milestone_id: null,
    mode: null,
    load_type: null,
    house_bill: null,
    master_bill: null,
    booking_number: null,
    incoterm: null,
    shipper: null,
    consignee: null,
    metadata: null,
    last_milestone: null,
  };
  const id = fields.id ?? 'shp_1';
  return {
    ...empty,
    id,
    external_id: 'PO-1',
    status: 'pending',
    container_numbers: [],
    containers: [],
    references: [],
    legs: [],
    open_exceptions_count: 0,
    documents_count: 0,
    created_at: '2026-11-01T00:00:00.000Z',
    updated_at: '2026-11-01T00:00:00.000Z',
    version: 1,
    url: `https://example.com/shipments/${id}`,
    ...fields,
  };
}
