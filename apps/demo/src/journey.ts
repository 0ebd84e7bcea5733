const DAY = 86_400_000;

export interface JourneyStep {
  readonly title: string;
  readonly milestone: Readonly<Record<string, string>>;
}

export interface Journey {
  readonly shipment: Readonly<Record<string, unknown>>;
  readonly steps: readonly JourneyStep[];
}

/**
 * One container from Shanghai to Rotterdam by way of Singapore: a rolled-over estimate, a customs hold, a delivery.
 * @param today everything that happened lies before it
 */
export function oceanJourney(today: Date): Journey {
  const at = (day: number, hour = 8) =>
    new Date(Math.floor(today.getTime() / DAY) * DAY + day * DAY + hour * 3_600_000);
  const iso = (day: number, hour?: number) => at(day, hour).toISOString();
  const container = 'MSKU1234565';
  const step = (
    title: string,
    [code, day, location]: readonly [code: string, day: number, location: string],
    more: Record<string, string> = {},
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
      etd: iso(-45),
      eta: iso(-9),
      shipper: { name: 'Acme Components Ltd', external_id: 'ACME' },
      consignee: { name: 'Widget Trading B.V.', external_id: 'WIDGET' },
      legs: [
        {
          mode: 'ocean',
          vessel: 'Maersk Semarang',
          voyage: '644W',
          origin_port: 'CNSHA',
          destination_port: 'SGSIN',
          etd: iso(-45),
          eta: iso(-37),
        },
        {
          mode: 'ocean',
          vessel: 'Madrid Maersk',
          voyage: '646W',
          origin_port: 'SGSIN',
          destination_port: 'NLRTM',
          etd: iso(-34),
          eta: iso(-9),
        },
      ],
    },
    steps: [
      step('The carrier confirms the booking', ['booking_confirmed', -55, 'CNSHA']),
      step('An empty container is picked up', ['empty_picked_up', -50, 'CNSHA']),
      step('Gated in, laden', ['gated_in', -47, 'CNSHA']),
      step('Loaded on the first vessel', ['loaded_on_vessel', -46, 'CNSHA'], {
        vessel: 'Maersk Semarang',
        voyage: '644W',
      }),
      step('The vessel departs', ['vessel_departed', -45, 'CNSHA'], { vessel: 'Maersk Semarang', voyage: '644W' }),
      step('Arrival at Singapore, for transshipment', ['transshipment_arrived', -37, 'SGSIN']),
      step('Discharged at Singapore', ['transshipment_discharged', -36, 'SGSIN']),
      step('Loaded on the second vessel', ['transshipment_loaded', -34, 'SGSIN'], {
        vessel: 'Madrid Maersk',
        voyage: '646W',
      }),
      step('The second vessel departs', ['transshipment_departed', -33, 'SGSIN'], {
        vessel: 'Madrid Maersk',
        voyage: '646W',
      }),
      step('The vessel is late: a new estimate, four days on', ['vessel_arrived', -5, 'NLRTM'], {
        classifier: 'estimated',
      }),
      step('Arrival at Rotterdam', ['vessel_arrived', -5, 'NLRTM'], { vessel: 'Madrid Maersk', voyage: '646W' }),
      step('Discharged at Rotterdam', ['discharged', -4, 'NLRTM']),
      step('Customs puts it on hold', ['customs_hold', -4, 'NLRTM'], { reason_code: 'customs_exam' }),
      step('Customs clears it', ['import_customs_cleared', -3, 'NLRTM']),
      step('Available for pick-up', ['available_for_pickup', -3, 'NLRTM']),
      step('Gated out, on a truck', ['gated_out', -2, 'NLRTM']),
      step('Delivered to the consignee', ['delivered', -1, 'Utrecht']),
    ],
  };
}
