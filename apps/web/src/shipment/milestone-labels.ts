import type { Milestone } from '@tracking/client';

export type Classifier = Milestone['classifier'];
export type Source = Milestone['source'];
export type Reason = NonNullable<Milestone['reason_code']>;

export const CLASSIFIER_LABELS: Readonly<Record<Classifier, string>> = {
  actual: 'Actual',
  estimated: 'Estimated',
  planned: 'Planned',
};

export const SOURCE_LABELS: Readonly<Record<Source | 'client', string>> = {
  manual: 'By hand',
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

/** By who or what is behind them. */
const REASONS_BY_GROUP: Readonly<Record<string, Readonly<Partial<Record<Reason, string>>>>> = {
  'By hand': {
    carrier_feed_unavailable: 'Carrier feed unavailable',
    carrier_feed_delayed: 'Carrier feed delayed',
    carrier_data_incorrect: 'Carrier data incorrect',
    confirmed_by_carrier: 'Confirmed by the carrier',
    confirmed_by_agent: 'Confirmed by the agent',
    document_evidence: 'Document as evidence',
    backfill: 'Backfill',
    manual_other: 'Other, by hand',
  },
  Carrier: {
    vessel_mechanical: 'Mechanical trouble of the vessel',
    route_deviation: 'Route deviation',
    blank_sailing: 'Blank sailing',
    port_omitted: 'Port omitted',
    rolled: 'Rolled to a later sailing',
    missed_connection: 'Missed connection',
    carrier_other: 'Other, of the carrier',
  },
  Shore: {
    port_congestion: 'Port congestion',
    terminal_congestion: 'Terminal congestion',
    labor_shortage: 'Labour shortage',
    equipment_shortage: 'Equipment shortage',
    shore_other: 'Other, on shore',
  },
  Cargo: {
    customs_exam: 'Customs examination',
    customs_documents: 'Documents for customs',
    missing_documents: 'Missing documents',
    misdeclared_weight: 'Misdeclared weight',
    dangerous_goods: 'Dangerous goods',
    reefer_malfunction: 'Reefer malfunction',
    cargo_damage: 'Cargo damage',
    cargo_other: 'Other, of the cargo',
  },
  Party: {
    shipper_not_ready: 'Shipper not ready',
    consignee_unavailable: 'Consignee unavailable',
    delivery_refused: 'Delivery refused',
    appointment_missed: 'Appointment missed',
    payment_hold: 'Payment hold',
    party_other: 'Other, of a party',
  },
  External: {
    weather: 'Weather',
    strike: 'Strike',
    holiday: 'Holiday',
    road_conditions: 'Road conditions',
    border_delay: 'Delay at the border',
    force_majeure: 'Force majeure',
    external_other: 'Other, external',
  },
};

const REASON_LABELS: Readonly<Partial<Record<Reason, string>>> = Object.assign({}, ...Object.values(REASONS_BY_GROUP));

/** For a select. */
export const REASON_OPTIONS = Object.entries(REASONS_BY_GROUP).map(([group, reasons]) => ({
  group,
  items: Object.entries(reasons).map(([value, label]) => ({ value, label: label ?? value })),
}));

export function reasonLabel(reason: Reason): string {
  return REASON_LABELS[reason] ?? reason;
}
