import { type DeliveryDocument, expressQueue } from '../deliveries/delivery-document.ts';
import { BEGINNING, END, type Place, type Waiting, WaitingList, isAfter, placeOf, toWaiting } from './waiting-list.ts';

/** Most of what persons asked for that is held in memory, for each endpoint. */
export const MOST_EXPRESS = 100;

/** A look at what is stored, under way. */
export interface Page {
  /** Read what comes after this; undefined: read nothing scheduled. */
  readonly after: Place | undefined;
  readonly express: boolean;
  readonly limit: number;
  /** What was stored meanwhile beyond the horizon, perhaps too late for this page; at most `limit`. */
  readonly missed: WaitingList;
  /** Beyond this there may be more that was missed. */
  end: Place;
  /** Something that a person asked for was left to the disk meanwhile. */
  missedExpress: boolean;
  /** What changed meanwhile: this page may show it as it was. */
  readonly changed: Set<string>;
}

export interface PageContent {
  readonly scheduled: readonly DeliveryDocument[];
  readonly express: readonly DeliveryDocument[];
  /** Beyond this there is more than what was read of `scheduled`. */
  readonly end: Place;
}

/**
 * What waits for one endpoint: a window in memory on the queues that are stored. Everything stored up to the `horizon` is
 * in the window (or being attempted); what comes after it is read when there is room. So memory is bounded, however much
 * waits, and an endpoint that keeps up never reads anything back.
 */
export class Backlog {
  readonly scheduled = new WaitingList();
  /** What persons asked for: goes before everything scheduled. */
  readonly express = new WaitingList();
  private horizon: Place;
  private expressRead: boolean;
  private page: Page | undefined;
  /** When the first was due of what was forgotten, until it is read again. */
  private forgottenDue: number | undefined;

  /** @param empty whether nothing is stored that waits for this endpoint */
  constructor(empty: boolean) {
    this.horizon = empty ? END : BEGINNING;
    this.expressRead = empty;
  }

  /** Nothing is known to be stored beyond what is here. */
  get complete(): boolean {
    return this.horizon === END && this.expressRead && this.page === undefined;
  }

  /** When the first of what waits is due, in epoch milliseconds, as far as it is known. */
  get firstDue(): number | undefined {
    return this.scheduled.first?.due ?? this.forgottenDue;
  }

  /**
   * Takes in what was just stored, or leaves it to be read later.
   * @param room most scheduled deliveries to hold
   */
  add(item: Waiting, room: number): void {
    if (item.delivery.queue === expressQueue(item.delivery.endpoint_id)) this.addExpress(item);
    else if (isAfter(item, this.horizon)) this.miss(item);
    else {
      this.scheduled.add(item);
      if (this.scheduled.size > room) this.horizon = shortened(this.scheduled);
    }
  }

  /** Leaves to the disk, to be read later, whatever is stored beyond this: not all of it is known here. */
  leave(from: Place): void {
    const { page } = this;
    if (page !== undefined && isAfter(page.end, from)) page.end = from;
    if (!isAfter(this.horizon, from)) return;
    this.horizon = from;
    this.scheduled.cut(from);
  }

  /** Takes back what could not be attempted; it is stored as it was. */
  putBack(item: Waiting): void {
    if (item.delivery.queue === expressQueue(item.delivery.endpoint_id)) this.express.add(item);
    else this.scheduled.add(item);
  }

  /** Says that a delivery's stored form was changed by an attempt. */
  noteChange(id: string): void {
    this.page?.changed.add(id);
  }

  /** Forgets everything: it is stored, and may have been changed there. */
  forget(): void {
    this.forgottenDue = this.firstDue;
    this.scheduled.clear();
    this.express.clear();
    this.horizon = BEGINNING;
    this.expressRead = false;
    this.page = undefined;
  }

  /** Whether there is something to read, and room for it. */
  wantsPage(room: number): boolean {
    return this.page === undefined && (this.wantsScheduled(room) || this.wantsExpress());
  }

  /** Begins to read what is missing. */
  beginPage(room: number): Page {
    const after = this.wantsScheduled(room) ? this.horizon : undefined;
    const limit = Math.max(1, room - this.scheduled.size);
    this.page = {
      after,
      express: this.wantsExpress(),
      limit,
      missed: new WaitingList(),
      end: END,
      missedExpress: false,
      changed: new Set(),
    };
    return this.page;
  }

  abandonPage(page: Page): void {
    if (this.page === page) this.page = undefined;
  }

  /**
   * Takes in what was read.
   * @param busy what is being attempted
   * @param knownAt when the reading began
   */
  endPage(
    page: Page,
    { scheduled, express, end: known }: PageContent,
    busy: ReadonlySet<string>,
    knownAt: number,
  ): void {
    if (this.page !== page) return;
    this.page = undefined;
    const fresh = ({ id }: DeliveryDocument) => !page.changed.has(id) && !busy.has(id);
    if (page.express) {
      this.expressRead = express.length < MOST_EXPRESS && !page.missedExpress;
      for (const delivery of express.filter(fresh)) this.express.add(toWaiting(delivery, knownAt));
    }
    // Where the window was cut short in the meantime, this page does not follow on any more.
    if (page.after === undefined || page.after !== this.horizon) return;
    // What was missed belongs in the window as well: else that could be full, for hours, without it.
    const lastRead = scheduled.at(-1);
    const read = lastRead === undefined || scheduled.length < page.limit ? END : placeOf(lastRead);
    const end = earliest(read, page.end, known);
    const found = scheduled.filter(fresh).map((delivery) => toWaiting(delivery, knownAt));
    for (const item of [...page.missed, ...found]) if (!isAfter(item, end)) this.scheduled.add(item);
    this.horizon = end;
    this.forgottenDue = undefined;
  }

  private wantsScheduled(room: number): boolean {
    return this.horizon !== END && room > 0 && this.scheduled.size <= room / 2;
  }

  private wantsExpress(): boolean {
    return !this.expressRead && this.express.size === 0;
  }

  private addExpress(item: Waiting): void {
    if (this.express.size < MOST_EXPRESS) return this.express.add(item);
    this.expressRead = false;
    if (this.page !== undefined) this.page.missedExpress = true;
  }

  private miss(item: Waiting): void {
    const { page } = this;
    if (page === undefined) return;
    // Only its newest form counts.
    page.missed.take(({ id }) => id === item.id);
    if (isAfter(item, page.end)) return;
    page.missed.add(item);
    if (page.missed.size <= page.limit) return;
    page.end = shortened(page.missed);
  }
}

function earliest(...places: readonly Place[]): Place {
  return places.reduce((one, other) => (isAfter(one, other) ? other : one));
}

/** Leaves its last one to the disk; answers how far the rest reaches. */
function shortened(list: WaitingList): Place {
  const dropped = list.pop();
  const { due, id } = list.last ?? BEGINNING;
  if (dropped === undefined) return { due, id };
  // One that was put back is due later here than where it is stored.
  const left = placeOf(dropped.delivery);
  return isAfter(left, { due, id }) ? { due, id } : { due: left.due, id: '' };
}
