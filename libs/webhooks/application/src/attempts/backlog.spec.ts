import { newDelivery, retryRequested } from '@tracking/webhooks-domain';
import { type DeliveryDocument, toDocument } from '../deliveries/delivery-document.ts';
import { Backlog } from './backlog.ts';
import { END, isAfter, placeOf, toWaiting } from './waiting-list.ts';

const ROOM = 4;
const nobody = new Set<string>();

function delivery(n: number): DeliveryDocument {
  const at = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
  const scope = { workspace_id: 'wsp_1', environment: 'live' } as const;
  const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at };
  const id = `dlv_${String(n * 10).padStart(5, '0')}`;
  return toDocument(
    newDelivery({ ...scope, ...event, id, endpoint_id: 'whe_1', payload_id: 'evt_1.v', sandbox: false }, at),
  );
}
const waiting = (n: number) => toWaiting(delivery(n), 0);

/** What is stored, as the backlog would read it. */
class Disk {
  readonly stored = new Map<string, DeliveryDocument>();

  put(...numbers: readonly number[]): void {
    for (const n of numbers) this.stored.set(delivery(n).id, delivery(n));
  }

  fill(backlog: Backlog, room = ROOM): void {
    while (backlog.wantsPage(room)) this.answer(backlog, backlog.beginPage(room));
  }

  answer(backlog: Backlog, page: ReturnType<Backlog['beginPage']>): void {
    const { after, limit } = page;
    const all = [...this.stored.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const scheduled = after === undefined ? [] : all.filter((one) => isAfter(placeOf(one), after)).slice(0, limit);
    backlog.endPage(page, { scheduled, express: [], end: END }, nobody, 0);
  }
}

function drain(backlog: Backlog): number[] {
  const all: number[] = [];
  for (let item = backlog.scheduled.shift(); item !== undefined; item = backlog.scheduled.shift()) {
    all.push(Number(item.id.slice(4)) / 10);
  }
  return all;
}
function drainWith(backlog: Backlog, disk: Disk): number[] {
  const all: number[] = [];
  for (disk.fill(backlog); backlog.scheduled.size > 0; disk.fill(backlog)) {
    const item = backlog.scheduled.shift();
    if (item === undefined) break;
    disk.stored.delete(item.id);
    all.push(Number(item.id.slice(4)) / 10);
  }
  return all;
}

describe('a backlog', () => {
  test('has at hand what was stored while it read what comes later, although that would fill it', () => {
    const disk = new Disk();
    disk.put(50, 60, 70, 80, 90);
    const backlog = new Backlog(false);
    const page = backlog.beginPage(ROOM);
    const content = { scheduled: [50, 60, 70, 80].map(delivery), express: [], end: END };
    disk.put(10);
    backlog.add(waiting(10), ROOM);
    backlog.endPage(page, content, nobody, 0);
    expect(backlog.wantsPage(ROOM)).toBe(false);
    expect(drain(backlog)).toEqual([10, 50, 60, 70, 80]);
  });

  test('of an endpoint that keeps up never asks for what is stored', () => {
    const backlog = new Backlog(true);
    backlog.add(waiting(2), ROOM);
    backlog.add(waiting(1), ROOM);
    expect(backlog.wantsPage(ROOM)).toBe(false);
    expect(drain(backlog)).toEqual([1, 2]);
    expect(backlog.complete).toBe(true);
  });

  test('holds no more than there is room for, and reads the rest later, in order', () => {
    const [backlog, disk] = [new Backlog(true), new Disk()];
    for (let n = 0; n < 20; n += 1) {
      disk.put(n);
      backlog.add(waiting(n), ROOM);
      expect(backlog.scheduled.size).toBeLessThanOrEqual(ROOM);
    }
    expect(drainWith(backlog, disk)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(backlog.complete).toBe(true);
  });

  test('gives what is due earlier precedence over what it holds', () => {
    const [backlog, disk] = [new Backlog(true), new Disk()];
    for (const n of [10, 11, 12, 13, 5, 6]) {
      disk.put(n);
      backlog.add(waiting(n), ROOM);
    }
    expect(drainWith(backlog, disk)).toEqual([5, 6, 10, 11, 12, 13]);
  });

  test('taken over reads everything from the beginning', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(3, 1, 2, 9, 8, 7, 6);
    expect(drainWith(backlog, disk)).toEqual([1, 2, 3, 6, 7, 8, 9]);
  });

  test('misses nothing that is stored while a page is being read', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(1);
    const page = backlog.beginPage(ROOM);
    const before = new Disk();
    before.put(1);
    disk.put(2);
    backlog.add(waiting(2), ROOM);
    before.answer(backlog, page);
    expect(drainWith(backlog, disk)).toEqual([1, 2]);
  });

  test('misses nothing that is put off, past others, while a page is being read', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(1, 2, 3);
    const page = backlog.beginPage(ROOM);
    // 1 was under way; it failed, was stored as due after 2, and is read so by this page or not.
    disk.stored.set(delivery(1).id, delivery(1));
    backlog.noteChange(delivery(1).id);
    backlog.add(waiting(2.5), ROOM);
    disk.answer(backlog, page);
    disk.stored.delete(delivery(1).id);
    disk.put(2.5);
    expect(drainWith(backlog, disk)).toEqual([2, 2.5, 3]);
  });

  test('does not take in from a page what an attempt has changed since', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(1, 2);
    const page = backlog.beginPage(ROOM);
    backlog.noteChange(delivery(1).id);
    disk.answer(backlog, page);
    expect(drain(backlog)).toEqual([2]);
  });

  test('does not take in from a page what is being attempted', () => {
    const backlog = new Backlog(false);
    const page = backlog.beginPage(ROOM);
    backlog.endPage(
      page,
      { scheduled: [delivery(1), delivery(2)], express: [], end: END },
      new Set([delivery(1).id]),
      0,
    );
    expect(drain(backlog)).toEqual([2]);
  });

  test('drops a page that does not follow on any more', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(1, 2, 3);
    const page = backlog.beginPage(ROOM);
    backlog.forget();
    disk.answer(backlog, page);
    expect(backlog.scheduled.size).toBe(0);
    expect(drainWith(backlog, disk)).toEqual([1, 2, 3]);
  });

  test('drops a page when it had to be cut short meanwhile', () => {
    const [backlog, disk] = [new Backlog(true), new Disk()];
    for (const n of [20, 21, 22, 23, 24]) {
      disk.put(n);
      backlog.add(waiting(n), ROOM);
    }
    backlog.scheduled.shift();
    backlog.scheduled.shift();
    disk.stored.delete(delivery(20).id);
    disk.stored.delete(delivery(21).id);
    const page = backlog.beginPage(ROOM);
    for (const n of [1, 2, 3, 4]) {
      disk.put(n);
      backlog.add(waiting(n), ROOM);
    }
    disk.answer(backlog, page);
    expect(drainWith(backlog, disk)).toEqual([1, 2, 3, 4, 22, 23, 24]);
  });

  test('leaves what comes after a place to the disk, with what was read of it meanwhile', () => {
    const [backlog, disk] = [new Backlog(true), new Disk()];
    for (const n of [1, 3, 5]) {
      disk.put(n);
      backlog.add(waiting(n), ROOM);
    }
    const from = ({ due }: { readonly due: number }) => ({ due, id: '' });
    backlog.leave(from(waiting(3)));
    expect([...backlog.scheduled].map(({ id }) => id)).toEqual([delivery(1).id]);
    const page = backlog.beginPage(ROOM);
    disk.put(4);
    disk.answer(backlog, page);
    backlog.leave(from(waiting(4)));
    expect([...backlog.scheduled].map(({ id }) => id)).toEqual([delivery(1).id, delivery(3).id]);
    disk.put(2);
    const next = backlog.beginPage(ROOM);
    backlog.leave(from(waiting(2)));
    disk.answer(backlog, next);
    disk.stored.delete(delivery(1).id);
    expect([...drain(backlog), ...drainWith(backlog, disk)]).toEqual([1, 2, 3, 4, 5]);
  });

  test('loses nothing that was put back for later, and so is stored before what is left to the disk', () => {
    const [backlog, disk] = [new Backlog(true), new Disk()];
    disk.put(1, 2, 3, 6);
    const back = (n: number, due: number) => backlog.putBack({ ...waiting(n), due: waiting(due).due });
    back(1, 10);
    back(2, 11);
    backlog.leave({ due: waiting(5).due, id: '' });
    expect(backlog.scheduled.size).toBe(2);
    // Room for two: the last one is left to the disk, where it comes first.
    backlog.add(waiting(3), 2);
    expect(backlog.scheduled.size).toBe(2);
    expect(drainWith(backlog, disk).toSorted()).toEqual([1, 2, 3, 6]);
  });

  test('takes in from a page only what comes before its end', () => {
    const backlog = new Backlog(false);
    const end = { due: waiting(2).due, id: '' };
    backlog.endPage(backlog.beginPage(ROOM), { scheduled: [delivery(1), delivery(2)], express: [], end }, nobody, 0);
    expect([drain(backlog), backlog.complete]).toEqual([[1], false]);
    // And before what was left to the disk while it was being read.
    const other = new Backlog(false);
    const page = other.beginPage(ROOM);
    other.leave(end);
    other.endPage(page, { scheduled: [delivery(1)], express: [], end: END }, nobody, 0);
    expect([drain(other), other.complete]).toEqual([[1], false]);
  });

  test('reads nothing scheduled where there is no room, and everything once there is', () => {
    const [backlog, disk] = [new Backlog(false), new Disk()];
    disk.put(1, 2);
    disk.fill(backlog, 0);
    expect(backlog.scheduled.size).toBe(0);
    expect(drainWith(backlog, disk)).toEqual([1, 2]);
  });

  test('misses nothing that persons ask for while a page is being read, however much that is', () => {
    const backlog = new Backlog(false);
    const page = backlog.beginPage(ROOM);
    for (let n = 0; n < 150; n += 1) backlog.add(toWaiting(toDocument(retryRequested(delivery(n), 'x')), 0), ROOM);
    backlog.endPage(page, { scheduled: [], express: [], end: END }, nobody, 0);
    backlog.express.clear();
    expect(backlog.wantsPage(0)).toBe(true);
  });

  test('keeps what persons asked for apart, and bounded', () => {
    const backlog = new Backlog(true);
    for (let n = 0; n < 150; n += 1) backlog.add(toWaiting(toDocument(retryRequested(delivery(n), 'x')), 0), ROOM);
    expect(backlog.scheduled.size).toBe(0);
    expect(backlog.express.size).toBe(100);
    expect(backlog.wantsPage(ROOM)).toBe(false);
    backlog.express.clear();
    expect(backlog.wantsPage(ROOM)).toBe(true);
  });
});
