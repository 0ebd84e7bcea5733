import { jest } from '@jest/globals';
import type { Lease, LeaseMember, Leases, LeaseGroupMembership, WantedLeases } from '@tracking/ports';
import { LeaseDistributor } from './lease-shares.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const never = new AbortController().signal;

/** Leases of one process; the test decides who the other members are. */
class FakeLeases implements Leases {
  readonly held = new Map<string, AbortController>();
  announced: readonly WantedLeases[] = [];
  private readonly listeners: (() => void)[] = [];
  private others: readonly LeaseMember[] | undefined;

  acquireLease(name: string, signal: AbortSignal): Promise<Lease> {
    signal.throwIfAborted();
    const ended = new AbortController();
    this.held.set(name, ended);
    const release = () => Promise.resolve(this.end(name));
    const handOverRequested = new AbortController().signal;
    const isHeld = () => !ended.signal.aborted;
    return Promise.resolve({
      name,
      epoch: 1,
      lost: ended.signal,
      handOverRequested,
      isLeaseHeld: isHeld,
      releaseLease: release,
    });
  }

  joinLeaseGroup(about: Pick<LeaseMember, 'name'>): LeaseGroupMembership {
    const readMembers = (): readonly LeaseMember[] | undefined =>
      this.others && [{ id: 'self', ...about, wanted: this.announced.at(-1) ?? {} }, ...this.others];
    return {
      id: 'self',
      get members() {
        return readMembers();
      },
      announceMember: (wanted) => {
        this.announced = [...this.announced, wanted];
        this.notify();
      },
      addMemberChangeListener: (listener) => void this.listeners.push(listener),
      removeOwnMember: () => Promise.resolve(),
    };
  }

  setOthers(...others: readonly LeaseMember[]): void {
    this.others = others;
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  end(name: string): void {
    this.held.get(name)?.abort();
    this.held.delete(name);
  }

  listHeldLeases(): Promise<never[]> {
    return Promise.resolve([]);
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

const other = (wanted: readonly string[] = NAMES): LeaseMember => ({
  ...{ id: 'other', name: 'host-2', address: 'host-2:1', wanted: { work: wanted } },
});
const settle = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
};

describe('shared leases', () => {
  let leases: FakeLeases;
  let shares: LeaseDistributor;
  let acquired: Map<string, Lease>;
  let gauge: (readonly [number, object])[];
  let lines: object[];
  beforeEach(() => {
    [leases, acquired, gauge, lines] = [new FakeLeases(), new Map(), [], []];
    const log = (fields: object, message: string) => void lines.push({ message, ...fields });
    const set = (value: number, labels = {}) => void gauge.push([value, labels]);
    const ignore = () => undefined;
    const metrics = {
      createCounter: () => ({ add: ignore }),
      createGauge: () => ({ set }),
      createHistogram: () => ({ observe: ignore }),
    };
    const logger = { debug: log, info: log, warn: log, error: log };
    shares = new LeaseDistributor({ leases, member: { name: 'host-1' }, logger, metrics });
  });

  function startAcquiring(signal = never): void {
    const acquire = async (name: string) =>
      acquired.set(name, await shares.getOrCreateLeaseGroup('work').acquireLease(name, signal));
    for (const name of NAMES) acquire(name).catch(() => undefined);
  }

  /** Acquires all leases, changes them more than a second later, and logs both. */
  async function logChanges(change: () => Promise<void>): Promise<void> {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    try {
      startAcquiring();
      leases.setOthers();
      await settle();
      jest.advanceTimersByTime(1_000);
      await change();
      jest.advanceTimersByTime(1_000);
    } finally {
      jest.useRealTimers();
    }
  }

  it('are announced together, and not acquired before the members are known', async () => {
    startAcquiring();
    await settle();
    expect(leases.announced).toEqual([{ work: NAMES }]);
    expect(acquired.size).toBe(0);
    leases.setOthers();
    await settle();
    expect([...acquired.keys()].sort()).toEqual(NAMES);
    expect(shares.getLeaseShareReports()).toEqual({ work: { held: 4, members: 1 } });
    expect(gauge.at(-1)).toEqual([4, { group: 'work' }]);
  });

  it('have members that a process can follow without sharing them', async () => {
    const seen: (readonly string[])[] = [];
    shares.followMembersOfGroup('work', (members) => seen.push(members.map(({ id }) => id)));
    expect(seen).toEqual([]);
    leases.setOthers(other([]), { ...other(), id: 'third' });
    leases.setOthers();
    expect(seen).toEqual([['third'], []]);
    expect(shares.getLeaseShareReports()).toEqual({});
    startAcquiring();
    await settle();
    expect(seen.at(-1)).toEqual(['self']);
  });

  it('are handed over when another member joins, and acquired again when it leaves', async () => {
    startAcquiring();
    leases.setOthers();
    await settle();
    leases.setOthers(other());
    const requested = [...acquired.values()].filter(({ handOverRequested }) => handOverRequested.aborted);
    expect(requested).toHaveLength(2);
    for (const lease of requested) {
      expect(lease.isLeaseHeld()).toBe(true);
      expect(shares.getOrCreateLeaseGroup('work').findOtherLeaseOwner(lease.name)).toMatchObject({
        address: 'host-2:1',
      });
      await lease.releaseLease();
    }
    expect(shares.getLeaseShareReports()).toEqual({ work: { held: 2, members: 2 } });
    for (const { name } of requested) void shares.getOrCreateLeaseGroup('work').acquireLease(name, never);
    await settle();
    expect(leases.held.size).toBe(2);
    leases.setOthers();
    await settle();
    expect(leases.held.size).toBe(4);
    expect(shares.getOrCreateLeaseGroup('work').findOtherLeaseOwner('a')).toBeUndefined();
  });

  it('cause one log line for all changes within a second', async () => {
    await logChanges(async () => {
      leases.setOthers(other());
      for (const lease of acquired.values()) if (lease.handOverRequested.aborted) await lease.releaseLease();
      for (const [name, lease] of acquired) if (lease.isLeaseHeld()) leases.end(name);
    });
    expect(lines).toEqual([
      { message: 'leases changed their owner', group: 'work', held: 4, members: 1, gained: NAMES },
      {
        message: 'this process lost leases; another process takes them over',
        ...{ group: 'work', held: 0, members: 2 },
        handed_over: ['b', 'd'],
        lost: ['a', 'c'],
      },
    ]);
  });

  it('are not reported as lost when their holder releases them, for example after a failure', async () => {
    await logChanges(async () => acquired.get('a')?.releaseLease());
    expect(lines.at(-1)).toEqual({
      ...{ message: 'leases changed their owner', group: 'work', held: 3, members: 1 },
      released: ['a'],
    });
  });

  it('are not assigned to a member that does not want them', async () => {
    startAcquiring();
    leases.setOthers(other([]));
    await settle();
    expect(acquired.size).toBe(4);
  });

  it('are no longer wanted when the signal of the caller aborts', async () => {
    const stopping = new AbortController();
    startAcquiring(stopping.signal);
    leases.setOthers();
    await settle();
    stopping.abort(new Error('stopped'));
    await settle();
    expect(leases.announced.at(-1)).toEqual({ work: [] });
    await expect(shares.getOrCreateLeaseGroup('work').acquireLease('a', stopping.signal)).rejects.toThrow('stopped');
  });

  it('of a waiting caller are not acquired after its signal aborted', async () => {
    const stopping = new AbortController();
    const waiting = shares.getOrCreateLeaseGroup('work').acquireLease('a', stopping.signal);
    stopping.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    leases.setOthers();
    await settle();
    expect(leases.held.size).toBe(0);
  });
});
