import type { MilestoneFields, ShipmentFields } from '@tracking/client';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface JourneyStep {
  readonly title: string;
  readonly milestone: MilestoneFields;
}

interface SampleJourney {
  readonly shipment: ShipmentFields;
  readonly steps: readonly JourneyStep[];
}

/**
 * Container journey from Shanghai to Rotterdam via Algeciras. It has a missed connection, a delay of four days, a
 * customs hold that exceeds the free days, and a delivery.
 * @param today date before which all actual milestones occur
 */
export function createSampleOceanShipment(today: Date): SampleJourney {
  const at = (day: number, hour = 8) =>
    new Date(Math.floor(today.getTime() / DAY_MS) * DAY_MS + day * DAY_MS + hour * HOUR_MS);
  const iso = (day: number, hour?: number) => at(day, hour).toISOString();
  const container = 'MSKU1234565';
  const step = (
    title: string,
    [code, day, location]: readonly [code: MilestoneFields['code'], day: number, location: string],
    more: Partial<MilestoneFields> = {},
  ): JourneyStep => ({
    title,
    milestone: { code, occurred_at: iso(day), location, container_number: container, ...more },
  });
  return {
    shipment: {
      external_id: `PO-${today.toISOString().slice(0, 10)}-001`,
      mode: 'ocean',
      load_type: 'fcl',
      house_bill: 'SHRT2611001',
      container_numbers: [container],
      carrier_scac: 'MAEU',
      origin_port: 'CNSHA',
      destination_port: 'NLRTM',
      etd: iso(-48),
      eta: iso(-12),
      shipper: { name: 'Acme Components Ltd', external_id: 'ACME' },
      consignee: { name: 'Widget Trading B.V.', external_id: 'WIDGET' },
      legs: [
        {
          mode: 'ocean',
          vessel: 'Maersk Semarang',
          voyage: '644W',
          origin_port: 'CNSHA',
          destination_port: 'ESALG',
          etd: iso(-48),
          eta: iso(-19),
        },
        {
          mode: 'ocean',
          vessel: 'Madrid Maersk',
          voyage: '646W',
          origin_port: 'ESALG',
          destination_port: 'NLRTM',
          etd: iso(-17),
          eta: iso(-12),
        },
      ],
    },
    steps: [
      step('The carrier confirms the booking', ['booking_confirmed', -58, 'CNSHA']),
      step('An empty container is picked up', ['empty_picked_up', -53, 'CNSHA']),
      step('The loaded container enters the terminal', ['gated_in', -50, 'CNSHA']),
      step('The container is loaded on the first vessel', ['loaded_on_vessel', -49, 'CNSHA'], {
        vessel: 'Maersk Semarang',
        voyage: '644W',
      }),
      step('The vessel departs', ['vessel_departed', -48, 'CNSHA'], { vessel: 'Maersk Semarang', voyage: '644W' }),
      step('The vessel arrives at Algeciras after the next vessel has left without the container', [
        'transshipment_arrived',
        -16,
        'ESALG',
      ]),
      step('The container is discharged at Algeciras', ['transshipment_discharged', -15, 'ESALG']),
      step('The container is loaded on a later vessel', ['transshipment_loaded', -14, 'ESALG'], {
        vessel: 'Marit Maersk',
        voyage: '647W',
      }),
      step('The later vessel departs', ['transshipment_departed', -13, 'ESALG'], {
        vessel: 'Marit Maersk',
        voyage: '647W',
      }),
      step('The carrier estimates the arrival four days later than planned', ['vessel_arrived', -8, 'NLRTM'], {
        classifier: 'estimated',
      }),
      step('The vessel arrives at Rotterdam', ['vessel_arrived', -8, 'NLRTM'], {
        vessel: 'Marit Maersk',
        voyage: '647W',
      }),
      step('The container is discharged at Rotterdam, and is still there four days later', ['discharged', -7, 'NLRTM']),
      step('Customs puts the container on hold', ['customs_hold', -6, 'NLRTM'], { reason_code: 'customs_exam' }),
      step('Customs clears the container', ['import_customs_cleared', -3, 'NLRTM']),
      step('The container is available for pick-up', ['available_for_pickup', -3, 'NLRTM']),
      step('A truck picks up the container, which ends the demurrage', ['gated_out', -2, 'NLRTM']),
      step('The container is delivered to the consignee', ['delivered', -1, 'Utrecht']),
    ],
  };
}

interface LateDepartureDemoData {
  readonly shipment: ShipmentFields;
  readonly departure: MilestoneFields;
}

/** Shipment without milestones. Its departure becomes twelve hours overdue after the given milliseconds. */
export function createSampleShipmentWithLateDeparture(now: Date, inMs: number): LateDepartureDemoData {
  const etd = new Date(now.getTime() + inMs - 12 * HOUR_MS);
  return {
    shipment: {
      external_id: `PO-${now.toISOString().slice(0, 10)}-002`,
      mode: 'ocean',
      origin_port: 'CNSHA',
      destination_port: 'NLRTM',
      etd: etd.toISOString(),
    },
    departure: { code: 'vessel_departed', occurred_at: now.toISOString(), location: 'CNSHA' },
  };
}
