import { choosePropertyTestRounds } from '@tracking/testing';
import { createDelivery } from '@tracking/webhooks-domain';
import fc from 'fast-check';
import { type DeliveryDocument, convertToDeliveryDocument } from '../store/delivery-document.ts';
import { type DeliveryQueuePosition, isQueuePositionAfter, createQueuePosition } from '../store/delivery-queues.ts';
import {
  type PendingDelivery,
  PendingDeliveryWindow,
  type PendingDeliveryReadInProgress,
  type DeliveriesForRefill,
  toPendingDelivery,
} from './pending-window.ts';

const START = Date.UTC(2026, 0, 1);
const ROOM = 6;
const ROOMS = [0, 1, 2, 4, ROOM, 64];

function delivery(n: number, due: number): DeliveryDocument {
  const at = new Date(START + due).toISOString();
  const scope = { workspace_id: 'wsp_1', environment: 'live' } as const;
  const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at };
  return convertToDeliveryDocument(
    createDelivery({ ...scope, ...event, id: `dlv_${n}`, endpoint_id: 'whe_1', payload_id: 'p', sandbox: false }, at),
  );
}

/** An endpoint's owner with a store, run step by step. */
class ShardOwner {
  readonly stored = new Map<string, DeliveryDocument>();
  readonly busy = new Set<string>();
  /** The delivery taken last. */
  private latest: PendingDelivery | undefined;
  /** True if a delivery is due later in memory than in the store. */
  private delayed = false;
  readonly window: PendingDeliveryWindow;
  private reading:
    { readonly refill: PendingDeliveryReadInProgress; content: DeliveriesForRefill | undefined } | undefined;
  private count = 0;
  private room = ROOM;
  private mostRoom = ROOM;

  constructor(stored: number) {
    for (let n = 0; n < stored; n += 1) this.store(delivery((this.count += 1), (n * 17) % 50));
    this.window = new PendingDeliveryWindow(stored === 0);
  }

  step(kind: number, value: number): void {
    switch (kind) {
      case 0:
      case 1:
        return this.record(value);
      case 2:
        return this.beginReading();
      case 3:
        return this.look();
      case 4:
        return this.endReading();
      case 5:
      case 6:
        return this.take();
      case 7:
        return this.finish(undefined);
      case 8:
        return this.finish(value);
      case 9:
        return this.putBack(value);
      case 10:
        this.room = ROOMS[value % ROOMS.length] ?? ROOM;
        this.mostRoom = Math.max(this.mostRoom, this.room);
        return;
      default:
        if (value % 10 === 0) {
          this.window.removeAllPendingDeliveries();
          this.reading = undefined;
        }
    }
  }

  /** Processes everything; returns the number of stored deliveries that were never found. */
  finishAll(): number {
    this.room = Math.max(this.room, 1);
    for (let round = 0; round < 10_000; round += 1) {
      this.finish(undefined);
      this.take();
      if (this.reading !== undefined) {
        this.look();
        this.endReading();
      } else this.beginReading();
      if (this.busy.size === 0 && this.window.isComplete && this.window.scheduled.size === 0) break;
    }
    return this.stored.size;
  }

  /** The first delivery in memory, and the one expected; undefined while something is being read, or should be. */
  get first(): readonly [atHand: string | undefined, earliest: string | undefined] | undefined {
    if (this.delayed || this.room === 0 || this.reading !== undefined) return undefined;
    if (this.window.needsStoredDeliveries(this.room)) return undefined;
    const waiting = [...this.stored.values()].filter(({ id }) => !this.busy.has(id));
    const [earliest] = waiting
      .map(createQueuePosition)
      .sort((one, other) => (isQueuePositionAfter(one, other) ? 1 : -1));
    return [this.window.scheduled.first?.id, earliest?.id];
  }

  private store(one: DeliveryDocument): void {
    this.stored.set(one.id, one);
  }

  private record(due: number): void {
    const one = delivery((this.count += 1), due);
    this.store(one);
    this.window.addDeliveryToWindow(toPendingDelivery(one, 0), this.room);
  }

  private beginReading(): void {
    if (this.reading === undefined && this.window.needsStoredDeliveries(this.room)) {
      this.reading = { refill: this.window.beginDeliveriesRefill(this.room), content: undefined };
    }
  }

  /** The store evaluates the query at this instant; the result arrives later. */
  private look(): void {
    if (this.reading === undefined || this.reading.content !== undefined) return;
    const { after, limit } = this.reading.refill;
    this.reading.content = { scheduled: after === undefined ? [] : this.read(after, limit), express: [] };
  }

  private read(after: DeliveryQueuePosition, limit: number): readonly DeliveryDocument[] {
    const all = [...this.stored.values()].sort((one, other) =>
      isQueuePositionAfter(createQueuePosition(one), createQueuePosition(other)) ? 1 : -1,
    );
    return all.filter((one) => isQueuePositionAfter(createQueuePosition(one), after)).slice(0, limit);
  }

  private endReading(): void {
    if (this.reading?.content === undefined) return;
    this.window.addRefilledPendingDeliveries(this.reading.refill, this.reading.content, this.busy, 0);
    this.window.abandonRefill(this.reading.refill);
    this.reading = undefined;
  }

  private take(): void {
    const item = this.window.scheduled.takeFirstDelivery();
    if (item === undefined) return;
    // Never twice, never completed ones, never in an outdated form.
    expect(this.busy.has(item.id)).toBe(false);
    expect(this.stored.get(item.id)?.due_at).toBe(item.delivery.due_at);
    expect(this.window.scheduled.size).toBeLessThanOrEqual(2 * this.mostRoom);
    this.busy.add(item.id);
    this.latest = item;
  }

  /** The delivery could not be attempted. */
  private putBack(later: number): void {
    if (this.latest === undefined || !this.busy.delete(this.latest.id)) return;
    this.window.putDeliveryBack({ ...this.latest, due: this.latest.due + later });
    this.latest = undefined;
    this.delayed = true;
  }

  /** @param due time at which the delivery is due again, if it is */
  private finish(due: number | undefined): void {
    const [id] = this.busy;
    if (id === undefined) return;
    const again = due === undefined ? undefined : delivery(Number(id.slice(4)), due);
    if (again === undefined) this.stored.delete(id);
    else this.store(again);
    this.busy.delete(id);
    this.window.markDeliveryChangedDuringRefill(id);
    if (again !== undefined) this.window.addDeliveryToWindow(toPendingDelivery(again, 0), this.room);
  }
}

test('a pending window finds every stored delivery, in any order of events', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: 0, max: 50 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), steps, (stored, taken) => {
      const owner = new ShardOwner(stored);
      for (const [kind, value] of taken) owner.step(kind, value);
      expect(owner.finishAll()).toBe(0);
    }),
    { numRuns: choosePropertyTestRounds(500) },
  );
});

test('a pending window holds the deliveries that are due first', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: 0, max: 50 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), steps, (stored, taken) => {
      const owner = new ShardOwner(stored);
      for (const [kind, value] of taken) {
        owner.step(kind, value);
        const [atHand, earliest] = owner.first ?? [];
        expect(atHand).toBe(earliest);
      }
    }),
    { numRuns: choosePropertyTestRounds(500) },
  );
});
