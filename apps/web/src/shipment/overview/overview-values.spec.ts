import type { Milestone } from '@tracking/client';
import {
  type Container,
  type Leg,
  buildContainerPatch,
  toContainerFormValues,
  extractFreeTimeFacts,
  formatFreeTime,
  calculateFreeTime,
  haveSameContainerFields,
  listJourneyStops,
} from './overview-values.ts';

describe('the stops of a journey', () => {
  const leg = (origin_port: string, destination_port: string, more: Partial<Leg> = {}): Leg => ({
    ...{ mode: 'ocean', carrier_scac: null, vessel: null, voyage: null, origin_port, destination_port },
    ...{ etd: null, etd_precision: 'time', eta: null, eta_precision: 'time', atd: null, ata: null, ...more },
  });
  const places = (legs: readonly Leg[]) => listJourneyStops(legs).map(({ place, state }) => [place, state]);

  it('lists no stops without legs', () => {
    expect(listJourneyStops([])).toEqual([]);
  });

  it('lists the places at which one leg ends and the next begins', () => {
    const stops = listJourneyStops([leg('CNSHA', 'ESALG', { eta: 'a' }), leg('ESALG', 'NLRTM', { etd: 'b' })]);
    expect(stops.map(({ place }) => place)).toEqual(['CNSHA', 'ESALG', 'NLRTM']);
    expect(stops[1]).toMatchObject({ arrival: { estimated: 'a' }, departure: { estimated: 'b' } });
    expect([stops[0]?.arrival, stops[2]?.departure]).toEqual([undefined, undefined]);
  });

  it('lists two stops if the next leg begins at another place', () => {
    expect(places([leg('CNSHA', 'ESALG'), leg('ESBCN', 'NLRTM')]).map(([place]) => place)).toEqual([
      ...['CNSHA', 'ESALG', 'ESBCN', 'NLRTM'],
    ]);
  });

  it('derives the position of the goods, even if a stop in between was not reported', () => {
    const first = leg('CNSHA', 'ESALG', { atd: 'a' });
    expect(places([first, leg('ESALG', 'NLRTM')])).toEqual([
      ['CNSHA', 'left'],
      ['ESALG', 'ahead'],
      ['NLRTM', 'ahead'],
    ]);
    expect(places([{ ...first, ata: 'b' }, leg('ESALG', 'NLRTM')])[1]).toEqual(['ESALG', 'here']);
    expect(places([first, leg('ESALG', 'NLRTM', { ata: 'c' })])).toEqual([
      ['CNSHA', 'left'],
      ['ESALG', 'left'],
      ['NLRTM', 'here'],
    ]);
  });
});

describe('the free time of a container', () => {
  const CONTAINER = {
    number: 'CSQU3054383',
    status: 'arrived',
    gated_out_at: null,
    empty_returned_at: null,
    last_free_day: '2026-11-26',
    empty_return_by: '2026-12-05',
  } as const;
  const SHIPMENT = { status: 'arrived', load_type: 'fcl' } as const;
  const TODAY = '2026-11-24';

  const attempt = (more: Partial<Milestone> = {}) =>
    ({
      ...{ code: 'delivery_attempted', classifier: 'actual', container_number: null },
      ...{ retracted_at: null, superseded_at: null, ...more },
    }) as Milestone;
  const kindOf = (container: Partial<Container>, shipment: object = {}, milestones: readonly Milestone[] = []) =>
    calculateFreeTime(
      { ...CONTAINER, ...container },
      extractFreeTimeFacts({ ...SHIPMENT, ...shipment }, milestones),
      TODAY,
    )?.kind;

  it('runs at the terminal until the container leaves, and afterwards until the empty return', () => {
    const facts = extractFreeTimeFacts(SHIPMENT, []);
    expect(calculateFreeTime(CONTAINER, facts, TODAY)).toEqual({ kind: 'demurrage', until: '2026-11-26', daysLeft: 2 });
    expect(calculateFreeTime({ ...CONTAINER, status: 'out_for_delivery' }, facts, '2026-11-25')).toEqual({
      kind: 'detention',
      until: '2026-12-05',
      daysLeft: 10,
    });
  });

  // Contains the same statuses as the rules `demurrage_risk` and `detention_risk` of the domain.
  it.each([
    ['pending', 'demurrage'],
    ['in_transit', 'demurrage'],
    ['arrived', 'demurrage'],
    ['available_for_pickup', 'demurrage'],
    ['out_for_delivery', 'detention'],
    ['delivered', 'detention'],
    ['completed', undefined],
    ['returned', undefined],
  ] as const)('runs with status %s as %s, even if intermediate steps were not reported', (status, kind) => {
    expect(kindOf({ status })).toBe(kind);
  });

  it('runs until the empty return after a delivery attempt', () => {
    expect(kindOf({}, {}, [attempt()])).toBe('detention');
    expect(kindOf({}, {}, [attempt({ container_number: CONTAINER.number })])).toBe('detention');
    expect(kindOf({}, {}, [attempt({ container_number: 'MSKU1234565' })])).toBe('demurrage');
    expect(kindOf({}, {}, [attempt({ retracted_at: '2026-11-24T10:00:00.000Z' })])).toBe('demurrage');
    expect(kindOf({}, {}, [attempt({ classifier: 'planned' })])).toBe('demurrage');
  });

  it('does not exist for part loads and cancelled shipments', () => {
    expect(kindOf({}, { load_type: 'lcl' })).toBeUndefined();
    expect(kindOf({}, { status: 'cancelled' })).toBeUndefined();
  });

  it('does not exist if the last free day is unknown', () => {
    expect(kindOf({ last_free_day: null })).toBeUndefined();
    expect(kindOf({ status: 'delivered', empty_return_by: null })).toBeUndefined();
  });

  it.each([
    ['2026-11-24', '2 days left'],
    ['2026-11-25', '1 day left'],
    ['2026-11-26', 'last free day'],
    ['2026-11-27', '1 day over'],
  ])('is shown on %s as %s', (today, label) => {
    const free = calculateFreeTime(CONTAINER, extractFreeTimeFacts(SHIPMENT, []), today);
    expect(free && formatFreeTime(free)).toBe(label);
  });
});

describe('the container form', () => {
  const container = {
    ...{ number: 'MSKU1234565', status: 'in_transit', size_type: '45G1', seal_number: null },
    ...{ last_free_day: '2026-11-26', empty_return_by: null },
  } as unknown as Container;

  it('sends nothing if no field has changed', () => {
    expect(buildContainerPatch(container, toContainerFormValues(container))).toEqual({});
  });

  it('sends the changed fields, and null for cleared fields', () => {
    const values = { ...toContainerFormValues(container), size_type: ' 22G1 ', last_free_day: '' };
    expect(buildContainerPatch(container, values)).toEqual({ size_type: '22G1', last_free_day: null });
  });

  it('treats a container as unchanged if only its milestones have changed', () => {
    expect(haveSameContainerFields(container, { ...container, status: 'arrived' })).toBe(true);
    expect(haveSameContainerFields(container, { ...container, seal_number: 'S1' })).toBe(false);
  });
});
