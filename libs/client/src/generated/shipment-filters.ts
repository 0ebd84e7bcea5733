// Made from libs/contracts/src/shipment-filters.ts by `npm run client-types`: not to be edited.

/** Filters of the list of shipments, with the kind of their values and a label. */
export const SHIPMENT_FILTERS = {
  status: { kind: 'statuses', label: 'Status' },
  active: { kind: 'flag', label: 'Active' },
  has_open_exceptions: { kind: 'flag', label: 'Open exceptions' },
  mode: { kind: 'modes', label: 'Mode' },
  incoterm: { kind: 'choices', label: 'Incoterm' },
  external_id: { kind: 'reference', label: 'Your reference' },
  house_bill: { kind: 'reference', label: 'House bill' },
  master_bill: { kind: 'reference', label: 'Master bill' },
  booking_number: { kind: 'reference', label: 'Booking number' },
  reference: { kind: 'reference', label: 'Additional reference' },
  shipper: { kind: 'party', label: 'Shipper' },
  consignee: { kind: 'party', label: 'Consignee' },
  container_number: { kind: 'container', label: 'Container' },
  carrier_scac: { kind: 'carrier', label: 'Carrier' },
  origin_port: { kind: 'port', label: 'Origin' },
  destination_port: { kind: 'port', label: 'Destination' },
  eta_from: { kind: 'time', label: 'ETA from' },
  eta_to: { kind: 'time', label: 'ETA until' },
  created_from: { kind: 'time', label: 'Created from' },
  created_to: { kind: 'time', label: 'Created until' },
  updated_since: { kind: 'time', label: 'Updated since' },
  q: { kind: 'words', label: 'Search' },
} as const;
