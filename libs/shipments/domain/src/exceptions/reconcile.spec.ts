import { ShipmentScenario, createTimeInJanuary2026 } from '../../test/scenario.ts';

describe('an exception that a person resolved', () => {
  it('is not ended by differing clocks of several machines', () => {
    const scenario = new ShipmentScenario();
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(1))
      .upsertShipment({ house_bill: 'HB-1', mode: 'ocean', etd: createTimeInJanuary2026(4) });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(5, 0)).checkRules();
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(5, 1))
      .resolveException(exceptionOf(scenario, 'departure_overdue'));
    // The clock is behind by two hours.
    for (const hour of [1, 2])
      scenario
        .setTimeOfNextCommand(createTimeInJanuary2026(4, 23))
        .postMilestoneInScenario('carrier_released', createTimeInJanuary2026(3, hour));
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(6)).checkRules();
    expect(scenario.open).not.toContain('departure_overdue');
    expect(scenario.record.updated_at).toBe(createTimeInJanuary2026(5, 1));
  });

  it('about a movement after the cancellation ends with that cancellation, not with the next one', () => {
    const scenario = new ShipmentScenario();
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(1)).upsertShipment({ house_bill: 'HB-1' });
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(1));
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(2))
      .postMilestoneInScenario('gated_in', createTimeInJanuary2026(2));
    scenario.resolveException(exceptionOf(scenario, 'movement_after_cancel'));
    expect(scenario.open).toEqual([]);

    const { milestone } = scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(3))
      .postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(3));
    expect(scenario.record.status).toBe('at_origin');
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(4)).retractMilestone(milestone);
    expect(scenario.record.status).toBe('cancelled');
    expect(scenario.open).toEqual(['movement_after_cancel']);
  });
});

function exceptionOf({ state }: ShipmentScenario, type: string) {
  const found = state?.exceptions.find((exception) => exception.type === type && exception.status !== 'resolved');
  if (found === undefined) throw new Error(`no ${type} is open`);
  return found;
}
