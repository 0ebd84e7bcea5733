import {
  type Collection,
  type Document,
  type DocumentStore,
  type Filter,
  type Lease,
  type MemberDescription,
  UnavailableError,
} from '@tracking/ports';
import { LeaseDistributor, waitForAbort } from '@tracking/resilience';
import { noMetrics, silentLogger } from '@tracking/testing';
import type { LeaseClock } from '../../src/mongodb/held-lease.ts';
import { MongoLeases } from '../../src/mongodb/mongo-leases.ts';

/** Turns of the event loop in which all work that one timer starts reaches its next timer. */
const EVENT_LOOP_TURNS_PER_TIMER = 4;

interface VirtualTimer {
  readonly at: number;
  fire(): void;
}

/** Time that passes only when a test advances it. */
export class VirtualTestClock {
  now = 0;
  private timers: VirtualTimer[] = [];

  /** Calls back after a number of milliseconds. Returns a function that cancels the call. */
  scheduleTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.now + Math.max(0, ms), fire };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((other) => other !== timer));
  }

  /** Advances the time, and calls `check` after each timer. */
  async advanceTime(ms: number, check: () => void = () => undefined): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      const next = this.timers.reduce<VirtualTimer | undefined>(
        (first, one) => (first && first.at <= one.at ? first : one),
        undefined,
      );
      if (next === undefined || next.at > end) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.now = next.at;
      next.fire();
      for (let turn = 0; turn < EVENT_LOOP_TURNS_PER_TIMER; turn += 1) await new Promise(setImmediate);
      check();
    }
    this.now = end;
  }
}

/** Documents of all processes of a cluster, by collection. */
export type VirtualDocuments = Map<string, Map<string, Document>>;

export interface VirtualCluster {
  readonly time: VirtualTestClock;
  readonly documents: VirtualDocuments;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  readonly names: readonly string[];
}

/** A process of the cluster. It wants all leases, and hands a lease over when it is requested. */
export class VirtualProcess {
  readonly held = new Map<string, Lease>();
  /** Epochs of all leases that the process acquired, with their names. */
  readonly acquired: { readonly name: string; readonly epoch: number }[] = [];
  readonly shares: LeaseDistributor;
  /** Monotonic clock of the process. */
  readonly clock: LeaseClock;
  readonly store: DocumentStore;
  isStoreAway = false;
  /** Returns true if the next beat of this process fails. */
  losesBeat = () => false;
  private isKilled = false;
  private resumed: PromiseWithResolvers<void> | undefined;
  private readonly stopping = new AbortController();
  private readonly leases: MongoLeases;
  private readonly loops: Promise<void>[];

  /** @param rate speed of the process's clock; 1 is exact */
  constructor(
    private readonly cluster: VirtualCluster,
    member: string | MemberDescription,
    rate = 1,
  ) {
    const offset = cluster.random() * 1e6;
    this.clock = {
      now: () => offset + cluster.time.now * rate,
      // Like a timer of Node.js. Rounding could otherwise give pauses in which no time passes.
      wait: (ms, signal) => this.pauseInVirtualTime(Math.max(1, ms / rate), signal),
    };
    this.store = this.createSimulatedDocumentStore();
    this.leases = new MongoLeases(this.store, noMetrics, { time: this.clock });
    const { leases } = this;
    const about = typeof member === 'string' ? { name: member } : member;
    this.shares = new LeaseDistributor({ leases, member: about, logger: silentLogger, metrics: noMetrics });
    this.loops = cluster.names.map((one) => this.holdLeaseRepeatedly(one));
  }

  get isAlive(): boolean {
    return !this.isKilled && !this.stopping.signal.aborted;
  }

  /** Ends the process without releasing anything. */
  simulateProcessKill(): void {
    this.isKilled = true;
  }

  /** Suspends the process until {@link resumeProcess}. */
  suspendProcess(): void {
    this.resumed ??= Promise.withResolvers();
  }
  resumeProcess(): void {
    this.resumed?.resolve();
    this.resumed = undefined;
  }

  /** Ends the process in order. */
  async stopProcess(): Promise<void> {
    this.stopping.abort(new Error('stopped'));
    await Promise.all(this.loops);
    await this.leases.close();
  }

  private async holdLeaseRepeatedly(name: string): Promise<void> {
    const { signal } = this.stopping;
    const group = this.shares.getOrCreateLeaseGroup('work');
    while (!signal.aborted) {
      const lease = await group.acquireLease(name, signal).catch(() => undefined);
      if (lease === undefined) continue;
      this.held.set(name, lease);
      this.acquired.push({ name, epoch: lease.epoch });
      await waitForAbort(signal, lease.lost, lease.handOverRequested);
      this.held.delete(name);
      await lease.releaseLease();
    }
  }

  private async pauseInVirtualTime(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.cluster.time.scheduleTimer(ms, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
    await this.waitWhileSuspended();
  }

  /** Never resolves in a killed process; waits in a suspended one. */
  private async waitWhileSuspended(): Promise<void> {
    while (this.resumed !== undefined) await this.resumed.promise;
    if (this.isKilled) await new Promise(() => undefined);
  }

  private createSimulatedDocumentStore(): DocumentStore {
    const { documents } = this.cluster;
    const open = (name: string) => {
      const stored = documents.get(name) ?? new Map<string, Document>();
      documents.set(name, stored);
      return Promise.resolve(this.createSimulatedCollection(stored));
    };
    return { collection: ({ name }: { readonly name: string }) => open(name) } as unknown as DocumentStore;
  }

  /** Operations take effect, and respond, after random delays. */
  private createSimulatedCollection(stored: Map<string, Document>): Collection<Document> {
    const run = async <T>(operation: () => T): Promise<T> => {
      await this.delayCallByVirtualTime();
      if (this.isStoreAway) throw new UnavailableError('document store', 'test');
      const result = operation();
      await this.delayCallByVirtualTime();
      return result;
    };
    const write = (document: Document, guard: Filter | undefined, mayInsert: boolean) => {
      const known = stored.get(document.id);
      if (known === undefined ? !mayInsert : !matchesGuard(known, guard)) return false;
      stored.set(document.id, document);
      return true;
    };
    return {
      get: (id: string) => run(() => stored.get(id)),
      find: () => run(() => [...stored.values()]),
      insert: (document: Document) => run(() => !stored.has(document.id) && write(document, {}, true)),
      replace: (document: Document, guard?: Filter) => run(() => write(document, guard, false)),
      // Only beats of members are stored in this way.
      upsert: (document: Document, guard?: Filter) =>
        run(() => {
          if (this.losesBeat()) throw new UnavailableError('document store', 'test');
          return write(document, guard, true);
        }),
      delete: (id: string, guard?: Filter) =>
        run(() => stored.has(id) && matchesGuard(stored.get(id) as Document, guard) && stored.delete(id)),
      writeMany: (writes: readonly { readonly document: Document; readonly guard?: Filter }[]) =>
        run(() => writes.forEach(({ document, guard }) => write(document, guard, true))),
    } as unknown as Collection<Document>;
  }

  private async delayCallByVirtualTime(): Promise<void> {
    await new Promise<void>((resolve) => this.cluster.time.scheduleTimer(this.cluster.random() * 15, resolve));
    await this.waitWhileSuspended();
  }
}

function matchesGuard(document: Document, guard: Filter = {}): boolean {
  return Object.entries(guard).every(([field, condition]) => {
    const value = (document as Document & Readonly<Record<string, unknown>>)[field];
    if (condition === null || typeof condition !== 'object') return value === condition;
    if (!('lt' in condition)) throw new Error(`the guard of ${field} is not supported`);
    return typeof value === 'number' && value < Number(condition.lt);
  });
}
