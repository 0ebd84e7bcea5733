import type { Milestone, Shipment } from '@tracking/client';
import { listUpcomingShipmentEvents } from './next-events.ts';

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T08:00:00.000Z`;
const NOW = Date.parse(day(15));

const leg = (more: Partial<Shipment['legs'][number]>) => ({
  ...{ mode: 'ocean', carrier_scac: null, vessel: null, voyage: null, origin_port: 'CNSHA', destination_port: 'NLRTM' },
  ...{ etd: null, eta: null, atd: null, ata: null, ...more },
});
const shipment = (more: object) => ({ status: 'in_transit', legs: [], containers: [], ...more }) as unknown as Shipment;
const milestone = (more: Partial<Milestone>) =>
  ({
    ...{ id: 'mil_1', code: 'vessel_arrived', label: 'Vessel arrived', sequence: 60, classifier: 'estimated' },
    ...{ location: 'NLRTM', container_number: null, retracted_at: null, superseded_at: null, recorded_at: day(1) },
    ...more,
  }) as Milestone;
const next = (of: Shipment, milestones: readonly Milestone[] = [], explanation?: unknown) =>
  listUpcomingShipmentEvents({ shipment: of, milestones, explanation: explanation as undefined, zoneOf, now: NOW });
const zoneOf = (port: string | null) => (port === 'NLRTM' ? 'Europe/Amsterdam' : undefined);

describe('what comes next', () => {
  it('lists departures and arrivals that have not happened, soonest first', () => {
    const legs = [
      leg({ etd: day(1), atd: day(2), eta: day(10), ata: day(11), destination_port: 'ESALG' }),
      leg({ origin_port: 'ESALG', etd: day(14), eta: day(20) }),
    ];
    const [, ...rest] = legs;
    expect(next(shipment({ legs: [...rest] })).map(({ label, place, isOverdue }) => [label, place, isOverdue])).toEqual(
      [
        ['Departure', 'ESALG', true],
        ['Arrival', 'NLRTM', false],
      ],
    );
    expect(next(shipment({ legs })).map(({ label, place }) => [label, place])).toEqual([
      ['Departure', 'ESALG'],
      ['Arrival', 'NLRTM'],
    ]);
  });

  it('lists a whole day as its date at the place, and not as overdue before the day is over', () => {
    const eta = '2026-11-15T22:59:59.999Z';
    const legs = [leg({ eta, eta_precision: 'day' })];
    const timezone = 'Europe/Amsterdam';
    const estimate = milestone({ occurred_at: eta, occurred_at_precision: 'day', timezone });
    expect(next(shipment({ legs }), [estimate])).toEqual([
      { label: 'Arrival', at: '2026-11-15', isDay: true, place: 'NLRTM', container: null, isOverdue: false },
    ]);
    expect(next(shipment({}), [{ ...estimate, occurred_at: '2026-11-14T22:59:59.999Z' }])).toMatchObject([
      { label: 'Vessel arrived', at: '2026-11-14', isDay: true, isOverdue: true },
    ]);
  });

  it('lists an estimate once if the time of a leg comes from this estimate', () => {
    const of = shipment({ legs: [leg({ atd: day(2), eta: day(20) })] });
    expect(next(of, [milestone({ occurred_at: day(20) })]).map(({ label }) => label)).toEqual(['Arrival']);
  });

  it('leaves out milestones that have happened or were overtaken, replaced or retracted', () => {
    const of = shipment({});
    const happened = milestone({ classifier: 'actual', occurred_at: day(12) });
    expect(next(of, [happened, milestone({ occurred_at: day(20) })])).toEqual([]);
    const earlier = { code: 'gated_in', sequence: 20, classifier: 'planned', occurred_at: day(3) } as const;
    expect(next(of, [happened, milestone(earlier)])).toEqual([]);
    expect(next(of, [milestone({ occurred_at: day(20), superseded_at: day(2) })])).toEqual([]);
    expect(next(of, [milestone({ occurred_at: day(20), retracted_at: day(2) })])).toEqual([]);
  });

  it('prefers an estimate to the plan of the same event', () => {
    const plan = milestone({ classifier: 'planned', occurred_at: day(18) });
    expect(next(shipment({}), [plan, milestone({ occurred_at: day(21) })]).map(({ at }) => at)).toEqual([day(21)]);
  });

  it('includes the ends of running free times', () => {
    const container = {
      ...{ number: 'A', last_free_day: '2026-11-17', empty_return_by: '2026-11-25' },
      ...{ status: 'arrived', gated_out_at: null, empty_returned_at: null },
    };
    const labels = (containers: readonly object[], milestones: readonly Milestone[] = []) =>
      next(shipment({ containers }), milestones).map(({ label }) => label);
    expect(labels([container])).toEqual(['Last free day']);
    // The gate-out of the container was not reported.
    expect(labels([{ ...container, status: 'delivered' }])).toEqual(['Empty return due']);
    const attempted = milestone({ code: 'delivery_attempted', classifier: 'actual', occurred_at: day(14) });
    expect(labels([container], [attempted])).toEqual(['Empty return due']);
    expect(labels([{ ...container, status: 'completed' }])).toEqual([]);
  });

  it('includes exceptions that will open at a known time', () => {
    const expected = { status: 'expected', type: 'arrival_overdue', opens_at: day(21), container_number: null };
    const exceptions = [expected, { ...expected, status: 'open', opens_at: null }];
    expect(next(shipment({}), [], { exceptions })).toMatchObject([
      { label: 'Exception: Arrival overdue', at: day(21), isOverdue: false },
    ]);
  });

  it.each(['completed', 'returned', 'cancelled'])('lists no events for a shipment with the status %s', (status) => {
    expect(next(shipment({ status, legs: [leg({ eta: day(20) })] }))).toEqual([]);
  });
});
