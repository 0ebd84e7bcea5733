import { randomUUID } from 'node:crypto';
import {
  UnavailableError,
  type HeldLeaseState,
  type Lease,
  type LeaseMember,
  type Leases,
  type LeaseGroupMembership,
  type WantedLeases,
} from '@tracking/ports';

/** Number of epochs reserved for each start of the process. One start never uses all of them. */
const EPOCHS_RESERVED_PER_START = 2 ** 32;

/** Leases for a single process: held until released, and granted in order of arrival. */
export class InProcessLeases implements Leases {
  /** Waiting callers of each held lease, in order of arrival. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private readonly given = new Set<Lease>();
  private readonly closing = new AbortController();
  private readonly members = new Map<string, LeaseMember>();
  private readonly listeners = new Set<() => void>();
  private epoch: number;

  /** @param start increases with every start of the process on the same data, and so do epochs */
  constructor(start: number) {
    this.epoch = start * EPOCHS_RESERVED_PER_START;
  }

  async acquireLease(name: string, signal: AbortSignal): Promise<Lease> {
    signal.throwIfAborted();
    this.closing.signal.throwIfAborted();
    const waiting = this.waiting.get(name);
    if (waiting === undefined) this.waiting.set(name, []);
    else await this.waitForLeaseRelease(waiting, signal);
    return this.grantLease(name);
  }

  joinLeaseGroup(about: Pick<LeaseMember, 'name' | 'address'>): LeaseGroupMembership {
    const id = randomUUID();
    const own = new Set<() => void>();
    const readMembers = () => [...this.members.values()];
    const announce = (wanted: WantedLeases) => {
      this.members.set(id, { id, ...about, wanted });
      this.notifyListeners();
    };
    announce({});
    return {
      id,
      get members() {
        return readMembers();
      },
      announceMember: announce,
      addMemberChangeListener: (listener) => {
        own.add(listener);
        this.listeners.add(listener);
      },
      removeOwnMember: () => {
        for (const listener of own) this.listeners.delete(listener);
        if (this.members.delete(id)) this.notifyListeners();
        return Promise.resolve();
      },
    };
  }

  listHeldLeases(): Promise<readonly HeldLeaseState[]> {
    const [only = null, ...others] = this.members.values();
    const holder = only === null || others.length > 0 ? null : pickLeaseHolderFields(only);
    const held = [...this.given].map(({ name, epoch }) => ({ name, epoch, holder }));
    return Promise.resolve(held.sort((one, other) => (one.name < other.name ? -1 : 1)));
  }

  async close(): Promise<void> {
    // Waiting callers are rejected before the leases end, so that no caller gets a released lease.
    this.closing.abort(new UnavailableError('leases', 'closed'));
    for (const lease of this.given) await lease.releaseLease();
  }

  private notifyListeners(): void {
    for (const listener of this.listeners) listener();
  }

  private waitForLeaseRelease(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
    const impatience = AbortSignal.any([signal, this.closing.signal]);
    return new Promise((resolve, reject) => {
      const take = () => {
        impatience.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(impatience.reason as Error);
      };
      waiting.push(take);
      impatience.addEventListener('abort', giveUp, { once: true });
    });
  }

  private grantLease(name: string): Lease {
    const released = new AbortController();
    this.epoch += 1;
    const lease: Lease = {
      name,
      epoch: this.epoch,
      lost: released.signal,
      handOverRequested: new AbortController().signal,
      isLeaseHeld: () => !released.signal.aborted,
      releaseLease: () => {
        if (this.given.delete(lease)) {
          released.abort();
          const next = this.waiting.get(name)?.shift();
          if (next === undefined) this.waiting.delete(name);
          else next();
        }
        return Promise.resolve();
      },
    };
    this.given.add(lease);
    return lease;
  }
}

function pickLeaseHolderFields({ id, name, address }: LeaseMember): HeldLeaseState['holder'] {
  return { id, name, ...(address !== undefined && { address }) };
}
