import type { Milestone } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  ShipmentScenario,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  createMilestoneInput,
  captureRefusal,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { type Decision, type ShipmentEvent, findPublicEventOfStoredEvent, fold } from '../index.ts';

const warnings = (decision: Decision) => decision.warnings.map(({ code }) => code);

describe('recording', () => {
  it('stores the sent fields with those of the catalog and the command', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const decision = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      source: 'carrier',
      reason_code: 'weather',
      location: 'cn sha',
      external_id: 'EV-1',
      container_number: 'mscu 123456-6',
      vessel: 'EVER GIVEN',
      voyage: '012E',
      note: 'late',
      latitude: 31.3665,
      longitude: 121.6158,
      terminal: 'Yangshan Phase IV',
      imo: 'IMO 9321483',
      pieces: 12,
      temperature_celsius: -18.5,
    });
    expect(decision.outcome).toBe('recorded');
    expect(decision.milestone).toEqual({
      id: 'mst_0000020',
      shipment_id: 'shp_abcdefghijklmnopqrstuvwxya',
      code: 'vessel_departed',
      label: 'Vessel departed',
      sequence: 55,
      classifier: 'actual',
      occurred_at: createTimeInJanuary2026(2),
      location: 'CNSHA',
      timezone: 'Asia/Shanghai',
      source: 'carrier',
      reason_code: 'weather',
      external_id: 'EV-1',
      container_number: CONTAINER_A,
      vessel: 'EVER GIVEN',
      voyage: '012E',
      note: 'late',
      latitude: 31.3665,
      longitude: 121.6158,
      terminal: 'Yangshan Phase IV',
      imo: '9321483',
      pieces: 12,
      temperature_celsius: -18.5,
      occurred_at_precision: 'time',
      recorded_at: '2026-06-01T00:02:00.000Z',
      recorded_by: { type: 'user', id: 'usr_1' },
      retracted_at: null,
      reported_at: expect.any(String) as string,
      superseded_at: null,
      revision: 1,
    } satisfies Milestone);
  });

  it('appends the milestone, then the client-visible changes, then exceptions', () => {
    const scenario = createOceanShipmentScenario();
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2))),
    ).toEqual(['milestone.recorded.v1', 'shipment.changed.v1']);
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(3))),
    ).toEqual(['milestone.recorded.v1']);
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(4))),
    ).toEqual(['milestone.recorded.v1', 'exception.opened.v1']);
    expect(getTypesOfDecidedEvents(scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(5)))).toEqual([
      'milestone.recorded.v1',
      'shipment.changed.v1',
      'exception.resolved.v2',
    ]);
  });

  it('changes last_milestone, which changes do not contain', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const decision = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      location: 'CNSHA',
    });
    const last = {
      id: 'mst_0000020',
      code: 'vessel_departed',
      label: 'Vessel departed',
      occurred_at: createTimeInJanuary2026(2),
      location: 'CNSHA',
    };
    expect(scenario.record.last_milestone).toEqual(last);
    expect(scenario.getContainer(CONTAINER_A).last_milestone).toEqual(last);
    expect(findDataOfDecidedEvent(decision, 'milestone.recorded.v1')?.last).toEqual({
      shipment: last,
      containers: [{ last, numbers: [CONTAINER_A, CONTAINER_B] }],
    });
    const changes = findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes;
    expect(Object.keys(changes ?? {}).sort()).toEqual(['atd', 'containers', 'legs', 'status', 'status_milestone_id']);
    expect(changes?.containers?.to).toEqual([
      { number: CONTAINER_A, status: 'in_transit', status_milestone_id: 'mst_0000020' },
      { number: CONTAINER_B, status: 'in_transit', status_milestone_id: 'mst_0000020' },
    ]);
  });

  it('sets last_milestone to the latest actual one, not the last received', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), { container_number: CONTAINER_A });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { classifier: 'planned' });
    expect(scenario.record.last_milestone?.code).toBe('vessel_departed');
    scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(4), {
      container_number: CONTAINER_B,
    });
    expect(scenario.record.last_milestone?.code).toBe('in_transit_checkpoint');
    expect(scenario.getContainer(CONTAINER_A).last_milestone?.code).toBe('vessel_departed');
    expect(scenario.getContainer(CONTAINER_B).last_milestone?.code).toBe('in_transit_checkpoint');
  });

  it('prefers the later one in the catalog among milestones of the same time', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(3));
    expect(scenario.record.last_milestone?.code).toBe('discharged');
  });

  it('reports every invalid field at once', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const error = captureRefusal(() =>
      scenario.postMilestoneInScenario('nonsense', '2027-01-01T00:00:00.000Z', { container_number: CONTAINER_B }),
    );
    expect(error.code).toBe('validation_failed');
    expect(error.details.map(({ param, code }) => `${param} ${code}`)).toEqual([
      'code unknown_code',
      'occurred_at timestamp_in_future',
      'container_number unknown_container',
    ]);
  });

  it('refuses a container that is not on the shipment, also a removed one', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    expect(
      captureRefusal(() =>
        scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(3), { container_number: CONTAINER_C }),
      ).details,
    ).toMatchObject([{ param: 'container_number', code: 'unknown_container' }]);
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    expect(
      captureRefusal(() =>
        scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(3), { container_number: CONTAINER_A }),
      ).code,
    ).toBe('validation_failed');
  });

  it('refuses a milestone without a shipment', () => {
    const scenario = new ShipmentScenario();
    const milestone = createMilestoneInput({ code: 'delivered', occurred_at: createTimeInJanuary2026(1) });
    const command = {
      ...scenario.createCommandContext(),
      type: 'RecordMilestone',
      shipment_id: 'shp_x',
      milestone,
    } as const;
    expect(captureRefusal(() => scenario.decideAndApplyShipmentCommand(command)).code).toBe('not_found');
  });

  it('refuses new milestones beyond 5,000, but accepts repetitions and corrections', () => {
    const scenario = createOceanShipmentScenario();
    const { state } = scenario;
    if (state === undefined) throw new Error('no state');
    const first = scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(1), {
      external_id: 'EV-1',
    }).milestone;
    const entry = { milestone: first, recorded: 1, written: 1, overridden: {}, formerReports: [] };
    scenario.state = { ...state, timeline: Array.from({ length: 5_000 }, () => entry) };
    expect(
      captureRefusal(() => scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(2))),
    ).toMatchObject({
      code: 'limit_exceeded',
      details: [{ code: 'limit_exceeded' }],
    });
    expect(scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(1)).outcome).toBe(
      'existing',
    );
    expect(
      scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(1), {
        external_id: 'EV-1',
        note: 'x',
      }).outcome,
    ).toBe('corrected');
  });

  it('a code unusual for the mode is accepted with a warning', () => {
    const scenario = createOceanShipmentScenario();
    expect(warnings(scenario.postMilestoneInScenario('flight_departed', createTimeInJanuary2026(2)))).toEqual([
      'code_unusual_for_mode',
    ]);
    expect(scenario.record.status).toBe('in_transit');
    expect(warnings(scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2)))).toEqual([]);
    expect(warnings(scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20)))).toEqual([]);
  });

  it.each([
    ['courier', 'border_crossed'],
    ['courier', 'flight_departed'],
    ['multimodal', 'flight_departed'],
    ['road', 'border_crossed'],
    ['barge', 'vessel_departed'],
    ['rail', 'gated_in'],
    [null, 'rail_departed'],
  ] as const)('accepts %s by %s without a warning', (mode, code) => {
    expect(
      warnings(createShipmentScenario({ mode }).postMilestoneInScenario(code, createTimeInJanuary2026(2))),
    ).toEqual([]);
  });
});

describe('an estimate that leaves eta before etd', () => {
  const crossed = { code: 'eta_before_etd', param: null };

  it('warns, also when it is corrected or retracted to that, but not if neither time changes', () => {
    const scenario = createOceanShipmentScenario({
      etd: createTimeInJanuary2026(10),
      eta: createTimeInJanuary2026(20),
    });
    const { milestone, warnings } = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(9));
    expect(warnings).toMatchObject([crossed]);
    expect(scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2)).warnings).toEqual([]);
    expect(scenario.correctMilestone(milestone, { occurred_at: createTimeInJanuary2026(21) }).warnings).toEqual([]);
    expect(scenario.correctMilestone(milestone, { occurred_at: createTimeInJanuary2026(8) }).warnings).toMatchObject([
      crossed,
    ]);
    expect(scenario.retractMilestone(milestone).warnings).toEqual([]);
    expect(scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(25)).warnings).toMatchObject([
      crossed,
    ]);
    const sooner = scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(12));
    expect(sooner.warnings).toEqual([]);
    expect(scenario.retractMilestone(sooner.milestone).warnings).toMatchObject([crossed]);
  });

  it('warns once for all legs', () => {
    const leg = { mode: null, carrier_scac: null, vessel: null, voyage: null };
    const scenario = createShipmentScenario({
      legs: [
        {
          ...leg,
          origin_port: 'CNSHA',
          destination_port: 'SGSIN',
          etd: createTimeInJanuary2026(3),
          eta: createTimeInJanuary2026(5),
        },
        {
          ...leg,
          origin_port: 'SGSIN',
          destination_port: 'USLAX',
          etd: createTimeInJanuary2026(7),
          eta: createTimeInJanuary2026(20),
        },
      ],
    });
    expect(
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(2), { location: 'SGSIN' }).warnings,
    ).toMatchObject([crossed]);
    expect(
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(1), { location: 'USLAX' }).warnings,
    ).toMatchObject([crossed]);
  });
});

describe('duplicates', () => {
  const arrival = { location: 'USLAX', source: 'carrier', container_number: CONTAINER_A } as const;

  it('have the same code, time, container, location and source', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival);
    const second = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...arrival,
      location: 'us lax',
      note: 'again',
      vessel: 'OTHER',
    });
    expect(second).toMatchObject({ outcome: 'existing', events: [], milestoneId: first.milestone.id });
    expect(second.milestone).toEqual(first.milestone);
  });

  it.each([
    ['code', () => ['discharged', createTimeInJanuary2026(20), arrival] as const],
    ['time', () => ['vessel_arrived', createTimeInJanuary2026(21), arrival] as const],
    [
      'container',
      () => ['vessel_arrived', createTimeInJanuary2026(20), { ...arrival, container_number: CONTAINER_B }] as const,
    ],
    [
      'no container',
      () => ['vessel_arrived', createTimeInJanuary2026(20), { ...arrival, container_number: null }] as const,
    ],
    ['location', () => ['vessel_arrived', createTimeInJanuary2026(20), { ...arrival, location: 'Pier 400' }] as const],
    ['source', () => ['vessel_arrived', createTimeInJanuary2026(20), { ...arrival, source: 'terminal' }] as const],
  ])('do not include one with another %s', (_, other) => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival);
    const [code, time, rest] = other();
    expect(scenario.postMilestoneInScenario(code, time, rest).outcome).toBe('recorded');
  });

  it('do not include an actual one at the estimated time', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { source: 'carrier' }).outcome,
    ).toBe('recorded');
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(20));
  });

  it('with the same external_id and equal content change nothing', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
      note: 'x',
    });
    const second = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
      note: 'x',
    });
    expect(second).toMatchObject({ outcome: 'existing', events: [], milestoneId: first.milestoneId });
    expect(second.milestone.revision).toBe(1);
  });

  it.each([
    ['with an external_id as one without', null, 'EV-1', 'existing'],
    ['without one with', 'EV-1', null, 'existing'],
    ['both without', null, null, 'existing'],
    ['under another external_id it is another milestone', 'EV-1', 'EV-2', 'recorded'],
  ] as const)('have equal content: %s', (_, first, second, outcome) => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const before = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...arrival,
      external_id: first,
    }).milestone;
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...arrival,
      external_id: second,
      note: 'again',
    });
    expect(again.outcome).toBe(outcome);
    expect(again.milestoneId === before.id).toBe(outcome === 'existing');
    expect(scenario.state?.timeline).toHaveLength(outcome === 'existing' ? 1 : 2);
  });

  it('give their external_id to one without, which is neither a correction nor announced', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
      note: 'again',
    });
    expect(again.milestone).toEqual({ ...first, external_id: 'EV-1' });
    expect(getTypesOfDecidedEvents(again)).toEqual(['milestone.corrected.v1']);
    expect(
      again.events.map((event) => findPublicEventOfStoredEvent({ ...event, revision: 0 } as ShipmentEvent)),
    ).toEqual([undefined]);
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' }),
    ).toMatchObject({ events: [] });
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' }),
    ).toMatchObject({
      outcome: 'corrected',
      milestoneId: first.id,
      milestone: { revision: 2 },
    });
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-2' }).outcome,
    ).toBe('recorded');
  });

  it('prefer the one whose external_id can match', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-2' });
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-3' }).outcome,
    ).toBe('recorded');
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20)).outcome).toBe('existing');
    expect(scenario.state?.timeline).toHaveLength(3);
  });

  it('give a superseded estimate the external_id and leave it superseded', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22));
    const again = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    });
    expect(again).toMatchObject({ outcome: 'existing', milestoneId: first.id });
    expect(again.milestone.superseded_at).not.toBeNull();
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
  });

  it('are found by external_id before content', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    });
    const other = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-2',
    });
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    });
    expect(again).toMatchObject({ outcome: 'corrected', milestoneId: first.milestoneId });
    expect(other.milestoneId).not.toBe(first.milestoneId);
  });
});

describe('correction by external_id', () => {
  it('keeps the id, increments the revision, and announces the previous values', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    }).milestone;
    const decision = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
      location: 'USLAX',
    });
    expect(decision.outcome).toBe('corrected');
    expect(decision.milestone).toEqual({
      ...first,
      occurred_at: createTimeInJanuary2026(21),
      location: 'USLAX',
      timezone: 'America/Los_Angeles',
      reported_at: scenario.events.at(-1)?.metadata.recorded_at,
      revision: 2,
    });
    expect(getTypesOfDecidedEvents(decision)).toEqual(['milestone.corrected.v1', 'shipment.changed.v1']);
    expect(findDataOfDecidedEvent(decision, 'milestone.corrected.v1')?.previous).toEqual(first);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      milestone: { from: first, to: decision.milestone },
      ata: { from: createTimeInJanuary2026(20), to: createTimeInJanuary2026(21) },
    });
    expect(scenario.record).not.toHaveProperty('milestone');
    expect(scenario.state?.timeline).toHaveLength(1);
  });

  it('is announced even if nothing else of the shipment changes', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1), { external_id: 'EV-1' });
    const decision = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1), {
      external_id: 'EV-1',
      note: 'gate 4',
    });
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toEqual({
      milestone: { from: expect.objectContaining({ note: null }), to: expect.objectContaining({ note: 'gate 4' }) },
    });
  });

  it('of an estimate is announced only by its changes', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    const moved = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    });
    expect(Object.keys(findDataOfDecidedEvent(moved, 'shipment.changed.v1')?.changes ?? {})).toEqual(['eta', 'legs']);
    const noted = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
      note: 'x',
    });
    expect(getTypesOfDecidedEvents(noted)).toEqual(['milestone.corrected.v1']);
  });

  it('makes an estimate actual', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    const decision = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
      source: 'carrier',
    });
    expect(decision.outcome).toBe('corrected');
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).not.toHaveProperty('milestone');
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(21) });
  });

  it('lowers the status if the corrected milestone no longer reaches it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), { external_id: 'EV-2' });
    expect(scenario.record.status).toBe('delivered');
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(20), { external_id: 'EV-2' });
    expect(scenario.record.status).toBe('out_for_delivery');
    expect(scenario.record.last_milestone?.code).toBe('gated_out');
  });

  it('keeps the timeline in order', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(3), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(5), { external_id: 'EV-1' });
    expect(scenario.state?.timeline.map(({ milestone }) => milestone.code)).toEqual(['vessel_departed', 'gated_in']);
    expect(scenario.record.last_milestone?.code).toBe('gated_in');
  });
});

describe('the newest estimate for a code, container, location and source is the current one', () => {
  const superseded = (scenario: ShipmentScenario) =>
    scenario.state?.timeline
      .filter(({ milestone }) => milestone.superseded_at !== null)
      .map(({ milestone }) => milestone.id);

  it('sets superseded_at of older ones', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      location: 'USLAX',
    }).milestone;
    const decision = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      location: 'USLAX',
    });
    expect(findDataOfDecidedEvent(decision, 'milestone.recorded.v1')?.supersedes).toEqual([first.id]);
    expect(superseded(scenario)).toEqual([first.id]);
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    expect(superseded(scenario)).toEqual([first.id, decision.milestone.id]);
    expect(scenario.state?.timeline.find(({ milestone }) => milestone.id === first.id)?.milestone.superseded_at).toBe(
      '2026-06-01T00:03:00.000Z',
    );
  });

  it.each([
    { location: 'USNYC' },
    { location: 'USLAX', source: 'ais' as const },
    { location: 'USLAX', container_number: CONTAINER_A },
    { location: 'USLAX', classifier: 'planned' as const },
    { location: 'USLAX', classifier: 'actual' as const },
  ])('does not affect another series: %j', (rest) => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'USLAX' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), rest);
    expect(superseded(scenario)).toEqual([]);
  });

  it('never supersedes planned and actual ones', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { classifier: 'planned' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { classifier: 'planned' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(superseded(scenario)).toEqual([]);
  });

  describe('a person who posts an earlier estimate again', () => {
    const manual = { source: 'manual' } as const;
    const posted = () => {
      const scenario = createOceanShipmentScenario();
      const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), manual).milestone;
      const second = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), manual).milestone;
      return { scenario, first, second };
    };

    it('makes that one current again, and no other milestone', () => {
      const { scenario, first, second } = posted();
      const again = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
        ...manual,
        external_id: 'EV-1',
      });
      expect([again.outcome, again.milestone]).toEqual([
        'corrected',
        { ...first, external_id: 'EV-1', reported_at: expect.any(String) as string, superseded_at: null, revision: 2 },
      ]);
      expect(findDataOfDecidedEvent(again, 'milestone.corrected.v1')).toMatchObject({
        supersedes: [second.id],
        restores: [],
      });
      expect(superseded(scenario)).toEqual([second.id]);
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
      expect(scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), manual)).toMatchObject({
        outcome: 'existing',
        events: [],
      });
      expect(scenario.state?.timeline).toHaveLength(2);
    });

    it('makes a new statement, which overrides values that the client set in between', () => {
      const { scenario, first } = posted();
      scenario.patchShipment({ eta: createTimeInJanuary2026(25) });
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), manual);
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
      scenario.retractMilestone(first);
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
      expect(superseded(scenario)).toEqual([]);
    });

    it('finds the current one if a stream has several', () => {
      const { scenario, first } = posted();
      const { state, events } = scenario;
      // Data as stored by earlier releases.
      const { reported_at: _, ...former } = { ...first, id: 'mst_third', superseded_at: null };
      const third = former as Milestone;
      const supersedes = state!.timeline.map(({ milestone }) => milestone.id);
      const data = { milestone: third, supersedes, last: { containers: [] } };
      const revision = events.length;
      scenario.state = fold([{ ...events.at(-1)!, revision, type: 'milestone.recorded.v1', data }], state);
      const again = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), manual);
      expect(again).toMatchObject({ outcome: 'existing', events: [], milestoneId: third.id });
    });
  });

  it('a feed that resends everything changes nothing', () => {
    const scenario = createOceanShipmentScenario();
    for (let poll = 0; poll < 3; poll++) {
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22));
    }
    expect(scenario.state?.timeline).toHaveLength(2);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
  });

  it('a correction out of its series brings back the one before', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      location: 'USLAX',
    }).milestone;
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      location: 'USLAX',
      external_id: 'EV-1',
    });
    const decision = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      location: 'USNYC',
      external_id: 'EV-1',
    });
    expect(findDataOfDecidedEvent(decision, 'milestone.corrected.v1')).toMatchObject({
      restores: [first.id],
      supersedes: [],
    });
    expect(superseded(scenario)).toEqual([]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });

  it('restores the newest of the previous ones', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    const second = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(18)).milestone;
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(19), { external_id: 'EV-1' });
    const away = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(19), {
      external_id: 'EV-1',
      source: 'ais',
    });
    expect(findDataOfDecidedEvent(away, 'milestone.corrected.v1')?.restores).toEqual([second.id]);
  });

  it('restores none if it was not current itself', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    const current = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
    const away = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
      source: 'ais',
    });
    expect(findDataOfDecidedEvent(away, 'milestone.corrected.v1')?.restores).toEqual([]);
    expect(superseded(scenario)).not.toContain(current.id);
  });

  it('does not supersede the corrected one itself', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    const decision = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    });
    expect(findDataOfDecidedEvent(decision, 'milestone.corrected.v1')).toMatchObject({ supersedes: [], restores: [] });
  });

  it('a corrected superseded one is the newest again', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    }).milestone;
    const second = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      external_id: 'EV-2',
    }).milestone;
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    expect(superseded(scenario)).toEqual([second.id]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
    expect(first.id).not.toBe(second.id);
  });
});
