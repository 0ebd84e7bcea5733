import type { DocumentContentType, DocumentType, Milestone, ShipmentDocument } from '@tracking/client';

export type Classifier = Milestone['classifier'];
export type Source = Milestone['source'];
export type Reason = NonNullable<Milestone['reason_code']>;

export const CLASSIFIER_LABELS: Readonly<Record<Classifier, string>> = {
  actual: 'Actual',
  estimated: 'Estimated',
  planned: 'Planned',
};

export const DATA_SOURCE_LABELS: Readonly<Record<Source | 'client', string>> = {
  manual: 'Manual',
  carrier: 'Carrier',
  terminal: 'Terminal',
  rail: 'Railway',
  ais: 'AIS',
  edi: 'EDI',
  customs: 'Customs',
  iot: 'Device',
  partner: 'Partner',
  system: 'System',
  client: 'Set on the shipment',
};

/** Labels of reason codes, grouped by the party or cause. */
const MILESTONE_REASON_LABELS_BY_GROUP: Readonly<Record<string, Readonly<Partial<Record<Reason, string>>>>> = {
  Manual: {
    carrier_feed_unavailable: 'Carrier feed unavailable',
    carrier_feed_delayed: 'Carrier feed delayed',
    carrier_data_incorrect: 'Carrier data incorrect',
    confirmed_by_carrier: 'Confirmed by the carrier',
    confirmed_by_agent: 'Confirmed by the agent',
    document_evidence: 'Confirmed by a document',
    backfill: 'Backfill',
    manual_other: 'Other (manual)',
  },
  Carrier: {
    vessel_mechanical: 'Mechanical problem of the vessel',
    route_deviation: 'Route deviation',
    blank_sailing: 'Blank sailing',
    port_omitted: 'Port omitted',
    rolled: 'Rolled to a later sailing',
    missed_connection: 'Missed connection',
    carrier_other: 'Other (carrier)',
  },
  Shore: {
    port_congestion: 'Port congestion',
    terminal_congestion: 'Terminal congestion',
    labor_shortage: 'Labour shortage',
    equipment_shortage: 'Equipment shortage',
    shore_other: 'Other (shore)',
  },
  Cargo: {
    customs_exam: 'Customs examination',
    customs_documents: 'Customs documents missing',
    missing_documents: 'Missing documents',
    misdeclared_weight: 'Misdeclared weight',
    dangerous_goods: 'Dangerous goods',
    reefer_malfunction: 'Reefer malfunction',
    cargo_damage: 'Cargo damage',
    cargo_other: 'Other (cargo)',
  },
  Party: {
    shipper_not_ready: 'Shipper not ready',
    consignee_unavailable: 'Consignee unavailable',
    delivery_refused: 'Delivery refused',
    appointment_missed: 'Appointment missed',
    payment_hold: 'Payment hold',
    party_other: 'Other (party)',
  },
  External: {
    weather: 'Weather',
    strike: 'Strike',
    holiday: 'Holiday',
    road_conditions: 'Road conditions',
    border_delay: 'Border delay',
    force_majeure: 'Force majeure',
    external_other: 'Other (external)',
  },
};

const MILESTONE_REASON_LABELS: Readonly<Partial<Record<Reason, string>>> = Object.assign(
  {},
  ...Object.values(MILESTONE_REASON_LABELS_BY_GROUP),
);

/** Options of the field for the reason of a milestone, such as a delay by weather, in groups. */
export const MILESTONE_REASON_OPTIONS = Object.entries(MILESTONE_REASON_LABELS_BY_GROUP).map(([group, reasons]) => ({
  group,
  items: Object.entries(reasons).map(([value, label]) => ({ value, label: label ?? value })),
}));

export function getReasonLabel(reason: Reason): string {
  return MILESTONE_REASON_LABELS[reason] ?? reason;
}

export const DOCUMENT_TYPE_LABELS: Readonly<Record<DocumentType, string>> = {
  bill_of_lading: 'Bill of lading',
  house_bill: 'House bill',
  sea_waybill: 'Sea waybill',
  air_waybill: 'Air waybill',
  commercial_invoice: 'Commercial invoice',
  packing_list: 'Packing list',
  certificate_of_origin: 'Certificate of origin',
  booking_confirmation: 'Booking confirmation',
  shipping_instructions: 'Shipping instructions',
  arrival_notice: 'Arrival notice',
  delivery_order: 'Delivery order',
  proof_of_delivery: 'Proof of delivery',
  customs_entry: 'Customs entry',
  verified_gross_mass: 'Verified gross mass (VGM)',
  dangerous_goods_declaration: 'Dangerous goods declaration',
  inspection_certificate: 'Inspection certificate',
  phytosanitary_certificate: 'Phytosanitary certificate',
  insurance_certificate: 'Insurance certificate',
  freight_invoice: 'Freight invoice',
  photo: 'Photo',
  other: 'Other',
};
export const DOCUMENT_TYPES = Object.keys(DOCUMENT_TYPE_LABELS) as readonly DocumentType[];

export const DOCUMENT_STATUS_LABELS: Readonly<Record<ShipmentDocument['status'], string>> = {
  pending_upload: 'Awaiting upload',
  uploaded: 'Awaiting review',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Upload expired',
  deleted: 'Deleted',
};
export const DOCUMENT_STATUS_COLORS: Readonly<Record<ShipmentDocument['status'], string>> = {
  pending_upload: 'gray',
  uploaded: 'blue',
  approved: 'green',
  rejected: 'red',
  expired: 'gray',
  deleted: 'gray',
};

export const CONTENT_TYPE_LABELS: Readonly<Record<DocumentContentType, string>> = {
  'application/pdf': 'PDF',
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/tiff': 'TIFF',
  'image/heic': 'HEIC',
  'image/webp': 'WebP',
  'text/csv': 'CSV',
  'text/plain': 'Text',
  'application/xml': 'XML',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  'message/rfc822': 'Email',
  'application/vnd.ms-outlook': 'Outlook message',
};
