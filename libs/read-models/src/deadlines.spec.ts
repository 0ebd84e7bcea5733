import type { ShipmentStatus } from '@tracking/contracts';
import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import {
  ACME_LIVE_SCOPE,
  createShipmentEventForTest,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { type NextRuleCheckRow, deadlinesReadModel } from './deadlines.ts';
import type { ProjectedEvent } from './read-model.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;
const id = `shp_${createNthTestShipmentToken(1)}`;
const MONDAY = '2026-03-02T08:00:00.000Z';
const TUESDAY = '2026-03-03T08:00:00.000Z';

function event(revision: number, next: string | null, body: { type: string; data: object }): ProjectedEvent {
  const stored = { ...createShipmentEventForTest(body, next), stream, revision, position: String(revision) };
  return {
    id: stored.id,
    stream,
    position: stored.position,
    scope: undefined,
    event: upcastStoredShipmentEvent(stored),
  };
}
const sent = { etd: null, eta: null, legs: [] };
const created = (next: string | null, status: ShipmentStatus = 'pending') =>
  event(0, next, {
    type: 'shipment.created.v1',
    data: { ...ACME_LIVE_SCOPE, shipment: createSampleShipmentRecord(1, { status }), sent },
  });
const updated = (revision: number, next: string | null, changes: object = {}) =>
  event(revision, next, { type: 'shipment.changed.v1', data: { changes } });
/** The event in the form that an import stores. */
function imported(each: ProjectedEvent): ProjectedEvent {
  return { ...each, event: { ...each.event, metadata: { ...each.event.metadata, imported: true } } };
}
const GOING_ON = { ended: false, has_open_exceptions: false, over: false };
const status = (from: ShipmentStatus, to: ShipmentStatus) => ({ status: { from, to } });

/** Rows stored after each event; undefined if nothing is written. */
function writes(...events: readonly ProjectedEvent[]): (NextRuleCheckRow | undefined)[] {
  let row: NextRuleCheckRow | undefined;
  return events.map((each) => {
    const [written] = deadlinesReadModel.applyEventToRows(each, () => row);
    row = written ?? row;
    return written;
  });
}

describe('rows of deadlines', () => {
  it('a new shipment has the time of its next check', () => {
    expect(writes(created(MONDAY))).toEqual([{ id, ...ACME_LIVE_SCOPE, due_at: MONDAY, ...GOING_ON, revision: 0 }]);
  });

  it('a shipment that only events can change has no due time', () => {
    const [row] = writes(created(null));
    expect(row).toEqual({ id, ...ACME_LIVE_SCOPE, ...GOING_ON, revision: 0 });
    expect(row).not.toHaveProperty('due_at');
  });

  it('imported events set no due time until an event is stored here', () => {
    const [first, second, third] = writes(
      imported(created(MONDAY)),
      imported(updated(1, TUESDAY)),
      updated(2, TUESDAY),
    );
    expect(first).toEqual({ id, ...ACME_LIVE_SCOPE, ...GOING_ON, revision: 0 });
    expect(second).toBeUndefined();
    expect(third).toMatchObject({ due_at: TUESDAY, revision: 2 });
  });

  it('an ended imported shipment with a pending check is not over until it is checked', () => {
    const waiting = [created(MONDAY), updated(1, MONDAY, status('pending', 'completed'))].map(imported);
    const [, second, third] = writes(...waiting, updated(2, TUESDAY));
    expect(second).toEqual({
      id,
      ...ACME_LIVE_SCOPE,
      ended: true,
      has_open_exceptions: false,
      over: false,
      revision: 1,
    });
    expect(third).toMatchObject({ due_at: TUESDAY, over: true });
    const [, done] = writes(...[created(null), updated(1, null, status('pending', 'completed'))].map(imported));
    expect(done?.over).toBe(true);
  });

  it('an event that does not change the due time writes nothing', () => {
    const [, second, third, fourth] = writes(
      created(MONDAY),
      updated(1, MONDAY),
      updated(2, MONDAY, status('pending', 'booked')),
      updated(3, TUESDAY),
    );
    expect([second, third]).toEqual([undefined, undefined]);
    expect(fourth).toMatchObject({ due_at: TUESDAY, revision: 3 });
  });

  it('the row follows a new due time and its removal', () => {
    const [, second, third] = writes(created(MONDAY), updated(1, TUESDAY), updated(2, null));
    expect(second?.due_at).toBe(TUESDAY);
    expect(third).toEqual({ id, ...ACME_LIVE_SCOPE, ...GOING_ON, revision: 2 });
  });

  it.each(['cancelled', 'completed', 'returned'] as const)('a shipment that is %s is over until that changes', (to) => {
    const [, second, third, fourth] = writes(
      created(MONDAY),
      updated(1, null, status('pending', to)),
      updated(2, null),
      updated(3, MONDAY, status(to, 'pending')),
    );
    expect(second).toEqual({
      id,
      ...ACME_LIVE_SCOPE,
      ended: true,
      has_open_exceptions: false,
      over: true,
      revision: 1,
    });
    expect(third).toBeUndefined();
    expect(fourth).toEqual({ id, ...ACME_LIVE_SCOPE, due_at: MONDAY, ...GOING_ON, revision: 3 });
  });

  it.each(['delivered', 'in_transit'] as const)('a shipment that is %s is not over', (to) => {
    expect(writes(created(MONDAY), updated(1, MONDAY, status('pending', to)))[1]).toBeUndefined();
  });

  it('an ended shipment with an open exception is over when the exception is resolved', () => {
    const exceptionOf = (revision: number, type: string, open_exceptions_count: number) =>
      event(revision, null, { type, data: { exception: { id: 'exc_1' }, open_exceptions_count } });
    const rows = writes(
      created(null),
      exceptionOf(1, 'exception.opened.v1', 1),
      exceptionOf(2, 'exception.opened.v1', 2),
      updated(3, null, status('pending', 'completed')),
      exceptionOf(4, 'exception.resolved.v2', 1),
      exceptionOf(5, 'exception.resolved.v2', 0),
    );
    expect(rows.map((row) => row && [row.ended, row.has_open_exceptions, row.over])).toEqual([
      [false, false, false],
      [false, true, false],
      undefined,
      [true, true, false],
      undefined,
      [true, false, true],
    ]);
  });

  it('a shipment that is over at creation has a row that says so', () => {
    expect(writes(created(null, 'completed'))).toMatchObject([{ over: true }]);
  });

  it('repeated events that changed nothing, or that later events replaced, write nothing', () => {
    const events = [created(MONDAY), updated(1, MONDAY), updated(2, TUESDAY), updated(3, TUESDAY)];
    expect(writes(...events, ...events).slice(4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(writes(...events, updated(3, TUESDAY)).at(-1)).toBeUndefined();
  });

  it('an event of a stream that does not begin with a shipment is refused', () => {
    expect(() => deadlinesReadModel.applyEventToRows(updated(1, MONDAY), () => undefined)).toThrow('has no shipment');
  });
});
