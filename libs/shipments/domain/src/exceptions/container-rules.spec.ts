import type { LoadType, Mode, ShipmentException, ShipmentFields } from '@tracking/contracts';
import { A, B, type Scenario, types } from '../../test/scenario.ts';
import { CREATED, after, beginShipment, HOUR, jan, leg, onlyType } from '../../test/time-driven.ts';

const box = (container_number: string) => ({ container_number });
const legs = (etd: string | null = null) => [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'USLAX', etd)];
/** A time after everything recorded. */
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

  it('run for each container; a milestone without a container counts for all', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(6));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${A} open`, `demurrage_risk ${B} open`]);
    scenario.post('gated_out', jan(30), box(A));
    expect(scenario.exceptions).toEqual([`demurrage_risk ${A} resolved auto_cleared`, `demurrage_risk ${B} open`]);
  });

  it('open each at its own time', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(5), box(A));
    scenario.post('discharged', jan(6), box(B));
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
    scenario.at(jan(9)).check();
    expect(scenario.exceptions).toEqual([`demurrage_risk ${A} open`]);
    expect(scenario.state?.nextCheckAt).toBe(jan(10));
  });

  it('update as many exceptions as one append may store, and the others with the next checks', () => {
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

  it('continue for an undelivered container while another one is delivered', () => {
    const scenario = risks({ container_numbers: [A, B] });
    scenario.post('discharged', jan(6));
    scenario.post('delivered', jan(6), box(A));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${B} open`]);
  });

  it('apply again to a container that is added again', () => {
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
  ])('opens after %s at %s, 12 h after the ETD of the next leg', (code, location) => {
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
  ])('does not open after %s at %s', (code, location) => {
    const scenario = stopped(code, location);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(checkedLate(scenario)).toEqual([]);
  });

  it('opens 10 days after the arrival in another country without legs', () => {
    const scenario = stopped('discharged', 'SGSIN', {});
    expect(scenario.state?.nextCheckAt).toBe(jan(16));
    scenario.at(jan(16)).check();
    expect(scenario.state?.exceptions[0]?.metrics).toEqual({ location: 'SGSIN', arrived_at: jan(6), next_etd: null });
  });

  it('opens after the hours of the settings; the 10 days are fixed', () => {
    const given = [stopped('discharged', 'SGSIN'), stopped('discharged', 'SGSIN', { legs: legs() })];
    const checks = given.map((scenario) => {
      scenario.settings = onlyType('missed_connection', { after_hours: 36 });
      scenario.check();
      return scenario.state?.nextCheckAt;
    });
    expect(checks).toEqual([after(jan(9), 36 * HOUR), jan(16)]);
  });

  it('opens immediately if the next leg has already departed', () => {
    const scenario = stopped('discharged', 'SGSIN', { legs: legs(jan(4)) });
    expect(scenario.open).toEqual(['missed_connection']);
  });

  it('uses the last of several stops, and the leg that departs there', () => {
    const three = [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'KRPUS', jan(9)), leg('KRPUS', 'USLAX', jan(20))];
    const scenario = stopped('transshipment_discharged', 'SGSIN', { legs: three });
    expect(scenario.state?.nextCheckAt).toBe(jan(9, 12));
    // No milestone reported the loading.
    scenario.at(jan(8)).post('transshipment_arrived', jan(8), { location: 'KRPUS' });
    expect(scenario.state?.nextCheckAt).toBe(jan(20, 12));
    expect(checkedLate(scenario)).toEqual(['missed_connection open']);
  });

  it('uses the first leg that has not departed if the place is unknown', () => {
    const three = [leg('CNSHA', 'SGSIN', jan(2)), leg('SGSIN', 'KRPUS', jan(4)), leg('KRPUS', 'USLAX', jan(20))];
    const scenario = beginShipment('missed_connection', { legs: three }).at(jan(6));
    scenario.post('vessel_departed', jan(2), { location: 'CNSHA' });
    scenario.post('transshipment_departed', jan(4), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', jan(6));
    expect(scenario.state?.nextCheckAt).toBe(jan(20, 12));
  });

  it('counts from the first milestone at the stop since the last departure', () => {
    const scenario = beginShipment('missed_connection', { legs: legs() }).at(jan(20));
    scenario.post('transshipment_arrived', jan(3), { location: 'SGSIN' });
    scenario.post('transshipment_departed', jan(4), { location: 'SGSIN' });
    scenario.post('transshipment_arrived', jan(12), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', jan(14), { location: 'SGSIN' });
    expect(scenario.state?.nextCheckAt).toBe(jan(22));
  });

  it('is resolved by a milestone dated at the stop or later, not before', () => {
    const loadedAt = (time: string) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.post('loaded_on_vessel', time);
      return checkedLate(scenario);
    };
    expect(loadedAt(jan(6))).toEqual([]);
    expect(loadedAt(after(jan(6), -1))).toEqual(['missed_connection open']);
  });

  test.each(['gated_in', 'export_customs_cleared', 'customs_hold', 'carrier_released', 'picked_up'])(
    'is not resolved by a milestone without movement: %s',
    (code) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.at(jan(10)).post(code);
      expect(scenario.open).toEqual(['missed_connection']);
    },
  );

  it('is resolved by a pick-up by road', () => {
    const scenario = stopped('arrived_at_destination', 'SGSIN', { mode: 'road', legs: legs(jan(9)) });
    scenario.at(jan(10)).post('picked_up');
    expect(scenario.exceptions).toEqual([]);
  });

  it('opens for the container that was left behind', () => {
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

  it('do not open for part loads', () => {
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
  ])('use the milestone that follows a missing discharge or gate-out by %s: %s', (mode, tells) => {
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

  it('do not use other milestones for a shipment without containers', () => {
    const scenario = beginShipment('detention_risk').at(jan(6));
    scenario.post('delivered');
    expect(checkedLate(scenario)).toEqual([]);
    scenario.post('gated_out', jan(6));
    expect(scenario.open).toEqual(['detention_risk']);
  });

  it('keep the details that events of earlier versions store', () => {
    const detail = (scenario: Scenario) => scenario.at(LATE).check() && scenario.state?.exceptions.at(-1)?.detail;
    const [discharged, gatedOut] = [given('demurrage_risk'), given('detention_risk')];
    discharged.post('discharged', jan(5));
    expect(detail(discharged)).toBe(`At the terminal since ${jan(5)}, and no last free day is known.`);
    discharged.patchContainer(A, { last_free_day: '2026-01-10' });
    expect(detail(discharged)).toBe('The last free day is 2026-01-10, and no gate-out is known.');
    gatedOut.post('gated_out', jan(6));
    expect(detail(gatedOut)).toBe(`Out since ${jan(6)}, and no return of the empty container is known.`);
    gatedOut.patchContainer(A, { empty_return_by: '2026-01-10' });
    expect(detail(gatedOut)).toBe('To be returned empty by 2026-01-10, and no return is known.');
  });

  it('detention continues after delivery, demurrage ends', () => {
    const scenario = given('detention_risk');
    scenario.settings = onlyType('detention_risk');
    scenario.post('gated_out', jan(5));
    scenario.post('delivered', jan(6));
    expect(checkedLate(scenario)).toEqual([`detention_risk ${A} open`]);
    scenario.post('empty_returned');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('prefer a given day to counted days, even if it is later', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', jan(5));
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
    scenario.patchContainer(A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(jan(18, 8));
    scenario.patchContainer(A, { last_free_day: null });
    expect(scenario.state?.nextCheckAt).toBe(jan(9));
  });

  it('use the day at the destination in its time zone, also with daylight saving time', () => {
    const scenario = beginShipment('demurrage_risk', { container_numbers: [A], destination_port: 'USLAX' });
    scenario.patchContainer(A, { last_free_day: '2026-03-09' });
    // Two days before the 9th begins at 07:00 UTC, because daylight saving time began on the 8th.
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
  ])('open at %s, whose zone may be unknown', (destination_port, opens) => {
    const scenario = beginShipment('detention_risk', { container_numbers: [A], destination_port });
    scenario.patchContainer(A, { empty_return_by: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(opens);
  });

  it('open some hours before the day, from the settings', () => {
    const scenario = given('demurrage_risk');
    scenario.settings = onlyType('demurrage_risk', { before_hours: 12 });
    scenario.patchContainer(A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(jan(19, 20));
  });

  it('are critical immediately if the day is already over', () => {
    const scenario = given('demurrage_risk').at(jan(25));
    expect(types(scenario.patchContainer(A, { last_free_day: '2026-01-20' }))).toContain('exception.opened.v1');
    expect(scenario.state?.exceptions).toMatchObject([{ severity: 'critical', opened_at: jan(25) }]);
    expect(scenario.record.created_at).toBe(CREATED);
  });

  it('demurrage restarts with a discharge after a train', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', jan(4));
    scenario.post('rail_departed', jan(5));
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.post('available_for_pickup', jan(6));
    expect(scenario.state?.nextCheckAt).toBe(jan(10));
  });
});
