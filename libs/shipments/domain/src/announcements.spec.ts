import { readFileSync, readdirSync } from 'node:fs';
import { API_VERSIONS, NEWEST_API_VERSION, PAYLOAD_VERSION_CONVERTER } from '@tracking/contracts';
import type { JsonObject, PublishedEvent } from '@tracking/contracts';
import { journeyPlacesStub } from '../test/journey-places.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  type ShipmentScenario,
  createTimeInJanuary2026,
  createShipmentScenario,
  createOceanShipmentScenario,
} from '../test/scenario.ts';
import {
  type EventMetadata,
  type ShipmentEvent,
  type ShipmentState,
  findPublicEventOfStoredEvent,
  applyEventToState,
  toPublicEvent,
  upcastEventBody,
} from './index.ts';

const ADDRESSES = { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' };

/** Returns the public events of a stream in order. The ids of stored events are numbers. */
function announced(events: readonly ShipmentEvent[]): PublishedEvent[] {
  let state: ShipmentState | undefined;
  return events.flatMap((event) => {
    state = applyEventToState(state, event);
    return toPublicEvent(String(event.revision), event, state, ADDRESSES) ?? [];
  });
}

/** Returns the announcements of the scenario's last command. */
function announcedLast(scenario: ShipmentScenario): PublishedEvent[] {
  const last = scenario.events.at(-1)?.metadata.command_id;
  const own = scenario.events
    .filter(({ metadata }) => metadata.command_id === last)
    .map(({ revision }) => `evt_${revision}`);
  return announced(scenario.events).filter(({ id }) => own.includes(id));
}
const typesAnnounced = (scenario: ShipmentScenario) => announcedLast(scenario).map(({ type }) => type);

describe('announcements', () => {
  it('announce a new shipment', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    expect(announcedLast(scenario)).toEqual([
      {
        id: 'evt_0',
        type: 'shipment.created',
        created_at: '2026-06-01T00:01:00.000Z',
        api_version: '2026-11-01',
        environment: 'test',
        workspace_id: 'wsp_1',
        data: {
          shipment_id: scenario.record.id,
          external_id: 'PO-1',
          shipment_version: 1,
          shipment: { ...scenario.record, url: `${ADDRESSES.appUrl}/shipments/${scenario.record.id}` },
        },
      },
    ]);
  });

  it('announce once the status that a check changes because the rules of places differ', () => {
    const scenario = createOceanShipmentScenario();
    // The earlier rules do not know the place, so the milestone counts as the arrival at the destination.
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10), { location: 'Norfolk' });
    expect(scenario.record.status).toBe('arrived');
    scenario.places = journeyPlacesStub;
    expect(scenario.checkRules().outcome).toBe('checked');
    const [updated, ...others] = announcedLast(scenario).filter(({ type }) => type === 'shipment.updated');
    expect(others).toEqual([]);
    expect(updated?.data).toMatchObject({
      changes: { status: { from: 'arrived', to: 'in_transit' }, ata: { from: createTimeInJanuary2026(10), to: null } },
      shipment: { status: 'in_transit' },
    });
    const before = scenario.events.length;
    expect(scenario.checkRules().outcome).toBe('unchanged');
    expect(scenario.events).toHaveLength(before);
  });

  it('announce the actual changes of an upsert and nothing else', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.upsertShipment({ house_bill: 'HB-1', eta: createTimeInJanuary2026(22) });
    const [updated, ...others] = announcedLast(scenario);
    expect(others.filter(({ type }) => !type.startsWith('exception.'))).toEqual([]);
    expect(updated).toMatchObject({
      type: 'shipment.updated',
      data: {
        shipment_id: scenario.record.id,
        external_id: 'PO-1',
        shipment: {
          house_bill: 'HB-1',
          eta: createTimeInJanuary2026(22),
          url: `${ADDRESSES.appUrl}/shipments/${scenario.record.id}`,
        },
        changes: {
          house_bill: { from: null, to: 'HB-1' },
          eta: { from: createTimeInJanuary2026(20), to: createTimeInJanuary2026(22) },
        },
      },
    });
    const before = scenario.events.length;
    scenario.upsertShipment({ house_bill: 'HB-1' });
    expect(scenario.events).toHaveLength(before);
  });

  it('do not announce what an upsert only remembers', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25), { location: 'USLAX' });
    scenario.upsertShipment({ eta: createTimeInJanuary2026(25) });
    expect(scenario.events.at(-1)?.type).toBe('shipment.updated.v1');
    expect(announcedLast(scenario)).toEqual([]);
  });

  it('announce an actual milestone, and the shipment if it changes', () => {
    const scenario = createOceanShipmentScenario();
    const { milestone } = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      location: 'CNSHA',
      source: 'carrier',
    });
    const [recorded, updated] = announcedLast(scenario);
    expect(recorded).toMatchObject({ type: 'milestone.recorded', created_at: '2026-06-01T00:02:00.000Z' });
    expect(recorded?.data).toEqual({
      shipment_id: scenario.record.id,
      external_id: 'PO-1',
      shipment_version: 2,
      milestone,
    });
    expect(milestone).toMatchObject({
      code: 'vessel_departed',
      occurred_at: createTimeInJanuary2026(2),
      location: 'CNSHA',
      source: 'carrier',
    });
    expect(updated).toMatchObject({
      type: 'shipment.updated',
      data: { shipment_version: 3, changes: { status: { from: 'pending', to: 'in_transit' } } },
    });
    scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(3));
    expect(typesAnnounced(scenario)).toEqual(['milestone.recorded']);
  });

  it.each(['estimated', 'planned'] as const)('do not announce an %s milestone', (classifier) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), { classifier });
    expect(scenario.events.at(-1)?.type).toBe('milestone.recorded.v1');
    expect(announcedLast(scenario)).toEqual([]);
  });

  it('announce the ETA that an estimate changes', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20, 18));
    expect(announcedLast(scenario)).toMatchObject([
      {
        type: 'shipment.updated',
        data: { changes: { eta: { from: createTimeInJanuary2026(20), to: createTimeInJanuary2026(20, 18) } } },
      },
    ]);
  });

  it('announce an estimate that becomes actual as a milestone, not as a correction', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2), { external_id: 'EV-1' });
    const { milestone } = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3), {
      external_id: 'EV-1',
      source: 'carrier',
    });
    expect(scenario.events.map(({ type }) => type)).toContain('milestone.corrected.v1');
    const [recorded, updated] = announcedLast(scenario);
    expect(recorded).toMatchObject({ type: 'milestone.recorded', data: { milestone: { ...milestone } } });
    expect(updated?.type).toBe('shipment.updated');
    expect(updated?.data['changes']).not.toHaveProperty('milestone');
  });

  it.each([
    ['time', { occurred_at: createTimeInJanuary2026(3) }],
    ['classifier', { classifier: 'estimated' }],
  ] as const)('announce a corrected %s of an actual milestone only as a change of the shipment', (_, fields) => {
    const scenario = createOceanShipmentScenario();
    const sent = { external_id: 'EV-1', source: 'carrier' } as const;
    const { milestone: from } = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), sent);
    const { milestone: to } = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      ...sent,
      ...fields,
    });
    expect(announcedLast(scenario)).toMatchObject([
      { type: 'shipment.updated', data: { changes: { milestone: { from: { ...from }, to: { ...to } } } } },
    ]);
  });

  it('do not announce the correction of an estimate', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('gated_in', createTimeInJanuary2026(2), { external_id: 'EV-1' });
    scenario.postEstimateInScenario('gated_in', createTimeInJanuary2026(3), { external_id: 'EV-1' });
    expect(scenario.events.at(-1)?.type).toBe('milestone.corrected.v1');
    expect(announcedLast(scenario)).toEqual([]);
  });

  it('announce an opened and a resolved exception', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5), { container_number: CONTAINER_A });
    const opened = scenario.state?.exceptions[0];
    expect(typesAnnounced(scenario)).toEqual(['milestone.recorded', 'exception.opened']);
    expect(announcedLast(scenario)[1]?.data).toEqual({
      shipment_id: scenario.record.id,
      external_id: 'PO-1',
      shipment_version: scenario.record.version,
      exception: opened,
    });
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(6), {
      container_number: CONTAINER_A,
    });
    expect(typesAnnounced(scenario)).toEqual(['milestone.recorded', 'exception.resolved']);
    expect(announcedLast(scenario)[1]?.data['exception']).toMatchObject({ status: 'resolved', id: opened?.id });
  });

  it('announce each acknowledgement of an exception, with its present state', () => {
    const scenario = createOceanShipmentScenario();
    const { exception } = scenario.openException('lost');
    for (const said of [{ assignee: 'Kim' }, { note: 'Asked again.' }]) {
      const { exception: now } = scenario.acknowledgeException(exception, said);
      expect(typesAnnounced(scenario)).toEqual(['exception.updated']);
      expect(announcedLast(scenario)[0]?.data).toEqual({
        shipment_id: scenario.record.id,
        external_id: 'PO-1',
        shipment_version: scenario.record.version,
        exception: now,
      });
    }
  });

  it('announce a cancellation with the exceptions that it resolves', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(6));
    expect(typesAnnounced(scenario)).toEqual(['milestone.recorded', 'shipment.updated', 'exception.resolved']);
  });

  it('contain null for fields that the shipment lacks', () => {
    const scenario = createShipmentScenario({ external_id: null, house_bill: 'HB-1' });
    expect(announcedLast(scenario)[0]?.data).toMatchObject({
      external_id: null,
      shipment: { external_id: null, eta: null },
    });
  });

  it('contain at most one public event per stored event, with its id, also without the shipment', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(5));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    const expected = scenario.events.flatMap((event) => {
      const announcement = findPublicEventOfStoredEvent(event);
      return announcement === undefined ? [] : [[`evt_${event.revision}`, announcement.type]];
    });
    expect(announced(scenario.events).map(({ id, type }) => [id, type])).toEqual(expected);
  });
});

describe('golden file of public events', () => {
  // Only new lines may be added, for new versions of stored events, because published events never change.
  it('announces stored events of every version with unchanged bytes', () => {
    const folder = new URL('./golden/', import.meta.url);
    const stored = readdirSync(folder)
      .filter((name) => name !== 'outcome.json')
      .flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as StoredEvent[])
      .sort((a, b) => a.revision - b.revision)
      .map(({ type, data, ...rest }) => ({ ...upcastEventBody(type, data), ...rest }));
    const [first = NEWEST_API_VERSION] = API_VERSIONS;
    const lines = announced(stored).map(({ api_version, data, ...event }) => {
      expect(api_version).toBe(NEWEST_API_VERSION);
      return JSON.stringify({
        ...event,
        data: PAYLOAD_VERSION_CONVERTER.downgradeEventData({ api_version, ...event, data }, first),
      });
    });
    expect(lines).toEqual(
      readFileSync(new URL('../test/announced.jsonl', import.meta.url), 'utf8')
        .trim()
        .split('\n'),
    );
  });
});

interface StoredEvent {
  readonly revision: number;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}
