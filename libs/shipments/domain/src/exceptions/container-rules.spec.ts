import type { LoadType, Mode, ShipmentException, ShipmentFields } from '@tracking/contracts';
import { A, B, type Scenario, types } from '../../test/scenario.ts';
import { CREATED, after, beginShipment, HOUR, jan, leg, onlyType } from '../../test/time-driven.ts';

const box = (container_number: string) => ({ container_number });
const legs = (etd: string | null = null) => [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'USLAX', etd)];
/** Beyond everything that is recorded. */
const LATE = jan(31);

function checkedLate(scenario: Scenario): string[] {
  scenario.at(LATE).check();
  return scenario.exceptions;
}

describe('rules for containers', () => {
  const risks = (fields: Partial<ShipmentFields>) => {
    const scenario = beginShipment('demurrage_risk', fields).at(jan(6));
    return scenario;
  };

  it('run for each, a milestone that names none counts for each', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(6));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${A} open`, `demurrage_risk ${B} open`]);
    scenario.post('gated_out', jan(30), box(A));
    expect(scenario.exceptions).toEqual([`demurrage_risk ${A} resolved auto_cleared`, `demurrage_risk ${B} open`]);
  });

  it('each at its own moment', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(5), box(A));
    scenario.post('discharged', jan(6), box(B));
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
    scenario.at(jan(9)).check();
    expect(scenario.exceptions).toEqual([`demurrage_risk ${A} open`]);
    expect(scenario.state?.nextCheckAt).toBe(jan(10));
  });

  it('update as many exceptions at once as one write may store, and the others with the next checks', () => {
    const container_numbers = Array.from({ length: 200 }, (_, n) => `MSCU${1_000_000 + n}`);
    const scenario = risks({ container_numbers });
    for (const number of container_numbers) scenario.patchContainer(number, { last_free_day: '2026-01-12' });
    const isOpen = ({ status }: ShipmentException) => status !== 'resolved';
    const all = () => (scenario.state?.exceptions ?? []).filter(isOpen);
    const bytesOfCheck = () => {
      const { events } = scenario.check();
      return Buffer.byteLength(JSON.stringify(events));
    };
    scenario.at(jan(11)).check();
    expect(all()).toHaveLength(200);
    for (const exception of all()) scenario.acknowledge(exception, { assignee: '貨'.repeat(1_000) });
    scenario.at(LATE);
    let checks = 0;
    do {
      expect(bytesOfCheck()).toBeLessThan(500_000);
      checks += 1;
    } while (scenario.state?.nextCheckAt === LATE && checks < 20);
    expect(checks).toBeGreaterThan(2);
    expect(new Set(all().map(({ severity }) => severity))).toEqual(new Set(['critical']));
  });

  it('run once for a shipment without containers', () => {
    const scenario = risks({});
    scenario.post('discharged', jan(6));
    expect(checkedLate(scenario)).toEqual(['demurrage_risk open']);
  });

  it('go on for a container that is not delivered while another is', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(6));
    scenario.post('delivered', jan(6), box(A));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${B} open`]);
  });

  it('a container that is put back is at risk again', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(6), box(A));
    scenario.at(LATE).check();
    scenario.upsert({ container_numbers: [B] });
    scenario.upsert({ container_numbers: [A, B] });
    expect(scenario.exceptions).toEqual([`demurrage_risk ${A} resolved auto_cleared`, `demurrage_risk ${A} open`]);
  });
});

describe('missed_connection', () => {
  const stopped = (code: string, location: string | null, fields: Partial<ShipmentFields> = { legs: legs(jan(9)) }) => {
    const scenario = beginShipment('missed_connection', fields).at(jan(6));
    scenario.post(code, jan(6), { location });
    return scenario;
  };

  test.each<[string, string | null]>([
    ['transshipment_arrived', 'SGSIN'],
    ['transshipment_discharged', 'SGSIN'],
    ['transshipment_discharged', null],
    ['transshipment_discharged', 'the yard'],
    ['vessel_arrived', 'SGSIN'],
    ['discharged', 'SGSIN'],
    ['vessel_berthed', 'SGSIN'],
    ['rail_arrived', 'SGSIN'],
    ['flight_arrived', 'SGSIN'],
    ['arrived_at_destination', 'SGSIN'],
    ['transshipment_arrived', 'DEHAM'],
  ])('%s at %s is a stop: 12 h past the ETD of the next leg', (code, location) => {
    expect(stopped(code, location).state?.nextCheckAt).toBe(jan(9, 12));
  });

  test.each<[string, string | null]>([
    ['vessel_arrived', null],
    ['vessel_arrived', 'USLAX'],
    ['transshipment_discharged', 'USLAX'],
    ['discharged', 'USNYC'],
    ['rail_arrived', null],
    ['in_transit_checkpoint', 'SGSIN'],
    ['gated_in', 'SGSIN'],
    ['customs_hold', 'SGSIN'],
  ])('%s at %s is none', (code, location) => {
    const scenario = stopped(code, location);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(checkedLate(scenario)).toEqual([]);
  });

  it('without legs, at a port in another country: 10 days after the arrival', () => {
    const scenario = stopped('discharged', 'SGSIN', {});
    expect(scenario.state?.nextCheckAt).toBe(jan(16));
    scenario.at(jan(16)).check();
    expect(scenario.state?.exceptions[0]?.metrics).toEqual({ location: 'SGSIN', arrived_at: jan(6), next_etd: null });
  });

  it('the hours are a setting, the 10 days are none', () => {
    const given = [stopped('discharged', 'SGSIN'), stopped('discharged', 'SGSIN', { legs: legs() })];
    const checks = given.map((scenario) => {
      scenario.settings = onlyType('missed_connection', { after_hours: 36 });
      scenario.check();
      return scenario.state?.nextCheckAt;
    });
    expect(checks).toEqual([after(jan(9), 36 * HOUR), jan(16)]);
  });

  it('opens at once where the next leg has left before', () => {
    const scenario = stopped('discharged', 'SGSIN', { legs: legs(jan(4)) });
    expect(scenario.open).toEqual(['missed_connection']);
  });

  it('of several stops the last counts, by the leg that leaves there', () => {
    const three = [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'KRPUS', jan(9)), leg('KRPUS', 'USLAX', jan(20))];
    const scenario = stopped('transshipment_discharged', 'SGSIN', { legs: three });
    expect(scenario.state?.nextCheckAt).toBe(jan(9, 12));
    // Nobody told that it was loaded.
    scenario.at(jan(8)).post('transshipment_arrived', jan(8), { location: 'KRPUS' });
    expect(scenario.state?.nextCheckAt).toBe(jan(20, 12));
    expect(checkedLate(scenario)).toEqual(['missed_connection open']);
  });

  it('without a place, the leg is the first that has not departed', () => {
    const three = [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'KRPUS', jan(4)), leg('KRPUS', 'USLAX', jan(20))];
    const scenario = beginShipment('missed_connection', { legs: three }).at(jan(6));
    scenario.post('vessel_departed', jan(2), { location: 'CNSHA' });
    scenario.post('transshipment_departed', jan(4), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', jan(6));
    expect(scenario.state?.nextCheckAt).toBe(jan(20, 12));
  });

  it('the days begin with the first milestone there since it last went on', () => {
    const scenario = beginShipment('missed_connection', { legs: legs() }).at(jan(20));
    scenario.post('transshipment_arrived', jan(3), { location: 'SGSIN' });
    scenario.post('transshipment_departed', jan(4), { location: 'SGSIN' });
    scenario.post('transshipment_arrived', jan(12), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', jan(14), { location: 'SGSIN' });
    expect(scenario.state?.nextCheckAt).toBe(jan(22));
  });

  it('what is dated at the stop or after it counts, what is dated before it does not', () => {
    const loadedAt = (time: string) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.post('loaded_on_vessel', time);
      return checkedLate(scenario);
    };
    expect(loadedAt(jan(6))).toEqual([]);
    expect(loadedAt(after(jan(6), -1))).toEqual(['missed_connection open']);
  });

  test.each(['gated_in', 'export_customs_cleared', 'customs_hold', 'carrier_released', 'picked_up'])(
    'what tells of no journey does not resolve it: %s',
    (code) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.at(jan(10)).post(code);
      expect(scenario.open).toEqual(['missed_connection']);
    },
  );

  it('by road a pick-up goes on', () => {
    const scenario = stopped('arrived_at_destination', 'SGSIN', { mode: 'road', legs: legs(jan(9)) });
    scenario.at(jan(10)).post('picked_up');
    expect(scenario.exceptions).toEqual([]);
  });

  it('is of the container that was left behind', () => {
    const scenario = beginShipment('missed_connection', { legs: legs(jan(9)), container_numbers: [A, B] }).at(jan(6));
    scenario.post('transshipment_discharged', jan(6), { location: 'SGSIN' });
    scenario.at(jan(9)).post('transshipment_loaded', jan(9), { location: 'SGSIN', ...box(A) });
    expect(checkedLate(scenario)).toEqual([`missed_connection ${B} open`]);
    scenario.post('vessel_departed');
    expect(scenario.open).toEqual([]);
  });
});

describe('demurrage_risk and detention_risk', () => {
  const given = (type: 'demurrage_risk' | 'detention_risk', fields: Partial<ShipmentFields> = {}) =>
    beginShipment(type, { container_numbers: [A], ...fields }).at(jan(6));

  it('are not of part loads', () => {
    const lcl: LoadType = 'lcl';
    for (const type of ['demurrage_risk', 'detention_risk'] as const) {
      const scenario = given(type, { load_type: lcl });
      scenario.patchContainer(A, { last_free_day: '2026-01-10', empty_return_by: '2026-01-10' });
      scenario.post('discharged', jan(5));
      scenario.post('gated_out', jan(6));
      expect(scenario.state?.nextCheckAt).toBeNull();
      expect(checkedLate(scenario)).toEqual([]);
    }
  });

  test.each<[Mode | null, boolean]>([
    ['ocean', true],
    ['rail', true],
    ['barge', true],
    ['multimodal', true],
    [null, true],
    ['air', false],
    ['road', false],
    ['courier', false],
  ])('by %s what comes after a discharge or gate-out tells of it: %s', (mode, tells) => {
    const available = given('demurrage_risk', { mode });
    available.post('available_for_pickup', jan(5));
    expect(available.state?.nextCheckAt).toBe(tells ? jan(9) : null);
    available.post('discharged', jan(4));
    expect(available.state?.nextCheckAt).toBe(jan(8));
    const delivered = given('detention_risk', { mode });
    delivered.post('delivered', jan(6));
    delivered.post('out_for_delivery', jan(5));
    expect(delivered.state?.nextCheckAt).toBe(tells ? jan(15) : null);
    delivered.post('gated_out', jan(4));
    expect(delivered.state?.nextCheckAt).toBe(jan(14));
  });

  it('nothing stands in for a discharge or gate-out of a shipment without containers', () => {
    const scenario = beginShipment('detention_risk').at(jan(6));
    scenario.post('delivered');
    expect(checkedLate(scenario)).toEqual([]);
    scenario.post('gated_out', jan(6));
    expect(scenario.open).toEqual(['detention_risk']);
  });

  it('detention goes on after delivery, demurrage ends with it', () => {
    const scenario = given('detention_risk');
    scenario.settings = onlyType('detention_risk');
    scenario.post('gated_out', jan(5));
    scenario.post('delivered', jan(6));
    expect(checkedLate(scenario)).toEqual([`detention_risk ${A} open`]);
    scenario.post('empty_returned');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('a day that is given stands before the days that are counted, also where it is later', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', jan(5));
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
    scenario.patchContainer(A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(jan(18, 8));
    scenario.patchContainer(A, { last_free_day: null });
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
  });

  it('are of the day at the destination, in its time zone, through summer time', () => {
    const scenario = beginShipment('demurrage_risk', { container_numbers: [A], destination_port: 'USLAX' });
    scenario.patchContainer(A, { last_free_day: '2026-03-09' });
    // Two days before the 9th begins there, at seven UTC: clocks went forward on the 8th.
    expect(scenario.state?.nextCheckAt).toBe('2026-03-07T07:00:00.000Z');
    scenario.at('2026-03-07T07:00:00.000Z').check();
    expect(scenario.state?.nextCheckAt).toBe('2026-03-10T07:00:00.000Z');
    scenario.at('2026-03-10T06:59:59.999Z').check();
    expect(scenario.state?.exceptions[0]?.severity).toBe('high');
    scenario.at('2026-03-10T07:00:00.000Z').check();
    expect(scenario.state?.exceptions[0]?.severity).toBe('critical');
  });

  it.each([
    ['CNSHA', jan(17, 16)],
    ['USLAX', jan(18, 8)],
    ['DEHAM', jan(18)],
    [null, jan(18)],
  ])('at %s, whose zone may not be known', (destination_port, opens) => {
    const scenario = beginShipment('detention_risk', { container_numbers: [A], destination_port });
    scenario.patchContainer(A, { empty_return_by: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(opens);
  });

  it('the hours before the day are a setting', () => {
    const scenario = given('demurrage_risk');
    scenario.settings = onlyType('demurrage_risk', { before_hours: 12 });
    scenario.patchContainer(A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(jan(19, 20));
  });

  it('are critical at once where the day is over when it becomes known', () => {
    const scenario = given('demurrage_risk').at(jan(25));
    expect(types(scenario.patchContainer(A, { last_free_day: '2026-01-20' }))).toContain('exception.opened.v1');
    expect(scenario.state?.exceptions).toMatchObject([{ severity: 'critical', opened_at: jan(25) }]);
    expect(scenario.record.created_at).toBe(CREATED);
  });

  it('a train after the discharge takes the container from the terminal: it is discharged anew', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', jan(4));
    scenario.post('rail_departed', jan(5));
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.post('available_for_pickup', jan(6));
    expect(scenario.state?.nextCheckAt).toBe(jan(10));
  });
});
