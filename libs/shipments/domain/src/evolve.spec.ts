import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  type ShipmentScenario,
  createTimeInJanuary2026,
  addEventMetadata,
  createOceanShipmentScenario,
} from '../test/scenario.ts';
import type { ShipmentEvent } from './events/stored-events.ts';
import {
  applyEventToState,
  evolveShipmentRecord,
  findMilestone,
  fold,
  readTimelineChangesOfEvent,
  findRevisionAppendedByCommand,
} from './index.ts';

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

function busy(): ShipmentScenario {
  const scenario = createOceanShipmentScenario({
    container_numbers: [CONTAINER_A, CONTAINER_B],
    eta: createTimeInJanuary2026(20),
  });
  scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
  scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
  scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22));
  scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23), { external_id: 'EV-1' });
  scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5), { container_number: CONTAINER_A });
  scenario.upsertShipment({ container_numbers: [CONTAINER_B, CONTAINER_C], eta: createTimeInJanuary2026(30) });
  scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
  scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(30));
  return scenario;
}

describe('evolve', () => {
  it('is pure: changes neither state nor event', () => {
    const scenario = busy();
    let state = freeze(applyEventToState(undefined, freeze(scenario.events[0] as ShipmentEvent)));
    for (const event of scenario.events.slice(1)) state = freeze(applyEventToState(state, freeze(event)));
    expect(state).toEqual(scenario.state);
  });

  it('can continue one state in two ways', () => {
    const scenario = createOceanShipmentScenario();
    const { state } = scenario;
    const [one, other] = ['vessel_departed', 'gated_in'].map((code) => {
      scenario.state = state;
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(2));
      return scenario.state;
    });
    expect(one?.timeline.map(({ milestone }) => milestone.code)).toEqual(['vessel_departed']);
    expect(other?.timeline.map(({ milestone }) => milestone.code)).toEqual(['gated_in']);
    expect(state?.timeline).toEqual([]);
    expect(state?.commands).toHaveLength(1);
  });

  it('only copies: data of an event counts even if it contradicts other data', () => {
    const scenario = createOceanShipmentScenario();
    const [changed] = addEventMetadata(
      { ...scenario.createCommandContext(), type: 'UpsertShipment', shipment_id: 'shp_x', fields: {} },
      [{ type: 'shipment.changed.v1', data: { changes: { status: { from: 'pending', to: 'delivered' } } } }],
      1,
    );
    expect(applyEventToState(scenario.state, changed as ShipmentEvent).record.status).toBe('delivered');
  });

  it('sets missing fields of an old shipment to empty values', () => {
    const [created] = createOceanShipmentScenario().events;
    if (created?.type !== 'shipment.created.v1') throw new Error('it begins with something else');
    const { legs: _, metadata: __, ...shipment } = created.data.shipment;
    const former = { ...created, data: { ...created.data, shipment: shipment as typeof created.data.shipment } };
    expect(applyEventToState(undefined, former).record).toEqual({ ...created.data.shipment, legs: [], metadata: null });
  });

  it('refuses a stream that does not begin with the creation', () => {
    const scenario = busy();
    expect(() => fold(scenario.events.slice(1))).toThrow('does not create a shipment');
    expect(() => evolveShipmentRecord(undefined, scenario.events[1] as ShipmentEvent)).toThrow(
      'does not create a shipment',
    );
  });
});

describe('fold', () => {
  it('equals repeated evolve, also from a later state', () => {
    const scenario = busy();
    expect(fold(scenario.events)).toEqual(scenario.state);
    for (let middle = 1; middle < scenario.events.length; middle++) {
      const before = freeze(fold(scenario.events.slice(0, middle)));
      expect(fold(scenario.events.slice(middle), before)).toEqual(scenario.state);
    }
    expect(fold([])).toBeUndefined();
    expect(fold([], scenario.state)).toEqual(scenario.state);
  });
});

describe('commands seen', () => {
  it('have the revision of their first event; commands without events are absent', () => {
    const scenario = createOceanShipmentScenario();
    const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5));
    const { state } = scenario;
    if (state === undefined) throw new Error('no state');
    expect([1, 2, 3, 4, 5].map((number) => findRevisionAppendedByCommand(state, id(number)))).toEqual([
      0,
      1,
      undefined,
      3,
      undefined,
    ]);
  });
});

describe('the timeline', () => {
  it('is sorted by occurred_at, catalog sequence, recorded_at', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('loaded_on_vessel', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { source: 'carrier' });
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
    expect(scenario.state?.timeline.map(({ milestone }) => `${milestone.code} ${milestone.source}`)).toEqual([
      'gated_in manual',
      'loaded_on_vessel manual',
      'vessel_departed manual',
      'vessel_departed carrier',
      'delivered manual',
    ]);
  });
});

describe('milestoneChanges', () => {
  it('add up to the timeline', () => {
    const scenario = busy();
    const rows = new Map<string, unknown>();
    for (const event of scenario.events) {
      const changes = readTimelineChangesOfEvent(event);
      if (changes === undefined) continue;
      if (changes.milestone !== null) {
        expect(rows.has(changes.milestone.id)).toBe(!changes.isNew);
        rows.set(changes.milestone.id, changes.milestone);
      }
      for (const id of changes.superseded) rows.set(id, { ...(rows.get(id) as object), superseded_at: changes.at });
      for (const id of changes.restored) rows.set(id, { ...(rows.get(id) as object), superseded_at: null });
    }
    const { state } = scenario;
    if (state === undefined) throw new Error('no state');
    expect(rows.size).toBe(state.timeline.length);
    for (const [id, row] of rows) expect(findMilestone(state, id)).toEqual(row);
  });
});
