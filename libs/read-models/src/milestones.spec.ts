import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import {
  ACME_LIVE_SCOPE,
  createSampleMilestone,
  createShipmentEventForTest,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { milestonesReadModel } from './milestones.ts';
import type { ProjectedEvent } from './read-model.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;
const last = { containers: [] };

function event(revision: number, type: string, data: object): ProjectedEvent {
  const stored = { ...createShipmentEventForTest({ type, data }), stream, revision, position: String(revision) };
  return {
    id: stored.id,
    stream,
    position: stored.position,
    scope: ACME_LIVE_SCOPE,
    event: upcastStoredShipmentEvent(stored),
  };
}
const estimate = (id: string) => createSampleMilestone(1, id, { classifier: 'estimated' });
const first = event(1, 'milestone.recorded.v1', { milestone: estimate('a'), supersedes: [], last });
const second = event(2, 'milestone.recorded.v1', { milestone: estimate('b'), supersedes: [estimate('a').id], last });

type Row = ReturnType<typeof milestonesReadModel.applyEventToRows>[number];

function fold(...events: readonly ProjectedEvent[]): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const each of events)
    for (const row of milestonesReadModel.applyEventToRows(each, (id) => rows.get(id))) rows.set(row.id, row);
  return rows;
}

describe('rows of milestones', () => {
  it('a milestone has a row with its shipment and scope', () => {
    expect([...fold(first).values()]).toEqual([
      expect.objectContaining({
        ...ACME_LIVE_SCOPE,
        shipment_id: `shp_${createNthTestShipmentToken(1)}`,
        revision: 1,
        superseded: false,
        retracted: false,
      }),
    ]);
  });

  it('a newer estimate supersedes the older one', () => {
    expect(milestonesReadModel.listRowIdsNeededToProjectEvent?.(second)).toEqual([estimate('a').id]);
    const rows = fold(first, second);
    expect(rows.get(estimate('a').id)).toMatchObject({
      superseded: true,
      revision: 2,
      milestone: { superseded_at: second.event.metadata.recorded_at },
    });
    expect(rows.get(estimate('b').id)).toMatchObject({ superseded: false, revision: 2 });
  });

  it('a correction that removes the newer estimate makes the older one current again', () => {
    const corrected = { ...estimate('b'), location: 'CNSHA', revision: 2 };
    const third = event(3, 'milestone.corrected.v1', {
      milestone: corrected,
      previous: estimate('b'),
      supersedes: [],
      restores: [estimate('a').id],
      last,
    });
    const rows = fold(first, second, third);
    expect(rows.get(estimate('a').id)).toMatchObject({ superseded: false, milestone: { superseded_at: null } });
    expect(rows.get(estimate('b').id)).toMatchObject({ milestone: corrected });
  });

  it('a retracted milestone keeps its row, marked as retracted, and the earlier estimate is current again', () => {
    const retracted = { ...estimate('b'), retracted_at: '2026-03-03T00:00:00.000Z', revision: 2 };
    const data = { milestone: retracted, restores: [estimate('a').id], last };
    const rows = fold(first, second, event(3, 'milestone.retracted.v1', data));
    expect(rows.get(estimate('a').id)).toMatchObject({ superseded: false, retracted: false, revision: 3 });
    expect(rows.get(estimate('b').id)).toMatchObject({ retracted: true, milestone: retracted });
  });

  it('an estimate that is no longer kept has no row in lists, and repeated events do not store it again', () => {
    const data = { milestone: estimate('c'), supersedes: [estimate('b').id], last, drops: [estimate('a').id] };
    const third = event(3, 'milestone.recorded.v1', data);
    const rows = fold(first, second, third);
    expect(rows.get(estimate('a').id)).toEqual({
      ...ACME_LIVE_SCOPE,
      id: estimate('a').id,
      revision: 3,
      dropped: true,
    });
    const supersedesDropped = event(2, 'milestone.superseded.v1', { supersedes: [estimate('a').id], restores: [] });
    expect(milestonesReadModel.applyEventToRows(supersedesDropped, (id) => rows.get(id))).toEqual([]);
    const again = event(4, 'milestone.superseded.v1', { supersedes: [estimate('a').id], restores: [] });
    expect(milestonesReadModel.applyEventToRows(again, (id) => rows.get(id))).toEqual([]);
  });

  it('an estimate that is not kept from the start has no row in lists', () => {
    const late = { ...estimate('c'), superseded_at: '2026-03-03T00:00:00.000Z' };
    const third = event(3, 'milestone.recorded.v1', { milestone: late, supersedes: [], last, drops: [late.id] });
    const row = { ...ACME_LIVE_SCOPE, id: late.id, revision: 3, dropped: true };
    expect(milestonesReadModel.applyEventToRows(third, () => undefined)).toEqual([row]);
  });

  it('repeated events produce the same rows', () => {
    expect(fold(first, second, first, second)).toEqual(fold(first, second));
  });

  it('a row that reflects later events is not overwritten', () => {
    const later = fold(first, second);
    const answered = milestonesReadModel.applyEventToRows(second, (id) => later.get(id));
    expect(answered.map(({ id }) => id)).toEqual([estimate('b').id]);
  });

  it('an event whose milestone is missing is refused', () => {
    expect(() => fold(second)).toThrow('does not exist');
    expect(() => fold({ ...first, scope: undefined })).toThrow('does not begin with a shipment');
  });

  it('an event about no milestone writes nothing', () => {
    const changed = event(1, 'shipment.changed.v1', { changes: {} });
    expect(milestonesReadModel.listRowIdsNeededToProjectEvent?.(changed)).toEqual([]);
    expect(fold(changed).size).toBe(0);
  });
});
