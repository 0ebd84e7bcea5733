import fc from 'fast-check';
import { newDelivery } from '@tracking/webhooks-domain';
import { type DeliveryDocument, toDocument } from '../deliveries/delivery-document.ts';
import { Backlog, type Page, type PageContent } from './backlog.ts';
import { END, isAfter, type Place, type Waiting, placeOf, toWaiting } from './waiting-list.ts';

const START = Date.UTC(2026, 0, 1);
const ROOM = 6;
const ROOMS = [0, 1, 2, 4, ROOM, 64];

function delivery(n: number, due: number): DeliveryDocument {
  const at = new Date(START + due).toISOString();
  const scope = { workspace_id: 'wsp_1', environment: 'live' } as const;
  const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at };
  return toDocument(
    newDelivery({ ...scope, ...event, id: `dlv_${n}`, endpoint_id: 'whe_1', payload_id: 'p', sandbox: false }, at),
  );
}

/** An endpoint's owner with a store beside it, driven step by step. */
class Owner {
  readonly stored = new Map<string, DeliveryDocument>();
  readonly busy = new Set<string>();
  /** Stored together, until somebody wants to see one of them. */
  private bundles: (readonly DeliveryDocument[])[] = [];
  /** Bundles of which the backlog was not told yet. */
  private untold: Place[] = [];
  /** The one taken last. */
  private latest: Waiting | undefined;
  /** Whether anything is due later than it is stored. */
  private delayed = false;
  readonly backlog: Backlog;
  private reading: { readonly page: Page; content: PageContent | undefined } | undefined;
  private count = 0;
  private room = ROOM;
  private mostRoom = ROOM;

  constructor(stored: number) {
    for (let n = 0; n < stored; n += 1) this.store(delivery((this.count += 1), (n * 17) % 50));
    this.backlog = new Backlog(stored === 0);
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
        return this.bundle(value);
      case 10:
        return this.tell();
      case 11:
        // Somebody looks at it.
        return this.takeApart(this.bundles.splice(value % (this.bundles.length + 1), 1));
      case 12:
        return this.putBack(value);
      case 13:
        this.room = ROOMS[value % ROOMS.length] ?? ROOM;
        this.mostRoom = Math.max(this.mostRoom, this.room);
        return;
      default:
        if (value % 10 === 0) {
          this.backlog.forget();
          this.reading = undefined;
        }
    }
  }

  /** Works everything off; answers how many of what is stored were never found. */
  finishAll(): number {
    this.room = Math.max(this.room, 1);
    for (let round = 0; round < 10_000; round += 1) {
      this.finish(undefined);
      this.take();
      if (this.reading !== undefined) {
        this.look();
        this.endReading();
      } else this.beginReading();
      this.tell();
      if (this.busy.size === 0 && this.backlog.complete && this.backlog.scheduled.size === 0) break;
    }
    return this.stored.size + this.bundles.length;
  }

  /** What is at hand first, and what should be; undefined where something is being read, or should be. */
  get first(): readonly [atHand: string | undefined, earliest: string | undefined] | undefined {
    if (this.delayed || this.room === 0 || this.reading !== undefined || this.untold.length > 0) return undefined;
    if (this.backlog.wantsPage(this.room)) return undefined;
    const waiting = [...this.stored.values(), ...this.bundles.flat()].filter(({ id }) => !this.busy.has(id));
    const [earliest] = waiting.map(placeOf).sort((one, other) => (isAfter(one, other) ? 1 : -1));
    return [this.backlog.scheduled.first?.id, earliest?.id];
  }

  private store(one: DeliveryDocument): void {
    this.stored.set(one.id, one);
  }

  private record(due: number): void {
    const one = delivery((this.count += 1), due);
    this.store(one);
    this.backlog.add(toWaiting(one, 0), this.room);
  }

  private bundle(due: number): void {
    const some = [0, 7, 3].map((later) => delivery((this.count += 1), due + later));
    this.bundles.push(some);
    this.untold.push(beginningOf(some));
  }

  private tell(): void {
    const from = this.untold.shift();
    if (from !== undefined) this.backlog.leave(from);
  }

  private takeApart(bundles: readonly (readonly DeliveryDocument[])[]): void {
    for (const one of bundles.flat()) this.store(one);
  }

  private takeFirstApart(count: number): Place {
    const first = this.bundles.splice(0, Math.ceil(count / 3));
    this.takeApart(first);
    return beginningOf(this.bundles[0]);
  }

  private beginReading(): void {
    if (this.reading === undefined && this.backlog.wantsPage(this.room)) {
      this.reading = { page: this.backlog.beginPage(this.room), content: undefined };
    }
  }

  /** The store answers the query as things are at this instant; the answer arrives later. */
  private look(): void {
    if (this.reading === undefined || this.reading.content !== undefined) return;
    const { after, limit } = this.reading.page;
    if (after === undefined) {
      this.reading.content = { scheduled: [], express: [], end: END };
      return;
    }
    this.bundles.sort((one, other) => (isAfter(beginningOf(one), beginningOf(other)) ? 1 : -1));
    let end = beginningOf(this.bundles[0]);
    let scheduled = this.read(after, limit);
    const last = scheduled.at(-1);
    // What is behind a full page is not taken apart.
    if (end !== END && (last === undefined || scheduled.length < limit || isAfter(placeOf(last), end))) {
      end = this.takeFirstApart(limit);
      scheduled = this.read(after, limit);
    }
    this.reading.content = { scheduled, express: [], end };
  }

  private read(after: Place, limit: number): readonly DeliveryDocument[] {
    const all = [...this.stored.values()].sort((one, other) => (isAfter(placeOf(one), placeOf(other)) ? 1 : -1));
    return all.filter((one) => isAfter(placeOf(one), after)).slice(0, limit);
  }

  private endReading(): void {
    if (this.reading?.content === undefined) return;
    this.backlog.endPage(this.reading.page, this.reading.content, this.busy, 0);
    this.backlog.abandonPage(this.reading.page);
    this.reading = undefined;
  }

  private take(): void {
    const item = this.backlog.scheduled.shift();
    if (item === undefined) return;
    // Never twice, never what was done already, never as it no longer is.
    expect(this.busy.has(item.id)).toBe(false);
    expect(this.stored.get(item.id)?.due_at).toBe(item.delivery.due_at);
    expect(this.backlog.scheduled.size).toBeLessThanOrEqual(2 * this.mostRoom);
    this.busy.add(item.id);
    this.latest = item;
  }

  /** It could not be attempted. */
  private putBack(later: number): void {
    if (this.latest === undefined || !this.busy.delete(this.latest.id)) return;
    this.backlog.putBack({ ...this.latest, due: this.latest.due + later });
    this.latest = undefined;
    this.delayed = true;
  }

  /** @param due when it comes due again, if it does */
  private finish(due: number | undefined): void {
    const [id] = this.busy;
    if (id === undefined) return;
    const again = due === undefined ? undefined : delivery(Number(id.slice(4)), due);
    if (again === undefined) this.stored.delete(id);
    else this.store(again);
    this.busy.delete(id);
    this.backlog.noteChange(id);
    if (again !== undefined) this.backlog.add(toWaiting(again, 0), this.room);
  }
}

function beginningOf(bundle: readonly DeliveryDocument[] | undefined): Place {
  return bundle === undefined ? END : { due: Math.min(...bundle.map((one) => placeOf(one).due)), id: '' };
}

test('a backlog finds everything that is stored, whatever happens in which order', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 50 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), steps, (stored, taken) => {
      const owner = new Owner(stored);
      for (const [kind, value] of taken) owner.step(kind, value);
      expect(owner.finishAll()).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test('a backlog has at hand what comes due first, for what comes later may not come due for hours', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 50 })), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), steps, (stored, taken) => {
      const owner = new Owner(stored);
      for (const [kind, value] of taken) {
        owner.step(kind, value);
        const [atHand, earliest] = owner.first ?? [];
        expect(atHand).toBe(earliest);
      }
    }),
    { numRuns: 500 },
  );
});
