import type { ShipmentEvent } from '../index.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  Scenario,
  CONTAINER_WITH_WRONG_DIGIT,
  day,
  listEventTypes,
} from '../../test/scenario.ts';
import {
  DAY_MS,
  addMs,
  createScenarioWithRule,
  inJanuary,
  createLeg,
  enableOnlyType,
  withSettings,
} from '../../test/time-driven.ts';

describe('the next check', () => {
  it('is at the next time that changes anything, until there is none', () => {
    const scenario = new Scenario().at(inJanuary(1));
    const fields = {
      mode: 'ocean',
      etd: inJanuary(10),
      eta: inJanuary(20),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    } as const;
    scenario.upsert({ external_id: 'PO-1', origin_port: 'CNSHA', destination_port: 'DEHAM', ...fields });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-24' });
    scenario.patchContainer(CONTAINER_B, { empty_return_by: '2026-01-26' });
    const seen: string[] = [];
    for (let { state } = scenario; state?.nextCheckAt != null && seen.length < 20; { state } = scenario) {
      const decision = scenario.at(state.nextCheckAt).check();
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
    expect(listEventTypes(scenario.at(inJanuary(31)).check())).toEqual([]);
  });

  it('is stored with every append, and equals the result of an immediate check', () => {
    const scenario = new Scenario().at(inJanuary(1));
    const acts: readonly (() => unknown)[] = [
      () =>
        scenario.upsert({
          external_id: 'PO-1',
          mode: 'ocean',
          etd: inJanuary(10),
          container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_DIGIT],
        }),
      () => scenario.upsert({ eta: inJanuary(20), destination_port: 'USLAX' }),
      () =>
        scenario.patch({
          etd: inJanuary(11),
          legs: [createLeg('CNSHA', 'SGSIN'), createLeg('SGSIN', 'USLAX', inJanuary(15))],
        }),
      () => scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-24' }),
      () => scenario.post('transshipment_discharged', inJanuary(1), { location: 'SGSIN' }),
      () => scenario.estimate('vessel_arrived', inJanuary(22), { location: 'USLAX', external_id: 'EV-1' }),
      () => scenario.estimate('vessel_arrived', inJanuary(23), { location: 'USLAX', external_id: 'EV-1' }),
      () => scenario.correct(scenario.state!.timeline[0]!.milestone, { note: 'by phone' }),
      () => scenario.openByHand('no_update'),
      () => scenario.acknowledge(scenario.state!.exceptions.at(-1)!),
      () => scenario.resolve(scenario.state!.exceptions.at(-1)!),
      () => scenario.requestUpload(),
      () => scenario.receive(scenario.state!.documents[0]!.document),
      () => scenario.complete(scenario.state!.documents[0]!.document),
      () => scenario.reject(scenario.state!.documents[0]!.document),
      () => scenario.approve(scenario.add().document),
      () => scenario.delete(scenario.state!.documents[0]!.document),
      () => scenario.requestUpload(),
      () => scenario.at(inJanuary(30)).check(),
      () => scenario.retract(scenario.state!.timeline[0]!.milestone),
      () => scenario.cancel(),
      () => scenario.reopen(),
    ];
    let appended = 0;
    for (const [n, act] of acts.entries()) {
      const before = scenario.events.length;
      act();
      const events: readonly ShipmentEvent[] = scenario.events.slice(before);
      expect([n, events.length > 0]).toEqual([n, true]);
      for (const { metadata } of events) expect(metadata.next_check_at).toBe(scenario.state?.nextCheckAt);
      expect([n, listEventTypes(scenario.check())]).toEqual([n, []]);
      appended += events.length;
    }
    expect(scenario.events).toHaveLength(appended);
  });

  it('is stored again only if settings change it', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) });
    scenario.settings = enableOnlyType('departure_overdue', { after_hours: 24 });
    expect(listEventTypes(scenario.at(inJanuary(2)).check())).toEqual(['shipment.checked.v1']);
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(11));
    expect(listEventTypes(scenario.check())).toEqual([]);
    scenario.settings = enableOnlyType('departure_overdue', { enabled: false });
    expect(listEventTypes(scenario.check())).toEqual(['shipment.checked.v1']);
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.settings = withSettings('departure_overdue', { after_hours: 24, severity: 'low' });
    scenario.check();
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(11));
  });

  it('stores nothing if early, and reverts nothing if the clock is behind', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) });
    expect(scenario.at(inJanuary(9)).check().outcome).toBe('unchanged');
    expect(scenario.at(inJanuary(10, 12)).check().outcome).toBe('checked');
    expect(listEventTypes(scenario.at(inJanuary(10, 11)).check())).toEqual([]);
    scenario.upsert({ house_bill: 'HB-1' });
    expect(scenario.exceptions).toEqual(['departure_overdue open']);
  });

  it('does not open exceptions again that a clock ahead by an hour opened', () => {
    const scenario = createScenarioWithRule('no_update', {});
    scenario.at(inJanuary(8, 1)).check();
    expect(scenario.open).toEqual(['no_update']);
    expect(listEventTypes(scenario.at(inJanuary(8)).check())).toEqual([]);
    scenario.at(inJanuary(8, 2)).post('gated_in');
    expect(scenario.exceptions).toEqual(['no_update resolved auto_cleared']);
    expect(scenario.state?.nextCheckAt).toBe(addMs(inJanuary(8, 2), 7 * DAY_MS));
  });

  it('ignores exceptions that a person opened or resolved', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) });
    scenario.openByHand('departure_overdue');
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.at(inJanuary(12)).resolve(scenario.state!.exceptions[0]!);
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.patch({ etd: inJanuary(14) });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(14, 12));
    scenario.at(inJanuary(14, 12)).check();
    expect(scenario.exceptions).toEqual(['departure_overdue resolved fixed', 'departure_overdue open']);
  });

  it('is absent with 500 exceptions, because no more can open', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) });
    const opened = scenario
      .openByHand('other')
      .events.flatMap(({ data }) => ('exception' in data ? data.exception : []));
    const { state } = scenario;
    if (state === undefined) throw new Error('there is no shipment');
    scenario.state = {
      ...state,
      exceptions: Array.from({ length: 500 }, (_, n) => ({ ...opened[0]!, id: `exc_${n}` })),
    };
    expect(listEventTypes(scenario.at(inJanuary(11)).check())).toEqual(['shipment.checked.v1']);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(listEventTypes(scenario.check())).toEqual([]);
  });

  it('is due when the condition of a resolved exception returns', () => {
    const scenario = new Scenario();
    scenario.at(day(1)).upsert({ house_bill: 'HB-1', mode: 'air', etd: day(2) });
    scenario.at(day(5)).post('flight_departed', day(3));
    scenario.at(day(8)).check();
    expect(scenario.open).toEqual(['no_update']);

    scenario.at(day(9)).post('in_transit_checkpoint');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBe(day(11));
  });

  it('is updated by a write that only stores an external_id', () => {
    const scenario = new Scenario();
    scenario.at(day(1)).upsert({ house_bill: 'HB-1', mode: 'air', etd: day(2) });
    scenario.at(day(5)).post('flight_departed', day(3), { source: 'carrier' });
    scenario.at(day(8)).post('flight_departed', day(3), { source: 'carrier', external_id: 'EV-1' });
    expect(scenario.open).toEqual(['no_update']);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });
});
