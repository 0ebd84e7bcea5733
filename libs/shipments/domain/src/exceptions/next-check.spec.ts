import type { ShipmentEvent } from '../index.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  ShipmentScenario,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  createTimeInJanuary2026,
  getTypesOfDecidedEvents,
} from '../../test/scenario.ts';
import {
  DAY_MS,
  addMsToTime,
  createScenarioWithRule,
  createJanuaryTime,
  createLeg,
  createRuleSettingsForOneType,
  createRuleSettingsWithChanges,
} from '../../test/time-driven.ts';

describe('the next check', () => {
  it('is at the next time that changes anything, until there is none', () => {
    const scenario = new ShipmentScenario().setTimeOfNextCommand(createJanuaryTime(1));
    const fields = {
      mode: 'ocean',
      etd: createJanuaryTime(10),
      eta: createJanuaryTime(20),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    } as const;
    scenario.upsertShipment({ external_id: 'PO-1', origin_port: 'CNSHA', destination_port: 'DEHAM', ...fields });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-24' });
    scenario.patchContainer(CONTAINER_B, { empty_return_by: '2026-01-26' });
    const seen: string[] = [];
    for (let { state } = scenario; state?.nextCheckAt != null && seen.length < 20; { state } = scenario) {
      const decision = scenario.setTimeOfNextCommand(state.nextCheckAt).checkRules();
      const [open] = scenario.state?.exceptions.slice(-1) ?? [];
      const changed = decision.events.flatMap(({ data }) => ('exception' in data ? [data.exception] : []));
      expect(open).toBeDefined();
      seen.push(
        `${state.nextCheckAt.slice(5, 13)} ${changed.map(({ type, severity }) => `${type} ${severity}`).join()}`,
      );
    }
    expect(seen).toEqual([
      '01-10T12 departure_overdue medium',
      '01-12T00 departure_overdue high',
      '01-17T00 no_update low',
      '01-20T12 arrival_overdue medium',
      '01-22T00 arrival_overdue high,demurrage_risk high',
      '01-24T00 detention_risk medium',
      '01-25T00 demurrage_risk critical',
      '01-27T00 detention_risk critical',
    ]);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(31)).checkRules())).toEqual([]);
  });

  it('is stored with every append, and equals the result of an immediate check', () => {
    const scenario = new ShipmentScenario().setTimeOfNextCommand(createJanuaryTime(1));
    const acts: readonly (() => unknown)[] = [
      () =>
        scenario.upsertShipment({
          external_id: 'PO-1',
          mode: 'ocean',
          etd: createJanuaryTime(10),
          container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT],
        }),
      () => scenario.upsertShipment({ eta: createJanuaryTime(20), destination_port: 'USLAX' }),
      () =>
        scenario.patchShipment({
          etd: createJanuaryTime(11),
          legs: [createLeg('CNSHA', 'SGSIN'), createLeg('SGSIN', 'USLAX', createJanuaryTime(15))],
        }),
      () => scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-24' }),
      () => scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(1), { location: 'SGSIN' }),
      () =>
        scenario.postEstimateInScenario('vessel_arrived', createJanuaryTime(22), {
          location: 'USLAX',
          external_id: 'EV-1',
        }),
      () =>
        scenario.postEstimateInScenario('vessel_arrived', createJanuaryTime(23), {
          location: 'USLAX',
          external_id: 'EV-1',
        }),
      () => scenario.correctMilestone(scenario.state!.timeline[0]!.milestone, { note: 'by phone' }),
      () => scenario.openException('no_update'),
      () => scenario.acknowledgeException(scenario.state!.exceptions.at(-1)!),
      () => scenario.resolveException(scenario.state!.exceptions.at(-1)!),
      () => scenario.requestUpload(),
      () => scenario.receiveUpload(scenario.state!.documents[0]!.document),
      () => scenario.completeUpload(scenario.state!.documents[0]!.document),
      () => scenario.rejectDocument(scenario.state!.documents[0]!.document),
      () => scenario.approveDocument(scenario.addDocument().document),
      () => scenario.deleteDocument(scenario.state!.documents[0]!.document),
      () => scenario.requestUpload(),
      () => scenario.setTimeOfNextCommand(createJanuaryTime(30)).checkRules(),
      () => scenario.retractMilestone(scenario.state!.timeline[0]!.milestone),
      () => scenario.cancelShipment(),
      () => scenario.reopenShipment(),
    ];
    let appended = 0;
    for (const [n, act] of acts.entries()) {
      const before = scenario.events.length;
      act();
      const events: readonly ShipmentEvent[] = scenario.events.slice(before);
      expect([n, events.length > 0]).toEqual([n, true]);
      for (const { metadata } of events) expect(metadata.next_check_at).toBe(scenario.state?.nextCheckAt);
      expect([n, getTypesOfDecidedEvents(scenario.checkRules())]).toEqual([n, []]);
      appended += events.length;
    }
    expect(scenario.events).toHaveLength(appended);
  });

  it('is stored again only if settings change it', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) });
    scenario.settings = createRuleSettingsForOneType('departure_overdue', { after_hours: 24 });
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(2)).checkRules())).toEqual([
      'shipment.checked.v1',
    ]);
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(11));
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
    scenario.settings = createRuleSettingsForOneType('departure_overdue', { enabled: false });
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual(['shipment.checked.v1']);
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.settings = createRuleSettingsWithChanges('departure_overdue', { after_hours: 24, severity: 'low' });
    scenario.checkRules();
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(11));
  });

  it('stores nothing if early, and reverts nothing if the clock is behind', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) });
    expect(scenario.setTimeOfNextCommand(createJanuaryTime(9)).checkRules().outcome).toBe('unchanged');
    expect(scenario.setTimeOfNextCommand(createJanuaryTime(10, 12)).checkRules().outcome).toBe('checked');
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(10, 11)).checkRules())).toEqual([]);
    scenario.upsertShipment({ house_bill: 'HB-1' });
    expect(scenario.exceptions).toEqual(['departure_overdue open']);
  });

  it('does not open exceptions again that a clock ahead by an hour opened', () => {
    const scenario = createScenarioWithRule('no_update', {});
    scenario.setTimeOfNextCommand(createJanuaryTime(8, 1)).checkRules();
    expect(scenario.open).toEqual(['no_update']);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(8)).checkRules())).toEqual([]);
    scenario.setTimeOfNextCommand(createJanuaryTime(8, 2)).postMilestoneInScenario('gated_in');
    expect(scenario.exceptions).toEqual(['no_update resolved auto_cleared']);
    expect(scenario.state?.nextCheckAt).toBe(addMsToTime(createJanuaryTime(8, 2), 7 * DAY_MS));
  });

  it('ignores exceptions that a person opened or resolved', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) });
    scenario.openException('departure_overdue');
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.setTimeOfNextCommand(createJanuaryTime(12)).resolveException(scenario.state!.exceptions[0]!);
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.patchShipment({ etd: createJanuaryTime(14) });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(14, 12));
    scenario.setTimeOfNextCommand(createJanuaryTime(14, 12)).checkRules();
    expect(scenario.exceptions).toEqual(['departure_overdue resolved fixed', 'departure_overdue open']);
  });

  it('is absent with 500 exceptions, because no more can open', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) });
    const opened = scenario
      .openException('other')
      .events.flatMap(({ data }) => ('exception' in data ? data.exception : []));
    const { state } = scenario;
    if (state === undefined) throw new Error('there is no shipment');
    scenario.state = {
      ...state,
      exceptions: Array.from({ length: 500 }, (_, n) => ({ ...opened[0]!, id: `exc_${n}` })),
    };
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(11)).checkRules())).toEqual([
      'shipment.checked.v1',
    ]);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
  });

  it('is due when the condition of a resolved exception returns', () => {
    const scenario = new ShipmentScenario();
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(1))
      .upsertShipment({ house_bill: 'HB-1', mode: 'air', etd: createTimeInJanuary2026(2) });
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(5))
      .postMilestoneInScenario('flight_departed', createTimeInJanuary2026(3));
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(8)).checkRules();
    expect(scenario.open).toEqual(['no_update']);

    scenario.setTimeOfNextCommand(createTimeInJanuary2026(9)).postMilestoneInScenario('in_transit_checkpoint');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBe(createTimeInJanuary2026(11));
  });

  it('is updated by a write that only stores an external_id', () => {
    const scenario = new ShipmentScenario();
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(1))
      .upsertShipment({ house_bill: 'HB-1', mode: 'air', etd: createTimeInJanuary2026(2) });
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(5))
      .postMilestoneInScenario('flight_departed', createTimeInJanuary2026(3), { source: 'carrier' });
    scenario
      .setTimeOfNextCommand(createTimeInJanuary2026(8))
      .postMilestoneInScenario('flight_departed', createTimeInJanuary2026(3), {
        source: 'carrier',
        external_id: 'EV-1',
      });
    expect(scenario.open).toEqual(['no_update']);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });
});
