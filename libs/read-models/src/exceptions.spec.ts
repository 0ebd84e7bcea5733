import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import {
  ACME_LIVE_SCOPE,
  createSampleException,
  createSampleMilestone,
  createShipmentEventForTest,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { type ExceptionReadModelRow, exceptionsReadModel } from './exceptions.ts';
import type { ProjectedEvent } from './read-model.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;

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

function fold(...events: readonly ProjectedEvent[]): readonly ExceptionReadModelRow[] {
  const rows = new Map<string, ExceptionReadModelRow>();
  for (const each of events)
    for (const row of exceptionsReadModel.applyEventToRows(each, (id) => rows.get(id))) rows.set(row.id, row);
  return [...rows.values()];
}

const hold = createSampleException(1, 'a');
const opened = event(1, 'exception.opened.v1', { exception: hold, open_exceptions_count: 1 });
const annsNow = { ...hold, status: 'acknowledged', assignee: 'ann', severity: 'critical' } as const;
const updated = event(2, 'exception.updated.v1', { exception: annsNow, previous: hold, note: null });
const by = { type: 'user', id: 'usr_1' } as const;
const resolution = { code: 'fixed', note: null, by } as const;
const over = { ...annsNow, status: 'resolved', resolution, resolved_at: '2026-03-03T00:00:00.000Z' } as const;
const { id: exception_id, resolved_at } = over;
const resolved = event(3, 'exception.resolved.v2', {
  exception_id,
  resolution,
  resolved_at,
  open_exceptions_count: 0,
});
const formerResolved = event(3, 'exception.resolved.v1', { exception: over, open_exceptions_count: 0 });

describe('rows of exceptions', () => {
  it('an opened exception has a row with its shipment and scope', () => {
    expect(fold(opened)).toEqual([
      {
        ...ACME_LIVE_SCOPE,
        id: hold.id,
        shipment_id: hold.shipment_id,
        exception: hold,
        revision: 1,
        status: 'open',
        type: 'customs_hold',
        severity: 'high',
        assignee: '',
        opened_at: hold.opened_at,
      },
    ]);
  });

  it('changes update the row', () => {
    const annsRow = { status: 'acknowledged', assignee: 'ann', severity: 'critical', exception: annsNow, revision: 2 };
    expect(fold(opened, updated)).toEqual([expect.objectContaining(annsRow)]);
    const resolvedRow = { ...annsRow, status: 'resolved', exception: over, revision: 3 };
    expect(fold(opened, updated, resolved)).toEqual([expect.objectContaining(resolvedRow)]);
    expect(fold(opened, updated, formerResolved)).toEqual([expect.objectContaining(resolvedRow)]);
  });

  it('a repeated resolution writes nothing', () => {
    const [row] = fold(opened, updated, resolved);
    expect(exceptionsReadModel.listRowIdsNeededToProjectEvent?.(resolved)).toEqual([hold.id]);
    expect(exceptionsReadModel.applyEventToRows(resolved, () => row)).toEqual([]);
  });

  it('resolving an exception that was never opened is refused', () => {
    expect(() => fold(resolved)).toThrow('was never opened');
  });

  it('another exception has its own row', () => {
    const other = event(4, 'exception.opened.v1', {
      exception: createSampleException(1, 'b'),
      open_exceptions_count: 1,
    });
    expect(fold(opened, resolved, other).map(({ exception: { id, status } }) => [id, status])).toEqual([
      [hold.id, 'resolved'],
      [createSampleException(1, 'b').id, 'open'],
    ]);
  });

  it('an event about no exception writes nothing', () => {
    const recorded = { milestone: createSampleMilestone(1, 'a'), supersedes: [], last: { containers: [] } };
    expect(fold(event(1, 'milestone.recorded.v1', recorded))).toEqual([]);
    expect(fold(event(1, 'exception.conditions_ended.v1', { exception_ids: [hold.id] }))).toEqual([]);
  });

  it('a stream that does not begin with a shipment is refused', () => {
    expect(() => fold({ ...opened, scope: undefined })).toThrow('does not begin with a shipment');
  });
});
