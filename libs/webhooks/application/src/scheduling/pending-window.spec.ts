import { createDelivery, requestExtraAttempt } from '@tracking/webhooks-domain';
import { type DeliveryDocument, convertToDeliveryDocument } from '../store/delivery-document.ts';
import { isQueuePositionAfter, createQueuePosition } from '../store/delivery-queues.ts';
import { PendingDeliveryWindow, toPendingDelivery } from './pending-window.ts';

const ROOM = 4;
const nobody = new Set<string>();

function delivery(n: number): DeliveryDocument {
  const at = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
  const scope = { workspace_id: 'wsp_1', environment: 'live' } as const;
  const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at };
  const id = `dlv_${String(n * 10).padStart(5, '0')}`;
  return convertToDeliveryDocument(
    createDelivery({ ...scope, ...event, id, endpoint_id: 'whe_1', payload_id: 'evt_1.v', sandbox: false }, at),
  );
}
const waiting = (n: number) => toPendingDelivery(delivery(n), 0);

/** Stored deliveries, as a refill would read them. */
class Disk {
  readonly stored = new Map<string, DeliveryDocument>();

  put(...numbers: readonly number[]): void {
    for (const n of numbers) this.stored.set(delivery(n).id, delivery(n));
  }

  fill(window: PendingDeliveryWindow, room = ROOM): void {
    while (window.needsStoredDeliveries(room)) this.answer(window, window.beginDeliveriesRefill(room));
  }

  answer(window: PendingDeliveryWindow, refill: ReturnType<PendingDeliveryWindow['beginDeliveriesRefill']>): void {
    const { after, limit } = refill;
    const all = [...this.stored.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const scheduled =
      after === undefined
        ? []
        : all.filter((one) => isQueuePositionAfter(createQueuePosition(one), after)).slice(0, limit);
    window.addRefilledPendingDeliveries(refill, { scheduled, express: [] }, nobody, 0);
  }
}

function drain(window: PendingDeliveryWindow): number[] {
  const all: number[] = [];
  for (
    let item = window.scheduled.takeFirstDelivery();
    item !== undefined;
    item = window.scheduled.takeFirstDelivery()
  ) {
    all.push(Number(item.id.slice(4)) / 10);
  }
  return all;
}
function drainWith(window: PendingDeliveryWindow, disk: Disk): number[] {
  const all: number[] = [];
  for (disk.fill(window); window.scheduled.size > 0; disk.fill(window)) {
    const item = window.scheduled.takeFirstDelivery();
    if (item === undefined) break;
    disk.stored.delete(item.id);
    all.push(Number(item.id.slice(4)) / 10);
  }
  return all;
}

describe('a pending window', () => {
  test('holds deliveries that were stored while it read later ones, even if those would fill it', () => {
    const disk = new Disk();
    disk.put(50, 60, 70, 80, 90);
    const window = new PendingDeliveryWindow(false);
    const refill = window.beginDeliveriesRefill(ROOM);
    const content = { scheduled: [50, 60, 70, 80].map(delivery), express: [] };
    disk.put(10);
    window.addDeliveryToWindow(waiting(10), ROOM);
    window.addRefilledPendingDeliveries(refill, content, nobody, 0);
    expect(window.needsStoredDeliveries(ROOM)).toBe(false);
    expect(drain(window)).toEqual([10, 50, 60, 70, 80]);
  });

  test('reads nothing for an endpoint that keeps up', () => {
    const window = new PendingDeliveryWindow(true);
    window.addDeliveryToWindow(waiting(2), ROOM);
    window.addDeliveryToWindow(waiting(1), ROOM);
    expect(window.needsStoredDeliveries(ROOM)).toBe(false);
    expect(drain(window)).toEqual([1, 2]);
    expect(window.isComplete).toBe(true);
  });

  test('holds no more deliveries than it has room for, and reads the rest later, in order', () => {
    const [window, disk] = [new PendingDeliveryWindow(true), new Disk()];
    for (let n = 0; n < 20; n += 1) {
      disk.put(n);
      window.addDeliveryToWindow(waiting(n), ROOM);
      expect(window.scheduled.size).toBeLessThanOrEqual(ROOM);
    }
    expect(drainWith(window, disk)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(window.isComplete).toBe(true);
  });

  test('replaces held deliveries by ones that are due earlier', () => {
    const [window, disk] = [new PendingDeliveryWindow(true), new Disk()];
    for (const n of [10, 11, 12, 13, 5, 6]) {
      disk.put(n);
      window.addDeliveryToWindow(waiting(n), ROOM);
    }
    expect(drainWith(window, disk)).toEqual([5, 6, 10, 11, 12, 13]);
  });

  test('reads everything from the beginning after a takeover', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(3, 1, 2, 9, 8, 7, 6);
    expect(drainWith(window, disk)).toEqual([1, 2, 3, 6, 7, 8, 9]);
  });

  test('reads a bounded number of deliveries at once, and continues while half of its room is free', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(...Array.from({ length: 2_000 }, (_, n) => n));
    const read: number[] = [];
    while (window.needsStoredDeliveries(1_000)) {
      const refill = window.beginDeliveriesRefill(1_000);
      read.push(refill.limit);
      disk.answer(window, refill);
    }
    expect(read).toEqual([256, 256]);
    expect(drain(window)).toEqual(Array.from({ length: 512 }, (_, n) => n));
  });

  test('misses no delivery that is stored while a page is being read', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(1);
    const refill = window.beginDeliveriesRefill(ROOM);
    const before = new Disk();
    before.put(1);
    disk.put(2);
    window.addDeliveryToWindow(waiting(2), ROOM);
    before.answer(window, refill);
    expect(drainWith(window, disk)).toEqual([1, 2]);
  });

  test('misses no delivery that is deferred past others while a page is being read', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(1, 2, 3);
    const refill = window.beginDeliveriesRefill(ROOM);
    // 1 was under way; it failed, was stored as due after 2, and is read so by this page or not.
    disk.stored.set(delivery(1).id, delivery(1));
    window.markDeliveryChangedDuringRefill(delivery(1).id);
    window.addDeliveryToWindow(waiting(2.5), ROOM);
    disk.answer(window, refill);
    disk.stored.delete(delivery(1).id);
    disk.put(2.5);
    expect(drainWith(window, disk)).toEqual([2, 2.5, 3]);
  });

  test('knows if the outcome of an attempt is older than a form that it left out during the attempt', () => {
    const window = new PendingDeliveryWindow(false);
    const [attempted, retried] = [delivery(1), requestExtraAttempt(delivery(1), '2026-01-02T00:00:00.000Z')];
    const read = { scheduled: [retried], express: [] };
    window.addRefilledPendingDeliveries(window.beginDeliveriesRefill(ROOM), read, new Set([attempted.id]), 0);
    expect(window.scheduled.size).toBe(0);
    expect([
      window.isNewestDeliveryRevision(attempted.id, attempted.revision),
      window.isNewestDeliveryRevision(attempted.id, 1),
    ]).toEqual([false, true]);
    window.skipDeliveryBeingAttempted(attempted);
    expect(window.isNewestDeliveryRevision(attempted.id, retried.revision)).toBe(true);
  });

  test('ignores deliveries of a page that an attempt has changed since', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(1, 2);
    const refill = window.beginDeliveriesRefill(ROOM);
    window.markDeliveryChangedDuringRefill(delivery(1).id);
    disk.answer(window, refill);
    expect(drain(window)).toEqual([2]);
  });

  test('ignores deliveries of a page that are being attempted', () => {
    const window = new PendingDeliveryWindow(false);
    const refill = window.beginDeliveriesRefill(ROOM);
    window.addRefilledPendingDeliveries(
      refill,
      { scheduled: [delivery(1), delivery(2)], express: [] },
      new Set([delivery(1).id]),
      0,
    );
    expect(drain(window)).toEqual([2]);
  });

  test('leaves a delivery that was stored during a read, and taken since, to its attempt', () => {
    const window = new PendingDeliveryWindow(false);
    const refill = window.beginDeliveriesRefill(ROOM);
    window.addDeliveryToWindow(waiting(1), ROOM);
    window.addRefilledPendingDeliveries(refill, { scheduled: [], express: [] }, new Set([delivery(1).id]), 0);
    expect([window.scheduled.size, window.isComplete]).toEqual([0, true]);
    expect(window.isNewestDeliveryRevision(delivery(1).id, delivery(1).revision + 1)).toBe(true);
  });

  test('drops a page that no longer continues the window', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(1, 2, 3);
    const refill = window.beginDeliveriesRefill(ROOM);
    window.removeAllPendingDeliveries();
    disk.answer(window, refill);
    expect(window.scheduled.size).toBe(0);
    expect(drainWith(window, disk)).toEqual([1, 2, 3]);
  });

  test('drops a page if the window was shortened meanwhile', () => {
    const [window, disk] = [new PendingDeliveryWindow(true), new Disk()];
    for (const n of [20, 21, 22, 23, 24]) {
      disk.put(n);
      window.addDeliveryToWindow(waiting(n), ROOM);
    }
    window.scheduled.takeFirstDelivery();
    window.scheduled.takeFirstDelivery();
    disk.stored.delete(delivery(20).id);
    disk.stored.delete(delivery(21).id);
    const refill = window.beginDeliveriesRefill(ROOM);
    for (const n of [1, 2, 3, 4]) {
      disk.put(n);
      window.addDeliveryToWindow(waiting(n), ROOM);
    }
    disk.answer(window, refill);
    expect(drainWith(window, disk)).toEqual([1, 2, 3, 4, 22, 23, 24]);
  });

  test('loses no delivery that was returned for later and is stored before those left on disk', () => {
    const [window, disk] = [new PendingDeliveryWindow(true), new Disk()];
    disk.put(1, 2, 3);
    const back = (n: number, due: number) => window.putDeliveryBack({ ...waiting(n), due: waiting(due).due });
    back(1, 10);
    back(2, 11);
    // Room for two: the last one stays on disk, where it comes first.
    window.addDeliveryToWindow(waiting(3), 2);
    expect(window.scheduled.size).toBe(2);
    expect(drainWith(window, disk).toSorted()).toEqual([1, 2, 3]);
  });

  test('reads no scheduled delivery without room, and all of them once there is room', () => {
    const [window, disk] = [new PendingDeliveryWindow(false), new Disk()];
    disk.put(1, 2);
    disk.fill(window, 0);
    expect(window.scheduled.size).toBe(0);
    expect(drainWith(window, disk)).toEqual([1, 2]);
  });

  test('misses no express delivery while a page is being read, however many there are', () => {
    const window = new PendingDeliveryWindow(false);
    const refill = window.beginDeliveriesRefill(ROOM);
    for (let n = 0; n < 150; n += 1)
      window.addDeliveryToWindow(
        toPendingDelivery(convertToDeliveryDocument(requestExtraAttempt(delivery(n), 'x')), 0),
        ROOM,
      );
    window.addRefilledPendingDeliveries(refill, { scheduled: [], express: [] }, nobody, 0);
    window.express.clearDeliveryQueue();
    expect(window.needsStoredDeliveries(0)).toBe(true);
  });

  test('reads past the express deliveries that are being attempted, and does not read those again', () => {
    const window = new PendingDeliveryWindow(false);
    const requested = Array.from({ length: 150 }, (_, n) =>
      convertToDeliveryDocument(requestExtraAttempt(delivery(n), 'x')),
    );
    const attempted = new Set(requested.slice(0, 100).map(({ id }) => id));
    const read = (stored: readonly DeliveryDocument[]) => {
      const refill = window.beginDeliveriesRefill(ROOM, attempted.size);
      window.addRefilledPendingDeliveries(
        refill,
        { scheduled: [], express: stored.slice(0, refill.expressLimit) },
        attempted,
        0,
      );
    };
    read(requested.slice(0, 100));
    expect([window.express.size, window.needsStoredDeliveries(ROOM)]).toEqual([0, false]);
    window.removeAllPendingDeliveries();
    read(requested);
    expect([window.express.size, window.needsStoredDeliveries(ROOM)]).toEqual([50, false]);
  });

  test('holds express deliveries apart, up to a bound', () => {
    const window = new PendingDeliveryWindow(true);
    for (let n = 0; n < 150; n += 1)
      window.addDeliveryToWindow(
        toPendingDelivery(convertToDeliveryDocument(requestExtraAttempt(delivery(n), 'x')), 0),
        ROOM,
      );
    expect(window.scheduled.size).toBe(0);
    expect(window.express.size).toBe(100);
    expect(window.needsStoredDeliveries(ROOM)).toBe(false);
    window.express.clearDeliveryQueue();
    expect(window.needsStoredDeliveries(ROOM)).toBe(true);
  });

  test('holds each delivery once, in its newest form, in whatever order the forms come', () => {
    const window = new PendingDeliveryWindow(true);
    const first = delivery(1);
    const failed = { ...first, revision: 2, status: 'retrying', attempts_count: 1 } as const;
    const retrying = convertToDeliveryDocument({ ...failed, next_attempt_at: delivery(5).created_at });
    const requested = convertToDeliveryDocument(requestExtraAttempt(retrying, first.created_at));
    const replayedLater = convertToDeliveryDocument({ ...requested, manual_at: null, revision: 4 });
    const held = () => [...window.scheduled, ...window.express].map(({ delivery: { revision } }) => revision);
    for (const [form, expected] of [
      [first, 1],
      [retrying, 2],
      [first, 2],
      [requested, 3],
      [retrying, 3],
      [replayedLater, 4],
    ] as const) {
      window.addDeliveryToWindow(toPendingDelivery(form, 0), ROOM);
      expect(held()).toEqual([expected]);
    }
    window.replaceDelivery(toPendingDelivery({ ...requested, revision: 5 }, 0), ROOM);
    expect([held(), window.scheduled.size]).toEqual([[5], 0]);
  });

  test('replaces a held delivery by a newer form that a read finds', () => {
    const window = new PendingDeliveryWindow(false);
    const refill = window.beginDeliveriesRefill(ROOM);
    window.putDeliveryBack(waiting(1));
    const newer = { ...delivery(1), revision: 2 };
    window.addRefilledPendingDeliveries(refill, { scheduled: [newer], express: [] }, nobody, 0);
    expect(window.scheduled.first?.delivery.revision).toBe(2);
  });
});
