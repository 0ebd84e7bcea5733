import type { Milestone } from '@tracking/contracts';
import { A, B, C, Story, dataOf, day, milestoneInput, refusal, shipment, types, voyage } from '../test/story.ts';
import { type Decision, type ShipmentEvent, announcementOf } from './index.ts';

const warnings = (decision: Decision) => decision.warnings.map(({ code }) => code);

describe('recording', () => {
  it('makes a milestone with everything that was sent, and what the catalog and the command add', () => {
    const story = voyage({ container_numbers: [A] });
    const decision = story.post('vessel_departed', day(2), {
      source: 'carrier',
      reason_code: 'weather',
      location: 'cn sha',
      external_id: 'EV-1',
      container_number: 'mscu 123456-6',
      vessel: 'EVER GIVEN',
      voyage: '012E',
      note: 'late',
    });
    expect(decision.outcome).toBe('recorded');
    expect(decision.milestone).toEqual({
      id: 'mst_0000020',
      shipment_id: 'shp_abcdefghijklmnopqrstuvwxya',
      code: 'vessel_departed',
      label: 'Vessel departed',
      sequence: 55,
      classifier: 'actual',
      occurred_at: day(2),
      location: 'CNSHA',
      timezone: 'Asia/Shanghai',
      source: 'carrier',
      reason_code: 'weather',
      external_id: 'EV-1',
      container_number: A,
      vessel: 'EVER GIVEN',
      voyage: '012E',
      note: 'late',
      recorded_at: '2026-06-01T00:02:00.000Z',
      recorded_by: { type: 'user', id: 'usr_1' },
      retracted_at: null,
      superseded_at: null,
      revision: 1,
    } satisfies Milestone);
  });

  it('appends the milestone, then the client-visible changes, then exceptions', () => {
    const story = voyage();
    expect(types(story.post('vessel_departed', day(2)))).toEqual(['milestone.recorded.v1', 'shipment.changed.v1']);
    expect(types(story.post('in_transit_checkpoint', day(3)))).toEqual(['milestone.recorded.v1']);
    expect(types(story.post('customs_hold', day(4)))).toEqual(['milestone.recorded.v1', 'exception.opened.v1']);
    expect(types(story.post('delivered', day(5)))).toEqual([
      'milestone.recorded.v1',
      'shipment.changed.v1',
      'exception.resolved.v1',
    ]);
  });

  it('last_milestone moves with it, and stands in no changes', () => {
    const story = voyage({ container_numbers: [A, B] });
    const decision = story.post('vessel_departed', day(2), { location: 'CNSHA' });
    const last = {
      id: 'mst_0000020',
      code: 'vessel_departed',
      label: 'Vessel departed',
      occurred_at: day(2),
      location: 'CNSHA',
    };
    expect(story.record.last_milestone).toEqual(last);
    expect(story.container(A).last_milestone).toEqual(last);
    expect(dataOf(decision, 'milestone.recorded.v1')?.last).toEqual({
      shipment: last,
      containers: [{ last, numbers: [A, B] }],
    });
    const changes = dataOf(decision, 'shipment.changed.v1')?.changes;
    expect(Object.keys(changes ?? {}).sort()).toEqual(['atd', 'containers', 'legs', 'status', 'status_milestone_id']);
    expect(changes?.containers?.to).toEqual([
      { number: A, status: 'in_transit', status_milestone_id: 'mst_0000020' },
      { number: B, status: 'in_transit', status_milestone_id: 'mst_0000020' },
    ]);
  });

  it('last_milestone is the latest actual one, not the last that came', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('vessel_departed', day(3));
    story.post('gated_in', day(2), { container_number: A });
    story.estimate('vessel_arrived', day(20));
    story.post('vessel_arrived', day(21), { classifier: 'planned' });
    expect(story.record.last_milestone?.code).toBe('vessel_departed');
    story.post('in_transit_checkpoint', day(4), { container_number: B });
    expect(story.record.last_milestone?.code).toBe('in_transit_checkpoint');
    expect(story.container(A).last_milestone?.code).toBe('vessel_departed');
    expect(story.container(B).last_milestone?.code).toBe('in_transit_checkpoint');
  });

  it('of the same time the one further along in the catalog is the last', () => {
    const story = voyage();
    story.post('discharged', day(3));
    story.post('vessel_arrived', day(3));
    expect(story.record.last_milestone?.code).toBe('discharged');
  });

  it('refuses with every faulty field at once', () => {
    const story = voyage({ container_numbers: [A] });
    const error = refusal(() => story.post('nonsense', '2027-01-01T00:00:00.000Z', { container_number: B }));
    expect(error.code).toBe('validation_failed');
    expect(error.details.map(({ param, code }) => `${param} ${code}`)).toEqual([
      'code unknown_code',
      'occurred_at timestamp_in_future',
      'container_number unknown_container',
    ]);
  });

  it('a container that is not the shipment’s is refused, also one that was taken off', () => {
    const story = voyage({ container_numbers: [A] });
    expect(refusal(() => story.post('delivered', day(3), { container_number: C })).details).toMatchObject([
      { param: 'container_number', code: 'unknown_container' },
    ]);
    story.upsert({ container_numbers: [B] });
    expect(refusal(() => story.post('delivered', day(3), { container_number: A })).code).toBe('validation_failed');
  });

  it('there is no milestone without a shipment', () => {
    const story = new Story();
    const milestone = milestoneInput({ code: 'delivered', occurred_at: day(1) });
    const command = { ...story.context(), type: 'RecordMilestone', shipment_id: 'shp_x', milestone } as const;
    expect(refusal(() => story.run(command)).code).toBe('not_found');
  });

  it('beyond 5,000 milestones it is refused, but a duplicate is found and a correction taken', () => {
    const story = voyage();
    const { state } = story;
    if (state === undefined) throw new Error('no state');
    const first = story.post('in_transit_checkpoint', day(1), { external_id: 'EV-1' }).milestone;
    const entry = { milestone: first, recorded: 1, written: 1 };
    story.state = { ...state, timeline: Array.from({ length: 5_000 }, () => entry) };
    expect(refusal(() => story.post('delivered', day(2)))).toMatchObject({
      code: 'limit_exceeded',
      details: [{ code: 'limit_exceeded' }],
    });
    expect(story.post('in_transit_checkpoint', day(1)).outcome).toBe('existing');
    expect(story.post('in_transit_checkpoint', day(1), { external_id: 'EV-1', note: 'x' }).outcome).toBe('corrected');
  });

  it('a code unusual for the mode is accepted with a warning', () => {
    const story = voyage();
    expect(warnings(story.post('flight_departed', day(2)))).toEqual(['code_unusual_for_mode']);
    expect(story.record.status).toBe('in_transit');
    expect(warnings(story.post('vessel_departed', day(2)))).toEqual([]);
    expect(warnings(story.post('delivered', day(20)))).toEqual([]);
  });

  it.each([
    ['courier', 'border_crossed'],
    ['courier', 'flight_departed'],
    ['multimodal', 'flight_departed'],
    ['road', 'border_crossed'],
    ['barge', 'vessel_departed'],
    ['rail', 'gated_in'],
    [null, 'rail_departed'],
  ] as const)('by %s %s is usual', (mode, code) => {
    expect(warnings(shipment({ mode }).post(code, day(2)))).toEqual([]);
  });
});

describe('duplicates', () => {
  const arrival = { location: 'USLAX', source: 'carrier', container_number: A } as const;

  it('the same code, time, container, location and source is the one that exists', () => {
    const story = voyage({ container_numbers: [A] });
    const first = story.post('vessel_arrived', day(20), arrival);
    const second = story.post('vessel_arrived', day(20), {
      ...arrival,
      location: 'us lax',
      note: 'again',
      vessel: 'OTHER',
    });
    expect(second).toMatchObject({ outcome: 'existing', events: [], milestoneId: first.milestone.id });
    expect(second.milestone).toEqual(first.milestone);
  });

  it.each([
    ['code', () => ['discharged', day(20), arrival] as const],
    ['time', () => ['vessel_arrived', day(21), arrival] as const],
    ['container', () => ['vessel_arrived', day(20), { ...arrival, container_number: B }] as const],
    ['no container', () => ['vessel_arrived', day(20), { ...arrival, container_number: null }] as const],
    ['location', () => ['vessel_arrived', day(20), { ...arrival, location: 'Pier 400' }] as const],
    ['source', () => ['vessel_arrived', day(20), { ...arrival, source: 'terminal' }] as const],
  ])('another %s is another milestone', (_, other) => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('vessel_arrived', day(20), arrival);
    const [code, time, rest] = other();
    expect(story.post(code, time, rest).outcome).toBe('recorded');
  });

  it('an actual one at the estimated time is none', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20));
    expect(story.post('vessel_arrived', day(20), { source: 'carrier' }).outcome).toBe('recorded');
    expect(story.record.ata).toBe(day(20));
  });

  it('with the same external_id and nothing different it stays untouched', () => {
    const story = voyage();
    const first = story.post('vessel_arrived', day(20), { external_id: 'EV-1', note: 'x' });
    const second = story.post('vessel_arrived', day(20), { external_id: 'EV-1', note: 'x' });
    expect(second).toMatchObject({ outcome: 'existing', events: [], milestoneId: first.milestoneId });
    expect(second.milestone.revision).toBe(1);
  });

  it.each([
    ['with an external_id as one without', null, 'EV-1', 'existing'],
    ['without one as one with', 'EV-1', null, 'existing'],
    ['both without', null, null, 'existing'],
    ['under another external_id it is another milestone', 'EV-1', 'EV-2', 'recorded'],
  ] as const)('of the same content: %s', (_, first, second, outcome) => {
    const story = voyage({ container_numbers: [A] });
    const before = story.post('vessel_arrived', day(20), { ...arrival, external_id: first }).milestone;
    const again = story.post('vessel_arrived', day(20), { ...arrival, external_id: second, note: 'again' });
    expect(again.outcome).toBe(outcome);
    expect(again.milestoneId === before.id).toBe(outcome === 'existing');
    expect(story.state?.timeline).toHaveLength(outcome === 'existing' ? 1 : 2);
  });

  it('one without an external_id takes it, which is no correction and is announced to nobody', () => {
    const story = voyage();
    const first = story.post('vessel_arrived', day(20)).milestone;
    const again = story.post('vessel_arrived', day(20), { external_id: 'EV-1', note: 'again' });
    expect(again.milestone).toEqual({ ...first, external_id: 'EV-1' });
    expect(types(again)).toEqual(['milestone.corrected.v1']);
    expect(again.events.map((event) => announcementOf({ ...event, revision: 0 } as ShipmentEvent))).toEqual([
      undefined,
    ]);
    expect(story.post('vessel_arrived', day(20), { external_id: 'EV-1' })).toMatchObject({ events: [] });
    expect(story.post('vessel_arrived', day(21), { external_id: 'EV-1' })).toMatchObject({
      outcome: 'corrected',
      milestoneId: first.id,
      milestone: { revision: 2 },
    });
    expect(story.post('vessel_arrived', day(21), { external_id: 'EV-2' }).outcome).toBe('recorded');
  });

  it('of several of the same content the one that may be it', () => {
    const story = voyage();
    story.post('vessel_arrived', day(20), { external_id: 'EV-1' });
    story.post('vessel_arrived', day(20), { external_id: 'EV-2' });
    expect(story.post('vessel_arrived', day(20), { external_id: 'EV-3' }).outcome).toBe('recorded');
    expect(story.post('vessel_arrived', day(20)).outcome).toBe('existing');
    expect(story.state?.timeline).toHaveLength(3);
  });

  it('a superseded estimate takes it and stays superseded', () => {
    const story = voyage();
    const first = story.estimate('vessel_arrived', day(20)).milestone;
    story.estimate('vessel_arrived', day(22));
    const again = story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' });
    expect(again).toMatchObject({ outcome: 'existing', milestoneId: first.id });
    expect(again.milestone.superseded_at).not.toBeNull();
    expect(story.record.eta).toBe(day(22));
  });

  it('the external_id goes before the content', () => {
    const story = voyage();
    const first = story.post('vessel_arrived', day(20), { external_id: 'EV-1' });
    const other = story.post('vessel_arrived', day(21), { external_id: 'EV-2' });
    const again = story.post('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(again).toMatchObject({ outcome: 'corrected', milestoneId: first.milestoneId });
    expect(other.milestoneId).not.toBe(first.milestoneId);
  });
});

describe('correction by external_id', () => {
  it('keeps the id, counts the revision up, and says what it was', () => {
    const story = voyage();
    const first = story.post('vessel_arrived', day(20), { external_id: 'EV-1' }).milestone;
    const decision = story.post('vessel_arrived', day(21), { external_id: 'EV-1', location: 'USLAX' });
    expect(decision.outcome).toBe('corrected');
    expect(decision.milestone).toEqual({
      ...first,
      occurred_at: day(21),
      location: 'USLAX',
      timezone: 'America/Los_Angeles',
      revision: 2,
    });
    expect(types(decision)).toEqual(['milestone.corrected.v1', 'shipment.changed.v1']);
    expect(dataOf(decision, 'milestone.corrected.v1')?.previous).toEqual(first);
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      milestone: { from: first, to: decision.milestone },
      ata: { from: day(20), to: day(21) },
    });
    expect(story.record).not.toHaveProperty('milestone');
    expect(story.state?.timeline).toHaveLength(1);
  });

  it('is announced also when nothing else of the shipment moves', () => {
    const story = voyage();
    story.post('gated_in', day(1), { external_id: 'EV-1' });
    const decision = story.post('gated_in', day(1), { external_id: 'EV-1', note: 'gate 4' });
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).toEqual({
      milestone: { from: expect.objectContaining({ note: null }), to: expect.objectContaining({ note: 'gate 4' }) },
    });
  });

  it('that of an estimate is announced only by what it moves', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' });
    const moved = story.estimate('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(Object.keys(dataOf(moved, 'shipment.changed.v1')?.changes ?? {})).toEqual(['eta', 'legs']);
    const noted = story.estimate('vessel_arrived', day(21), { external_id: 'EV-1', note: 'x' });
    expect(types(noted)).toEqual(['milestone.corrected.v1']);
  });

  it('makes an actual one of an estimate', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' });
    const decision = story.post('vessel_arrived', day(21), { external_id: 'EV-1', source: 'carrier' });
    expect(decision.outcome).toBe('corrected');
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).not.toHaveProperty('milestone');
    expect(story.record).toMatchObject({ status: 'arrived', ata: day(21) });
  });

  it('moves the status back when the corrected one no longer carries it', () => {
    const story = voyage();
    story.post('vessel_departed', day(2), { external_id: 'EV-1' });
    story.post('delivered', day(20), { external_id: 'EV-2' });
    expect(story.record.status).toBe('delivered');
    story.post('gated_out', day(20), { external_id: 'EV-2' });
    expect(story.record.status).toBe('out_for_delivery');
    expect(story.record.last_milestone?.code).toBe('gated_out');
  });

  it('keeps the timeline in order', () => {
    const story = voyage();
    story.post('gated_in', day(3), { external_id: 'EV-1' });
    story.post('vessel_departed', day(4));
    story.post('gated_in', day(5), { external_id: 'EV-1' });
    expect(story.state?.timeline.map(({ milestone }) => milestone.code)).toEqual(['vessel_departed', 'gated_in']);
    expect(story.record.last_milestone?.code).toBe('gated_in');
  });
});

describe('the newest estimate for a code, container, location and source is the current one', () => {
  const superseded = (story: Story) =>
    story.state?.timeline
      .filter(({ milestone }) => milestone.superseded_at !== null)
      .map(({ milestone }) => milestone.id);

  it('older ones get superseded_at', () => {
    const story = voyage();
    const first = story.estimate('vessel_arrived', day(20), { location: 'USLAX' }).milestone;
    const decision = story.estimate('vessel_arrived', day(22), { location: 'USLAX' });
    expect(dataOf(decision, 'milestone.recorded.v1')?.supersedes).toEqual([first.id]);
    expect(superseded(story)).toEqual([first.id]);
    story.estimate('vessel_arrived', day(21), { location: 'USLAX' });
    expect(superseded(story)).toEqual([first.id, decision.milestone.id]);
    expect(story.state?.timeline.find(({ milestone }) => milestone.id === first.id)?.milestone.superseded_at).toBe(
      '2026-06-01T00:03:00.000Z',
    );
  });

  it.each([
    { location: 'USNYC' },
    { location: 'USLAX', source: 'ais' as const },
    { location: 'USLAX', container_number: A },
    { location: 'USLAX', classifier: 'planned' as const },
    { location: 'USLAX', classifier: 'actual' as const },
  ])('another series is left alone: %j', (rest) => {
    const story = voyage({ container_numbers: [A] });
    story.estimate('vessel_arrived', day(20), { location: 'USLAX' });
    story.estimate('vessel_arrived', day(22), rest);
    expect(superseded(story)).toEqual([]);
  });

  it('planned and actual ones are never superseded', () => {
    const story = voyage();
    story.post('vessel_arrived', day(20), { classifier: 'planned' });
    story.post('vessel_arrived', day(21), { classifier: 'planned' });
    story.post('vessel_arrived', day(22));
    story.post('vessel_arrived', day(23));
    expect(superseded(story)).toEqual([]);
  });

  it('a person who comes back to an earlier estimate makes it the current one again', () => {
    const manual = { source: 'manual' } as const;
    const story = voyage();
    story.estimate('vessel_arrived', day(20), manual);
    story.estimate('vessel_arrived', day(22), manual);
    expect(story.estimate('vessel_arrived', day(20), manual).outcome).toBe('recorded');
    expect(story.record.eta).toBe(day(20));
    expect(story.estimate('vessel_arrived', day(20), manual).outcome).toBe('existing');
  });

  it('a feed that resends all it knows moves nothing', () => {
    const story = voyage();
    for (let poll = 0; poll < 3; poll++) {
      story.estimate('vessel_arrived', day(20));
      story.estimate('vessel_arrived', day(22));
    }
    expect(story.state?.timeline).toHaveLength(2);
    expect(story.record.eta).toBe(day(22));
  });

  it('a correction out of its series brings back the one before', () => {
    const story = voyage();
    const first = story.estimate('vessel_arrived', day(20), { location: 'USLAX' }).milestone;
    story.estimate('vessel_arrived', day(22), { location: 'USLAX', external_id: 'EV-1' });
    const decision = story.estimate('vessel_arrived', day(22), { location: 'USNYC', external_id: 'EV-1' });
    expect(dataOf(decision, 'milestone.corrected.v1')).toMatchObject({ restores: [first.id], supersedes: [] });
    expect(superseded(story)).toEqual([]);
    expect(story.record.eta).toBe(day(20));
  });

  it('the newest of those before', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20));
    const second = story.estimate('vessel_arrived', day(18)).milestone;
    story.estimate('vessel_arrived', day(19), { external_id: 'EV-1' });
    const away = story.estimate('vessel_arrived', day(19), { external_id: 'EV-1', source: 'ais' });
    expect(dataOf(away, 'milestone.corrected.v1')?.restores).toEqual([second.id]);
  });

  it('but none if it was not the current one itself', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20));
    story.estimate('vessel_arrived', day(21), { external_id: 'EV-1' });
    const current = story.estimate('vessel_arrived', day(22)).milestone;
    const away = story.estimate('vessel_arrived', day(21), { external_id: 'EV-1', source: 'ais' });
    expect(dataOf(away, 'milestone.corrected.v1')?.restores).toEqual([]);
    expect(superseded(story)).not.toContain(current.id);
  });

  it('a corrected one does not supersede itself', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' });
    const decision = story.estimate('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(dataOf(decision, 'milestone.corrected.v1')).toMatchObject({ supersedes: [], restores: [] });
  });

  it('a superseded one that is corrected is the newest again', () => {
    const story = voyage();
    const first = story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' }).milestone;
    const second = story.estimate('vessel_arrived', day(22), { external_id: 'EV-2' }).milestone;
    story.estimate('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(superseded(story)).toEqual([second.id]);
    expect(story.record.eta).toBe(day(21));
    expect(first.id).not.toBe(second.id);
  });
});
