import type {
  Collection,
  CollectionSpec,
  Document,
  DocumentStore,
  Lease,
  LeaseSource,
  MessageBroker,
  OutboundHttp,
} from '@tracking/ports';

/**
 * A process that can die in a test: from one instant on, none of its outgoing calls has an effect or a response.
 * `before` decides if the current call at that instant took effect.
 */
export class SimulatedKillableProcess {
  private readonly death = new AbortController();
  private readonly died: Promise<never>;
  /** Number of outgoing calls so far that write data. */
  steps = 0;
  /** Milliseconds by which this process's clock is ahead of the others. */
  clockOffset = 0;
  /** Deliveries sent whose outcome is not known to be stored; final once the process is dead. */
  private readonly doubtful = new Map<string, number>();
  private readonly held = new Set<() => Promise<void>>();
  private isStill = false;

  /**
   * @param dieAt number of the call, from 1, at which the process dies
   * @param before true if the process dies before the call takes effect; false if it dies after the effect, before the
   *   response
   */
  constructor(
    private readonly dieAt = Infinity,
    private readonly before = true,
  ) {
    this.died = new Promise((_, reject) => {
      this.death.signal.addEventListener('abort', () => reject(new Error('dead')));
    });
    this.died.catch(() => undefined);
  }

  get dead(): boolean {
    return this.death.signal.aborted;
  }

  /** Dies as by kill -9. Other processes take over its leases. */
  simulateProcessKill(): void {
    this.death.abort();
    this.simulateLeaseLoss();
  }

  /** Resolves when the work has ended or the process is dead. A dead process waits forever. */
  async waitForWorkEndOrDeath(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.died]).catch((error: unknown) => {
      if (!this.dead) throw error;
    });
  }

  /**
   * Loses all leases as if the process was suspended. Other processes acquire the leases, and this process notices the
   * loss at its next check.
   */
  simulateUnnoticedLeaseLoss(): void {
    this.isStill = true;
    this.simulateLeaseLoss();
  }

  /**
   * Loses all leases as if the lease store was unreachable. Other processes acquire the leases, and this process is
   * notified.
   */
  simulateLeaseLoss(): void {
    for (const release of this.held) void release();
    this.held.clear();
  }

  get unanswered(): number {
    return [...this.doubtful.values()].reduce((sum, count) => sum + Math.max(0, count), 0);
  }

  wrapDocumentStoreWithFaults(store: DocumentStore): DocumentStore {
    return {
      collection: async <T extends Document>(spec: CollectionSpec) =>
        this.makeCollectionKillable<T>(await store.collection<T>(spec)),
      listCollectionNames: (prefix) => this.runReadUnlessKilled(() => store.listCollectionNames(prefix)),
      dropCollection: (name) => this.runChangeUnlessKilled(() => store.dropCollection(name)),
      close: () => Promise.resolve(),
    };
  }

  makeBrokerKillable(broker: MessageBroker): MessageBroker {
    return {
      ensureTopics: (topics) => broker.ensureTopics(topics),
      publishMessages: (topic, messages) => this.runChangeUnlessKilled(() => broker.publishMessages(topic, messages)),
      consume: (options, handler) => {
        const signal = AbortSignal.any([options.signal, this.death.signal]);
        return broker.consume({ ...options, signal }, async (messages, fenced) => {
          // Ignore the error of a dead process, which may not have committed its offset.
          const work = handler(messages, fenced).then(() => this.runChangeUnlessKilled(() => Promise.resolve()));
          await Promise.race([work, this.died]);
        });
      },
      countPublishedMessages: (topic) => broker.countPublishedMessages(topic),
      readConsumerLag: (topic, group) => broker.readConsumerLag(topic, group),
      close: () => broker.close(),
    };
  }

  makeOutboundHttpKillable(outbound: OutboundHttp): OutboundHttp {
    return {
      post: (request) => {
        if (!this.dead) this.changeUnansweredCount(request.headers['service-event-id'] ?? '', 1);
        return this.runChangeUnlessKilled(() => outbound.post(request));
      },
      describeUrlRefusal: (url) => outbound.describeUrlRefusal(url),
      closeOutboundHttp: () => outbound.closeOutboundHttp(),
    };
  }

  makeLeasesKillable(leases: LeaseSource): LeaseSource {
    return {
      acquireLease: async (name, signal) => {
        const lease = await leases.acquireLease(name, signal);
        const release = () => lease.releaseLease();
        if (this.dead) {
          await release();
          return new Promise(() => undefined);
        }
        this.held.add(release);
        return this.delayLeaseLossWhileFrozen(lease);
      },
    };
  }

  private delayLeaseLossWhileFrozen(lease: Lease): Lease {
    const told = new AbortController();
    lease.lost.addEventListener('abort', () => {
      if (!this.isStill) told.abort();
    });
    return {
      name: lease.name,
      epoch: lease.epoch,
      lost: told.signal,
      handOverRequested: lease.handOverRequested,
      isLeaseHeld: () => {
        if (!lease.isLeaseHeld()) told.abort();
        return !told.signal.aborted;
      },
      releaseLease: () => lease.releaseLease(),
    };
  }

  private makeCollectionKillable<T extends Document>(collection: Collection<T>): Collection<T> {
    return {
      get: (id) => this.runReadUnlessKilled(() => collection.get(id)),
      getMany: (ids) => this.runReadUnlessKilled(() => collection.getMany(ids)),
      find: (query) => this.runReadUnlessKilled(() => collection.find(query)),
      findWithinByteLimit: (query, maxBytes) =>
        this.runReadUnlessKilled(() => collection.findWithinByteLimit(query, maxBytes)),
      count: (filter, options) => this.runReadUnlessKilled(() => collection.count(filter, options)),
      sum: (field, filter, index) => this.runReadUnlessKilled(() => collection.sum(field, filter, index)),
      scan: (query) => this.runReadUnlessKilled(() => collection.scan(query)),
      insert: (document) => this.runChangeUnlessKilled(() => collection.insert(document)),
      replace: async (document, guard) => {
        const done = await this.runChangeUnlessKilled(() => collection.replace(document, guard));
        if (done && 'event_id' in document) this.changeUnansweredCount(String(document.event_id), -1);
        return done;
      },
      replaceMany: (replacements) => this.runChangeUnlessKilled(() => collection.replaceMany(replacements)),
      upsert: (document, guard) => this.runChangeUnlessKilled(() => collection.upsert(document, guard)),
      delete: (id, guard) => this.runChangeUnlessKilled(() => collection.delete(id, guard)),
      writeMany: (writes) => this.runChangeUnlessKilled(() => collection.writeMany(writes)),
      claim: (query, set) => this.runChangeUnlessKilled(() => collection.claim(query, set)),
    };
  }

  private changeUnansweredCount(eventId: string, change: number): void {
    this.doubtful.set(eventId, (this.doubtful.get(eventId) ?? 0) + change);
  }

  private async runReadUnlessKilled<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return createPromiseThatNeverResolves();
    const answer = await work();
    return this.dead ? createPromiseThatNeverResolves() : answer;
  }

  private async runChangeUnlessKilled<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return createPromiseThatNeverResolves();
    this.steps += 1;
    const fatal = this.steps === this.dieAt;
    if (fatal && this.before) this.simulateProcessKill();
    if (this.dead) return createPromiseThatNeverResolves();
    const answer = await work();
    if (fatal) this.simulateProcessKill();
    return this.dead ? createPromiseThatNeverResolves() : answer;
  }
}

function createPromiseThatNeverResolves<T>(): Promise<T> {
  return new Promise(() => undefined);
}
