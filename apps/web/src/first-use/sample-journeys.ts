import type { MilestoneFields, ShipmentFields } from '@tracking/client';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Sample milestone: its code, the days from today, the place, and optional further fields. */
type SampleMilestone = readonly [
  code: MilestoneFields['code'],
  day: number,
  location: string,
  more?: Partial<MilestoneFields>,
];

interface SampleShipment extends Omit<ShipmentFields, 'etd' | 'eta'> {
  readonly external_id: string;
  /** Time of the event as a number of days from today. Negative numbers are in the past. */
  readonly departs: number;
  readonly arrives: number;
  readonly milestones: readonly SampleMilestone[];
}

const SAMPLE_SHIPMENTS: readonly SampleShipment[] = [
  {
    external_id: 'SAMPLE-1001',
    mode: 'ocean',
    load_type: 'fcl',
    house_bill: 'SMPL26110011',
    carrier_scac: 'MAEU',
    container_numbers: ['MSKU4820132', 'MSCU6319429'],
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
    shipper: { name: 'Huangpu Components Ltd' },
    consignee: { name: 'Van Dijk Trading B.V.' },
    departs: -24,
    arrives: 6,
    milestones: [
      ['booking_confirmed', -35, 'CNSHA'],
      ['gated_in', -26, 'CNSHA'],
      ['loaded_on_vessel', -25, 'CNSHA', { vessel: 'Maersk Semarang', voyage: '644W' }],
      ['vessel_departed', -24, 'CNSHA', { vessel: 'Maersk Semarang', voyage: '644W' }],
      ['vessel_arrived', 11, 'NLRTM', { classifier: 'estimated', vessel: 'Maersk Semarang', voyage: '644W' }],
    ],
  },
  {
    external_id: 'SAMPLE-1002',
    mode: 'ocean',
    load_type: 'fcl',
    house_bill: 'SMPL26110027',
    carrier_scac: 'HLCU',
    container_numbers: ['HLXU5502174'],
    origin_port: 'BRSSZ',
    destination_port: 'DEHAM',
    shipper: { name: 'Fazenda Boa Vista' },
    consignee: { name: 'Rösterei Altona GmbH' },
    departs: -32,
    arrives: -8,
    milestones: [
      ['booking_confirmed', -44, 'BRSSZ'],
      ['gated_in', -34, 'BRSSZ'],
      ['vessel_departed', -32, 'BRSSZ', { vessel: 'Santos Express', voyage: '218N' }],
      ['vessel_arrived', -8, 'DEHAM', { vessel: 'Santos Express', voyage: '218N' }],
      ['discharged', -7, 'DEHAM'],
      ['customs_hold', -6, 'DEHAM', { reason_code: 'customs_exam' }],
    ],
  },
  {
    external_id: 'SAMPLE-1003',
    mode: 'ocean',
    load_type: 'fcl',
    house_bill: 'SMPL26110033',
    carrier_scac: 'CMDU',
    container_numbers: ['CMAU7162040'],
    origin_port: 'VNSGN',
    destination_port: 'FRLEH',
    shipper: { name: 'Mekong Furniture JSC' },
    consignee: { name: 'Maison Lemaire SAS' },
    departs: -45,
    arrives: -12,
    milestones: [
      ['vessel_departed', -45, 'VNSGN', { vessel: 'CMA CGM Rivoli', voyage: '0FL9W' }],
      ['vessel_arrived', -12, 'FRLEH', { vessel: 'CMA CGM Rivoli', voyage: '0FL9W' }],
      ['discharged', -11, 'FRLEH'],
      ['import_customs_cleared', -10, 'FRLEH'],
      ['available_for_pickup', -10, 'FRLEH'],
      ['gated_out', -9, 'FRLEH'],
      ['delivered', -8, 'Rouen'],
      ['empty_returned', -6, 'FRLEH'],
    ],
  },
  {
    external_id: 'SAMPLE-1004',
    mode: 'ocean',
    load_type: 'fcl',
    house_bill: 'SMPL26110048',
    carrier_scac: 'ONEY',
    container_numbers: ['TCLU3901551'],
    origin_port: 'JPYOK',
    destination_port: 'USLAX',
    shipper: { name: 'Sagami Optics K.K.' },
    consignee: { name: 'Pacific Lens Supply Inc.' },
    departs: -2,
    arrives: 10,
    milestones: [
      ['booking_confirmed', -14, 'JPYOK'],
      ['gated_in', -4, 'JPYOK'],
    ],
  },
  {
    external_id: 'SAMPLE-1005',
    mode: 'air',
    master_bill: '07412345675',
    origin_port: 'HKHKG',
    destination_port: 'NLAMS',
    shipper: { name: 'Kowloon Devices Ltd' },
    consignee: { name: 'Van Dijk Trading B.V.' },
    departs: -1,
    arrives: 0,
    milestones: [
      ['received_at_origin', -2, 'HKHKG'],
      ['flight_departed', -1, 'HKHKG', { voyage: 'KL888' }],
    ],
  },
  {
    external_id: 'SAMPLE-1006',
    mode: 'road',
    load_type: 'ftl',
    booking_number: 'TRK-50218',
    origin_port: 'PLGDN',
    destination_port: 'FRURO',
    shipper: { name: 'Pomorze Metal Sp. z o.o.' },
    consignee: { name: 'Ateliers de la Seine' },
    departs: -4,
    arrives: -1,
    milestones: [
      ['picked_up', -4, 'PLGDN'],
      ['border_crossed', -3, 'PLSZZ'],
      ['out_for_delivery', -1, 'FRURO'],
      ['delivered', -1, 'FRURO'],
    ],
  },
  {
    external_id: 'SAMPLE-1007',
    mode: 'ocean',
    load_type: 'lcl',
    house_bill: 'SMPL26110075',
    carrier_scac: 'EGLV',
    origin_port: 'TWKHH',
    destination_port: 'GBFXT',
    shipper: { name: 'Kaohsiung Cycles Co.' },
    consignee: { name: 'Orwell Bikes Ltd' },
    departs: 5,
    arrives: 38,
    milestones: [['booking_confirmed', -3, 'TWKHH']],
  },
];

/** Number of sample shipments. */
export const SAMPLE_SHIPMENT_COUNT = SAMPLE_SHIPMENTS.length;

/**
 * Builds the bulk requests for the sample shipments and their milestones. The references of the shipments are fixed. If
 * the requests are sent again, they update the shipments and create none.
 * @param today date before which all actual milestones occur
 */
export function buildSampleJourneys(today: Date) {
  const midnight = Math.floor(today.getTime() / DAY_MS) * DAY_MS;
  const at = (day: number, hour: number) => new Date(midnight + day * DAY_MS + hour * HOUR_MS).toISOString();
  const shipments = SAMPLE_SHIPMENTS.map(({ departs, arrives, milestones: _, ...fields }) => ({
    ...fields,
    etd: at(departs, 8),
    eta: at(arrives, 16),
  }));
  const milestones = SAMPLE_SHIPMENTS.flatMap((sample) =>
    sample.milestones.map(([code, day, location, more], index) => ({
      external_id: sample.external_id,
      milestone_external_id: `${sample.external_id}-${index + 1}`,
      code,
      location,
      occurred_at: at(day, index),
      ...more,
    })),
  );
  return { shipments, milestones };
}
