import { setImmediate } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Lease, Leases } from '@tracking/ports';
import { eventually } from './eventually.ts';
import { type AdapterSubject, itWhere, NO_CRASH, ONE_PROCESS } from './subject.ts';

/** Longer than any time to live, on a busy machine. */
const TAKEN_OVER_MS = 40_000;

/** Every promise of the `Leases` port. */
export function leasesConformance(title: string, subject: AdapterSubject<Leases>): void {
  describe(`leases on ${title}`, () => {
    const never = new AbortController().signal;
    let leases: Leases;
    let name: string;
    beforeAll(async () => void (leases = await subject.open()));
    afterAll(() => subject.close());
    beforeEach(() => void (name = `lease-${randomUUID()}`));

    /** Waits for the lease without being waited for. */
    function waiting(from: Leases = leases, signal: AbortSignal = never) {
      const taker: { lease?: Lease; error?: unknown } = {};
      from.acquire(name, signal).then(
        (lease) => (taker.lease = lease),
        (error: unknown) => (taker.error = error),
      );
      return taker;
    }

    it('are had at once where nobody has them', async () => {
      const lease = await leases.acquire(name, never);
      expect(lease.name).toBe(name);
      expect(Number.isSafeInteger(lease.epoch)).toBe(true);
      expect(lease.lost.aborted).toBe(false);
      expect(lease.isHeld()).toBe(true);
      await lease.release();
    });

    it('have one holder at a time, each with a greater epoch', async () => {
      let holders = 0;
      const most: number[] = [];
      const epochs: number[] = [];
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const lease = await leases.acquire(name, never);
          most.push((holders += 1));
          epochs.push(lease.epoch);
          await setImmediate();
          holders -= 1;
          await lease.release();
        }),
      );
      expect(Math.max(...most)).toBe(1);
      expect(epochs).toEqual([...new Set(epochs)].sort((one, other) => one - other));
    });

    it('of different names know nothing of each other', async () => {
      const first = await leases.acquire(`${name}-1`, never);
      const second = await leases.acquire(`${name}-2`, never);
      await first.release();
      expect(second.lost.aborted).toBe(false);
      await second.release();
    });

    it('are handed over when released', async () => {
      const lease = await leases.acquire(name, never);
      const taker = waiting();
      await setImmediate();
      expect(taker.lease).toBeUndefined();
      await lease.release();
      await eventually(() => expect(taker.lease?.epoch).toBeGreaterThan(lease.epoch), { deadlineMs: TAKEN_OVER_MS });
      await taker.lease?.release();
    });

    it('are released once only, and then can no longer be relied on', async () => {
      const lease = await leases.acquire(name, never);
      await lease.release();
      expect(lease.lost.aborted).toBe(true);
      expect(lease.isHeld()).toBe(false);
      const next = await leases.acquire(name, never);
      await lease.release();
      const taker = waiting();
      await setImmediate();
      expect(taker.lease).toBeUndefined();
      expect(next.lost.aborted).toBe(false);
      expect(next.isHeld()).toBe(true);
      await next.release();
      await eventually(() => expect(taker.lease).toBeDefined(), { deadlineMs: TAKEN_OVER_MS });
      await taker.lease?.release();
    });

    it('go to no one who gave up waiting', async () => {
      const lease = await leases.acquire(name, never);
      const patience = new AbortController();
      const taker = waiting(leases, patience.signal);
      const other = waiting();
      const reason = new Error('enough');
      patience.abort(reason);
      await eventually(() => expect(taker.error).toBe(reason));
      await lease.release();
      await eventually(() => expect(other.lease).toBeDefined(), { deadlineMs: TAKEN_OVER_MS });
      expect(taker.lease).toBeUndefined();
      await other.lease?.release();
      await expect(leases.acquire(name, patience.signal)).rejects.toBe(reason);
    });

    it('are given up when closed, and had again with a greater epoch', async () => {
      const lease = await leases.acquire(name, never);
      const taker = waiting();
      leases = await subject.reopen();
      expect(lease.lost.aborted).toBe(true);
      await eventually(() => expect(taker.error).toBeDefined());
      const again = await leases.acquire(name, never);
      expect(again.epoch).toBeGreaterThan(lease.epoch);
      await again.release();
    });

    itWhere(subject.crash !== undefined, NO_CRASH)('are had again after a crash, with a greater epoch', async () => {
      const lease = await leases.acquire(name, never);
      leases = (await subject.crash?.()) ?? leases;
      const again = await leases.acquire(name, AbortSignal.timeout(TAKEN_OVER_MS));
      expect(again.epoch).toBeGreaterThan(lease.epoch);
      await again.release();
    });

    itWhere(subject.another !== undefined, ONE_PROCESS)('exclude other processes', async () => {
      const other = (await subject.another?.()) ?? leases;
      const lease = await leases.acquire(name, never);
      const taker = waiting(other);
      await lease.release();
      await eventually(() => expect(taker.lease?.epoch).toBeGreaterThan(lease.epoch), { deadlineMs: TAKEN_OVER_MS });
      const back = waiting();
      await setImmediate();
      expect(back.lease).toBeUndefined();
      await taker.lease?.release();
      await eventually(() => expect(back.lease).toBeDefined(), { deadlineMs: TAKEN_OVER_MS });
      await back.lease?.release();
    });
  });
}
