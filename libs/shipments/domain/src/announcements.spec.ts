import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject, PublishedEvent } from '@tracking/contracts';
import { A, B, type Story, day, shipment, voyage } from '../test/story.ts';
import {
  type EventMetadata,
  type ShipmentEvent,
  type ShipmentState,
  announcementOf,
  evolve,
  publicEvent,
  upcast,
} from './index.ts';

const APP = 'https://app.example.com';

/** The public events of a stream, in its order; stored events count as their ids. */
function announced(events: readonly ShipmentEvent[]): PublishedEvent[] {
  let state: ShipmentState | undefined;
  return events.flatMap((event) => {
    state = evolve(state, event);
    return publicEvent(String(event.revision), event, state, APP) ?? [];
  });
}

/** What the last command of the story announces. */
function told(story: Story): PublishedEvent[] {
  const last = story.events.at(-1)?.metadata.command_id;
  const own = story.events
    .filter(({ metadata }) => metadata.command_id === last)
    .map(({ revision }) => `evt_${revision}`);
  return announced(story.events).filter(({ id }) => own.includes(id));
}
const typesTold = (story: Story) => told(story).map(({ type }) => type);

describe('what is announced', () => {
  it('a new shipment', () => {
    const story = voyage({ container_numbers: [A] });
    expect(told(story)).toEqual([
      {
        id: 'evt_0',
        type: 'shipment.created',
        created_at: '2026-06-01T00:01:00.000Z',
        environment: 'test',
        workspace_id: 'wsp_1',
        data: {
          shipment_id: story.record.id,
          external_id: 'PO-1',
          shipment_version: 1,
          shipment: { ...story.record, url: `${APP}/shipments/${story.record.id}` },
        },
      },
    ]);
  });

  it('a real difference made by a client, and nothing else of an upsert', () => {
    const story = voyage({ eta: day(20) });
    story.upsert({ house_bill: 'HB-1', eta: day(22) });
    const [updated, ...others] = told(story);
    expect(others.filter(({ type }) => !type.startsWith('exception.'))).toEqual([]);
    expect(updated).toMatchObject({
      type: 'shipment.updated',
      data: {
        shipment_id: story.record.id,
        external_id: 'PO-1',
        shipment: { house_bill: 'HB-1', eta: day(22), url: `${APP}/shipments/${story.record.id}` },
        changes: { house_bill: { from: null, to: 'HB-1' }, eta: { from: day(20), to: day(22) } },
      },
    });
    const before = story.events.length;
    story.upsert({ house_bill: 'HB-1' });
    expect(story.events).toHaveLength(before);
  });

  it('nothing of what an upsert only remembers', () => {
    const story = voyage({ eta: day(20) });
    story.estimate('vessel_arrived', day(25), { location: 'USLAX' });
    story.upsert({ eta: day(25) });
    expect(story.events.at(-1)?.type).toBe('shipment.updated.v1');
    expect(told(story)).toEqual([]);
  });

  it('an actual milestone, and the shipment where it moved', () => {
    const story = voyage();
    const { milestone } = story.post('vessel_departed', day(2), { location: 'CNSHA', source: 'carrier' });
    const [recorded, updated] = told(story);
    expect(recorded).toMatchObject({ type: 'milestone.recorded', created_at: '2026-06-01T00:02:00.000Z' });
    expect(recorded?.data).toEqual({
      shipment_id: story.record.id,
      external_id: 'PO-1',
      shipment_version: 2,
      milestone,
    });
    expect(milestone).toMatchObject({
      code: 'vessel_departed',
      occurred_at: day(2),
      location: 'CNSHA',
      source: 'carrier',
    });
    expect(updated).toMatchObject({
      type: 'shipment.updated',
      data: { shipment_version: 3, changes: { status: { from: 'pending', to: 'in_transit' } } },
    });
    story.post('in_transit_checkpoint', day(3));
    expect(typesTold(story)).toEqual(['milestone.recorded']);
  });

  it.each(['estimated', 'planned'] as const)('not an %s milestone', (classifier) => {
    const story = voyage();
    story.post('gated_in', day(2), { classifier });
    expect(story.events.at(-1)?.type).toBe('milestone.recorded.v1');
    expect(told(story)).toEqual([]);
  });

  it('the ETA that an estimate moves', () => {
    const story = voyage({ eta: day(20) });
    story.estimate('vessel_arrived', day(20, 18));
    expect(told(story)).toMatchObject([
      { type: 'shipment.updated', data: { changes: { eta: { from: day(20), to: day(20, 18) } } } },
    ]);
  });

  it('an estimate that becomes actual, as a milestone and not as a correction', () => {
    const story = voyage();
    story.estimate('vessel_departed', day(2), { external_id: 'EV-1' });
    const { milestone } = story.post('vessel_departed', day(3), { external_id: 'EV-1', source: 'carrier' });
    expect(story.events.map(({ type }) => type)).toContain('milestone.corrected.v1');
    const [recorded, updated] = told(story);
    expect(recorded).toMatchObject({ type: 'milestone.recorded', data: { milestone: { ...milestone } } });
    expect(updated?.type).toBe('shipment.updated');
    expect(updated?.data['changes']).not.toHaveProperty('milestone');
  });

  it.each([
    ['time', { occurred_at: day(3) }],
    ['classifier', { classifier: 'estimated' }],
  ] as const)('a corrected %s of an actual milestone, as a change of the shipment alone', (_, fields) => {
    const story = voyage();
    const sent = { external_id: 'EV-1', source: 'carrier' } as const;
    const { milestone: from } = story.post('vessel_departed', day(2), sent);
    const { milestone: to } = story.post('vessel_departed', day(2), { ...sent, ...fields });
    expect(told(story)).toMatchObject([
      { type: 'shipment.updated', data: { changes: { milestone: { from: { ...from }, to: { ...to } } } } },
    ]);
  });

  it('not the correction of an estimate that stays one', () => {
    const story = voyage();
    story.estimate('gated_in', day(2), { external_id: 'EV-1' });
    story.estimate('gated_in', day(3), { external_id: 'EV-1' });
    expect(story.events.at(-1)?.type).toBe('milestone.corrected.v1');
    expect(told(story)).toEqual([]);
  });

  it('an exception opened and resolved', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('customs_hold', day(5), { container_number: A });
    const opened = story.state?.exceptions[0];
    expect(typesTold(story)).toEqual(['milestone.recorded', 'exception.opened']);
    expect(told(story)[1]?.data).toEqual({
      shipment_id: story.record.id,
      external_id: 'PO-1',
      shipment_version: story.record.version,
      exception: opened,
    });
    story.post('import_customs_cleared', day(6), { container_number: A });
    expect(typesTold(story)).toEqual(['milestone.recorded', 'exception.resolved']);
    expect(told(story)[1]?.data['exception']).toMatchObject({ status: 'resolved', id: opened?.id });
  });

  it('a cancellation, with what it resolves', () => {
    const story = voyage();
    story.post('customs_hold', day(5));
    story.post('booking_cancelled', day(6));
    expect(typesTold(story)).toEqual(['milestone.recorded', 'shipment.updated', 'exception.resolved']);
  });

  it('whatever the shipment lacks, null', () => {
    const story = shipment({ external_id: null, house_bill: 'HB-1' });
    expect(told(story)[0]?.data).toMatchObject({ external_id: null, shipment: { external_id: null, eta: null } });
  });

  it('at most one public event for a stored one, by its id, as told without the shipment too', () => {
    const story = voyage({ container_numbers: [A] });
    story.post('customs_hold', day(5));
    story.estimate('vessel_arrived', day(21));
    story.post('delivered', day(20));
    const expected = story.events.flatMap((event) => {
      const announcement = announcementOf(event);
      return announcement === undefined ? [] : [[`evt_${event.revision}`, announcement.type]];
    });
    expect(announced(story.events).map(({ id, type }) => [id, type])).toEqual(expected);
  });
});

describe('golden file of public events', () => {
  // Lines are only ever added, for new versions of stored events: what was published is never published otherwise.
  it('stored events of every version are announced as the same bytes as ever', () => {
    const folder = new URL('./golden/', import.meta.url);
    const stored = readdirSync(folder)
      .filter((name) => name !== 'outcome.json')
      .flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as StoredEvent[])
      .sort((a, b) => a.revision - b.revision)
      .map(({ type, data, ...rest }) => ({ ...upcast(type, data), ...rest }));
    const lines = announced(stored).map((event) => JSON.stringify(event));
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
