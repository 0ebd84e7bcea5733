import { setImmediate } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Lease, Leases, LeaseGroupMembership } from '@tracking/ports';
import { eventually } from './eventually.ts';
import {
  type TestedAdapter,
  testIfSupported,
  CRASH_UNSUPPORTED_REASON,
  SINGLE_PROCESS_SKIP_REASON,
} from './subject.ts';

/**
 * Maximum milliseconds until another process acquires a lost lease. They exceed the time to live of any lease, even on
 * a busy machine.
 */
const TAKEOVER_DEADLINE_MS = 40_000;

/** Tests every guarantee of the `Leases` port. */
export function declareLeaseTests(title: string, subject: TestedAdapter<Leases>): void {
  describe(`leases on ${title}`, () => {
    const never = new AbortController().signal;
    let leases: Leases;
    let name: string;
    beforeAll(async () => void (leases = await subject.openTestedAdapter()));
    afterAll(() => subject.close());
    beforeEach(() => void (name = `lease-${randomUUID()}`));

    /** Starts acquiring the lease without awaiting it. */
    function startAcquiringLease(from: Leases = leases, signal: AbortSignal = never) {
      const waiter: { lease?: Lease; error?: unknown } = {};
      from.acquireLease(name, signal).then(
        (lease) => (waiter.lease = lease),
        (error: unknown) => (waiter.error = error),
      );
      return waiter;
    }

    it('a lease that nobody holds is acquired immediately', async () => {
      const lease = await leases.acquireLease(name, never);
      expect(lease.name).toBe(name);
      expect(Number.isSafeInteger(lease.epoch)).toBe(true);
      expect(lease.lost.aborted).toBe(false);
      expect(lease.isLeaseHeld()).toBe(true);
      await lease.releaseLease();
    });

    it('a lease has one holder at a time, each with a greater epoch', async () => {
      let holders = 0;
      const most: number[] = [];
      const epochs: number[] = [];
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const lease = await leases.acquireLease(name, never);
          most.push((holders += 1));
          epochs.push(lease.epoch);
          await setImmediate();
          holders -= 1;
          await lease.releaseLease();
        }),
      );
      expect(Math.max(...most)).toBe(1);
      expect(epochs).toEqual([...new Set(epochs)].sort((one, other) => one - other));
    });

    it('leases with different names are independent', async () => {
      const first = await leases.acquireLease(`${name}-1`, never);
      const second = await leases.acquireLease(`${name}-2`, never);
      await first.releaseLease();
      expect(second.lost.aborted).toBe(false);
      await second.releaseLease();
    });

    it('a released lease passes to a waiting acquirer', async () => {
      const lease = await leases.acquireLease(name, never);
      const taker = startAcquiringLease();
      await setImmediate();
      expect(taker.lease).toBeUndefined();
      await lease.releaseLease();
      await eventually(() => expect(taker.lease?.epoch).toBeGreaterThan(lease.epoch), {
        deadlineMs: TAKEOVER_DEADLINE_MS,
      });
      await taker.lease?.releaseLease();
    });

    it('a lease is released only once, and is no longer held afterwards', async () => {
      const lease = await leases.acquireLease(name, never);
      await lease.releaseLease();
      expect(lease.lost.aborted).toBe(true);
      expect(lease.isLeaseHeld()).toBe(false);
      const next = await leases.acquireLease(name, never);
      await lease.releaseLease();
      const taker = startAcquiringLease();
      await setImmediate();
      expect(taker.lease).toBeUndefined();
      expect(next.lost.aborted).toBe(false);
      expect(next.isLeaseHeld()).toBe(true);
      await next.releaseLease();
      await eventually(() => expect(taker.lease).toBeDefined(), { deadlineMs: TAKEOVER_DEADLINE_MS });
      await taker.lease?.releaseLease();
    });

    it('a lease is not given to an acquirer whose signal aborted', async () => {
      const lease = await leases.acquireLease(name, never);
      const patience = new AbortController();
      const taker = startAcquiringLease(leases, patience.signal);
      const other = startAcquiringLease();
      const reason = new Error('enough');
      patience.abort(reason);
      await eventually(() => expect(taker.error).toBe(reason));
      await lease.releaseLease();
      await eventually(() => expect(other.lease).toBeDefined(), { deadlineMs: TAKEOVER_DEADLINE_MS });
      expect(taker.lease).toBeUndefined();
      await other.lease?.releaseLease();
      await expect(leases.acquireLease(name, patience.signal)).rejects.toBe(reason);
    });

    it('a lease is lost when the port is closed, and acquired again with a greater epoch', async () => {
      const lease = await leases.acquireLease(name, never);
      const taker = startAcquiringLease();
      leases = await subject.closeAndReopenAdapter();
      expect(lease.lost.aborted).toBe(true);
      await eventually(() => expect(taker.error).toBeDefined());
      const again = await leases.acquireLease(name, never);
      expect(again.epoch).toBeGreaterThan(lease.epoch);
      await again.releaseLease();
    });

    it('a member sees itself with the leases that it announced, until it leaves', async () => {
      const group = `group-${randomUUID()}`;
      const membership = leases.joinLeaseGroup({ name: 'test', address: '127.0.0.1:1' });
      const findSelf = () => membership.members?.find(({ id }) => id === membership.id);
      let changes = 0;
      membership.addMemberChangeListener(() => (changes += 1));
      membership.announceMember({ [group]: [name] });
      await eventually(() => expect(findSelf()?.wanted).toEqual({ [group]: [name] }));
      expect(findSelf()).toMatchObject({ name: 'test', address: '127.0.0.1:1' });
      expect(changes).toBeGreaterThan(0);
      const lease = await leases.acquireLease(name, never);
      expect(lease.handOverRequested.aborted).toBe(false);
      const listed = (await leases.listHeldLeases()).find((one) => one.name === name);
      expect(listed).toEqual({
        name,
        epoch: lease.epoch,
        holder: { id: membership.id, name: 'test', address: '127.0.0.1:1' },
      });
      await lease.releaseLease();
      expect((await leases.listHeldLeases()).map((one) => one.name)).not.toContain(name);
      await membership.removeOwnMember();
      await membership.removeOwnMember();
      leases = await subject.closeAndReopenAdapter();
    });

    testIfSupported(subject.openSecond !== undefined, SINGLE_PROCESS_SKIP_REASON)(
      'members see each other, and notice when one leaves',
      async () => {
        const other = (await subject.openSecond?.()) ?? leases;
        const [first, second] = [leases.joinLeaseGroup({ name: 'first' }), other.joinLeaseGroup({ name: 'second' })];
        first.announceMember({ [name]: ['a'] });
        second.announceMember({ [name]: ['b'] });
        const namesAt = ({ members }: LeaseGroupMembership) => members?.map((member) => member.name).sort();
        await eventually(() => {
          for (const membership of [first, second]) expect(namesAt(membership)).toEqual(['first', 'second']);
        });
        await second.removeOwnMember();
        await eventually(() => expect(namesAt(first)).toEqual(['first']));
        await first.removeOwnMember();
        leases = await subject.closeAndReopenAdapter();
      },
    );

    testIfSupported(subject.simulateCrash !== undefined, CRASH_UNSUPPORTED_REASON)(
      'a lease is acquired again after a crash, with a greater epoch',
      async () => {
        const lease = await leases.acquireLease(name, never);
        leases = (await subject.simulateCrash?.()) ?? leases;
        const again = await leases.acquireLease(name, AbortSignal.timeout(TAKEOVER_DEADLINE_MS));
        expect(again.epoch).toBeGreaterThan(lease.epoch);
        await again.releaseLease();
      },
    );

    testIfSupported(subject.openSecond !== undefined, SINGLE_PROCESS_SKIP_REASON)(
      'a lease excludes other processes',
      async () => {
        const other = (await subject.openSecond?.()) ?? leases;
        const lease = await leases.acquireLease(name, never);
        const taker = startAcquiringLease(other);
        await lease.releaseLease();
        await eventually(() => expect(taker.lease?.epoch).toBeGreaterThan(lease.epoch), {
          deadlineMs: TAKEOVER_DEADLINE_MS,
        });
        const back = startAcquiringLease();
        await setImmediate();
        expect(back.lease).toBeUndefined();
        await taker.lease?.releaseLease();
        await eventually(() => expect(back.lease).toBeDefined(), { deadlineMs: TAKEOVER_DEADLINE_MS });
        await back.lease?.releaseLease();
      },
    );
  });
}
