import {
  CONTAINER_A,
  CONTAINER_B,
  type ShipmentScenario,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  captureRefusal,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { type Decision, type ShipmentEvent, findPublicEventOfStoredEvent } from '../index.ts';

const announced = ({ events }: Decision) =>
  events.map((event) => findPublicEventOfStoredEvent({ ...event, revision: 0 } as ShipmentEvent)?.type);
const isSuperseded = (scenario: ShipmentScenario, { id }: { id: string }) =>
  scenario.getMilestone(id).superseded_at !== null;

describe('a retraction', () => {
  it('reverts the effects of the milestone, and announces that', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const gatedIn = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1)).milestone;
    const first = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      location: 'CNSHA',
    }).milestone;
    const decision = scenario.retractMilestone(first);
    expect(decision.milestone).toEqual({ ...first, retracted_at: '2026-06-01T00:04:00.000Z', revision: 2 });
    expect(getTypesOfDecidedEvents(decision)).toEqual(['milestone.retracted.v1', 'shipment.changed.v1']);
    expect(announced(decision)).toEqual(['milestone.retracted', 'shipment.updated']);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      milestone: { from: first, to: null },
      status: { from: 'in_transit', to: 'at_origin' },
      atd: { from: createTimeInJanuary2026(2), to: null },
    });
    expect(scenario.record).toMatchObject({ status: 'at_origin', atd: null, last_milestone: { id: gatedIn.id } });
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({
      status: 'at_origin',
      last_milestone: { id: gatedIn.id },
    });
  });

  it('is announced even if nothing else of the shipment changes; for an estimate, only its changes are', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    const gatedIn = scenario.retractMilestone(
      scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1)).milestone,
    );
    expect(Object.keys(findDataOfDecidedEvent(gatedIn, 'shipment.changed.v1')?.changes ?? {})).toEqual(['milestone']);
    const planned = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(30), {
      classifier: 'planned',
    }).milestone;
    expect(announced(scenario.retractMilestone(planned))).toEqual([undefined]);
    const estimated = scenario.retractMilestone(
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone,
    );
    expect(announced(estimated)).toEqual([undefined, 'shipment.updated']);
    expect(findDataOfDecidedEvent(estimated, 'shipment.changed.v1')?.changes).not.toHaveProperty('milestone');
  });

  it('changes nothing when repeated', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1)).milestone;
    const { milestone } = scenario.retractMilestone(first);
    expect(scenario.retractMilestone(first)).toMatchObject({ outcome: 'unchanged', events: [], milestone });
    expect(captureRefusal(() => scenario.retractMilestone({ id: 'mst_none' })).code).toBe('not_found');
  });

  it('restores the previous estimate, with its effect on eta and etd', () => {
    const scenario = createOceanShipmentScenario({ etd: createTimeInJanuary2026(1), eta: createTimeInJanuary2026(19) });
    const older = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
    const newer = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
    const departure = scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2)).milestone;
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(22),
      original_eta: createTimeInJanuary2026(19),
    });
    const decision = scenario.retractMilestone(newer);
    expect(findDataOfDecidedEvent(decision, 'milestone.retracted.v1')?.restores).toEqual([older.id]);
    expect(isSuperseded(scenario, older)).toBe(false);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    scenario.retractMilestone(older);
    scenario.retractMilestone(departure);
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(19),
      original_eta: createTimeInJanuary2026(19),
    });
  });

  it('of a superseded estimate restores nothing, then or later', () => {
    const scenario = createOceanShipmentScenario();
    const [first, second, third] = [20, 21, 22].map(
      (n) => scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(n)).milestone,
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error('three estimates');
    expect(findDataOfDecidedEvent(scenario.retractMilestone(second), 'milestone.retracted.v1')?.restores).toEqual([]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
    expect(findDataOfDecidedEvent(scenario.retractMilestone(third), 'milestone.retracted.v1')?.restores).toEqual([
      first.id,
    ]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });

  it('of an estimate does not restore one older than the client’s value', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.upsertShipment({ eta: createTimeInJanuary2026(25) });
    const newer = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
    scenario.retractMilestone(newer);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
  });

  it('of an arrival lets estimates count again', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(19) });
    const arrival = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      location: 'USLAX',
    }).milestone;
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(scenario.record).toMatchObject({ ata: createTimeInJanuary2026(20), eta: createTimeInJanuary2026(19) });
    scenario.retractMilestone(arrival);
    expect(scenario.record).toMatchObject({ ata: null, eta: createTimeInJanuary2026(23), status: 'pending' });
  });

  it('of booking_cancelled reopens the shipment unless the client cancelled it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(1));
    const cancelled = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(2)).milestone;
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: cancelled.id });
    scenario.cancelShipment();
    scenario.retractMilestone(cancelled);
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
    scenario.reopenShipment();
    expect(scenario.record.status).toBe('booked');
    const again = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3)).milestone;
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(4));
    expect(scenario.open).toEqual(['movement_after_cancel']);
    scenario.retractMilestone(again);
    expect(scenario.record.status).toBe('at_origin');
    expect(scenario.open).toEqual([]);
  });

  it('of delivered lets a later cancellation take effect; its retraction resolves the conflict', () => {
    const scenario = createOceanShipmentScenario();
    const delivered = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20)).milestone;
    const cancelled = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21)).milestone;
    expect([scenario.record.status, scenario.open]).toEqual(['delivered', ['milestone_conflict']]);
    scenario.retractMilestone(delivered);
    expect([scenario.record.status, scenario.open]).toEqual(['cancelled', []]);
    scenario.retractMilestone(cancelled);
    expect(scenario.record.status).toBe('pending');
  });

  it('resolves an exception that the milestone opened, and opens one that it resolved', () => {
    const scenario = createOceanShipmentScenario();
    const hold = scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(2)).milestone;
    const cleared = scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(3)).milestone;
    scenario.retractMilestone(cleared);
    expect(scenario.open).toEqual(['customs_hold']);
    scenario.retractMilestone(hold);
    expect(scenario.open).toEqual([]);
    expect(scenario.exceptions.map((text) => text.split(' ').at(-1))).toEqual(['auto_cleared', 'auto_cleared']);
  });

  it('works while the container is not on the shipment', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1), {
      container_number: CONTAINER_A,
    }).milestone;
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    scenario.retractMilestone(first);
    scenario.upsertShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    expect(scenario.getContainer(CONTAINER_A).status).toBe('pending');
  });
});

describe('a milestone posted after a retraction', () => {
  const feed = { source: 'carrier', location: 'USLAX' } as const;
  const repeated = { outcome: 'existing', events: [], warnings: [{ code: 'overridden_by_user' }] };

  it.each([
    ['a person', { source: 'manual', location: 'USLAX' }, 'recorded'],
    ['a person, under its external_id', { source: 'manual', external_id: 'EV-1' }, 'recorded'],
    ['a feed', feed, 'existing'],
    ['a feed, under its external_id', { ...feed, external_id: 'EV-1' }, 'existing'],
  ] as const)('again by %s', (_, rest, outcome) => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone;
    const { milestone } = scenario.retractMilestone(first);
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest);
    expect(again.outcome).toBe(outcome);
    if (outcome === 'existing') expect(again).toMatchObject({ ...repeated, milestone });
    else expect(again.milestone).toMatchObject({ retracted_at: null, revision: 1 });
    expect(again.milestoneId === first.id).toBe(outcome === 'existing');
    expect(scenario.record.status).toBe(outcome === 'existing' ? 'pending' : 'arrived');
  });

  it('by a feed is the same if its place has become a port, or has another spelling', () => {
    const scenario = createShipmentScenario({ mode: 'air' });
    const rest = { source: 'carrier', location: 'fra' } as const;
    scenario.retractMilestone(
      scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(20), rest).milestone,
    );
    scenario.upsertShipment({ destination_port: 'FRA' });
    expect(scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(20), rest)).toMatchObject(
      repeated,
    );
    expect(
      scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(20), { ...rest, location: 'FRA' }),
    ).toMatchObject(repeated);
    expect(
      scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(20), { ...rest, location: 'LAX' })
        .outcome,
    ).toBe('recorded');
  });

  it('by a feed with another note is the same', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    scenario.retractMilestone(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone,
    );
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
        ...rest,
        note: 'x',
        vessel: 'OTHER',
      }),
    ).toMatchObject(repeated);
  });

  it('by a feed with another value is new, and the retracted one stays retracted', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone;
    scenario.retractMilestone(first);
    const second = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), rest);
    expect(second.outcome).toBe('recorded');
    expect(scenario.getMilestone(first.id).retracted_at).not.toBeNull();
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), rest)).toMatchObject({
      events: [],
      warnings: [],
    });
    scenario.retractMilestone(second.milestone);
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), rest)).toMatchObject({
      ...repeated,
      milestoneId: second.milestoneId,
    });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest)).toMatchObject({
      ...repeated,
      milestoneId: first.id,
    });
  });

  it('by a feed is the same as before a person corrected and then retracted it', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), feed).milestone;
    scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(21), location: 'USNYC' });
    scenario.retractMilestone(first);
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), feed)).toMatchObject(
      repeated,
    );
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { ...feed, location: 'USNYC' })
        .outcome,
    ).toBe('recorded');
  });

  it('by another feed, or about another event, is new', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    scenario.retractMilestone(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone,
    );
    expect(
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), { ...rest, external_id: 'EV-2' })
        .outcome,
    ).toBe('recorded');
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { ...feed, source: 'ais' })
        .outcome,
    ).toBe('recorded');
  });

  it('by a feed under a new external_id is the same', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone;
    scenario.retractMilestone(first);
    for (let turn = 2; turn < 4; turn += 1) {
      const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
        ...rest,
        external_id: `EV-${turn}`,
      });
      expect(again).toMatchObject({ ...repeated, milestoneId: first.id });
    }
    expect(scenario.record).toMatchObject({ status: 'pending', ata: null });
  });

  it('by a feed changes nothing if a person has replaced it', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    const first = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), rest).milestone;
    scenario.retractMilestone(first);
    const second = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    }).milestone;
    expect(scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), rest)).toMatchObject({
      ...repeated,
      milestoneId: first.id,
    });
    expect(scenario.getMilestone(second.id)).toEqual(second);
    // A new value of the feed corrects the unretracted one.
    const news = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(22), rest);
    expect(news).toMatchObject({ outcome: 'corrected', milestoneId: second.id, warnings: [] });
  });

  it('also if the person gave its external_id to another one', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { ...feed, external_id: 'EV-1' };
    const first = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), rest).milestone;
    scenario.correctMilestone(first, { external_id: null });
    const second = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(21), {
      external_id: 'EV-1',
    }).milestone;
    expect(scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), rest)).toMatchObject({
      ...repeated,
      milestoneId: first.id,
    });
    expect(scenario.getMilestone(second.id)).toEqual(second);
  });

  it('a retracted estimate stays retracted when its feed resends it', () => {
    const scenario = createOceanShipmentScenario();
    const older = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
    const newer = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
    scenario.retractMilestone(newer);
    expect(scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22))).toMatchObject(repeated);
    expect(scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20))).toMatchObject({
      milestoneId: older.id,
      warnings: [],
    });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });
});

describe('the overridden fields of a milestone', () => {
  it('are the last values of its feed after a person posted others with its external_id', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { source: 'carrier', external_id: 'EV-1' } as const;
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest);
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), rest);
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22), { ...rest, source: 'manual' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23), {
      ...rest,
      source: 'manual',
      note: 'x',
    });
    const sent = {
      occurred_at: createTimeInJanuary2026(21),
      source: 'carrier',
      note: null,
      reported_at: expect.any(String) as string,
    };
    expect(scenario.state?.timeline[0]?.overridden).toEqual(sent);
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(24), rest);
    expect(scenario.state?.timeline[0]?.overridden).toEqual({
      note: null,
      reported_at: scenario.events.at(-1)?.metadata.recorded_at,
    });
  });

  it('are none if only feeds or only people posted it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1), {
      source: 'carrier',
      external_id: 'EV-1',
    });
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), {
      source: 'carrier',
      external_id: 'EV-1',
    });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3), { external_id: 'EV-2' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { external_id: 'EV-2' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(5));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(5), { external_id: 'EV-3' });
    expect(scenario.state?.timeline.map(({ overridden }) => overridden)).toEqual([{}, {}, {}]);
  });
});
