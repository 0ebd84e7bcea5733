import { Scenario, day } from '../../test/scenario.ts';

describe('an exception that a person resolved', () => {
  it('is not ended by differing clocks of several machines', () => {
    const scenario = new Scenario();
    scenario.atTime(day(1)).upsertShipment({ house_bill: 'HB-1', mode: 'ocean', etd: day(4) });
    scenario.atTime(day(5, 0)).checkRules();
    scenario.atTime(day(5, 1)).resolveException(exceptionOf(scenario, 'departure_overdue'));
    // The clock is behind by two hours.
    for (const hour of [1, 2]) scenario.atTime(day(4, 23)).postMilestone('carrier_released', day(3, hour));
    scenario.atTime(day(6)).checkRules();
    expect(scenario.open).not.toContain('departure_overdue');
    expect(scenario.record.updated_at).toBe(day(5, 1));
  });

  it('about a movement after the cancellation ends with that cancellation, not with the next one', () => {
    const scenario = new Scenario();
    scenario.atTime(day(1)).upsertShipment({ house_bill: 'HB-1' });
    scenario.postMilestone('booking_cancelled', day(1));
    scenario.atTime(day(2)).postMilestone('gated_in', day(2));
    scenario.resolveException(exceptionOf(scenario, 'movement_after_cancel'));
    expect(scenario.open).toEqual([]);

    const { milestone } = scenario.atTime(day(3)).postMilestone('booking_confirmed', day(3));
    expect(scenario.record.status).toBe('at_origin');
    scenario.atTime(day(4)).retractMilestone(milestone);
    expect(scenario.record.status).toBe('cancelled');
    expect(scenario.open).toEqual(['movement_after_cancel']);
  });
});

function exceptionOf({ state }: Scenario, type: string) {
  const found = state?.exceptions.find((exception) => exception.type === type && exception.status !== 'resolved');
  if (found === undefined) throw new Error(`no ${type} is open`);
  return found;
}
