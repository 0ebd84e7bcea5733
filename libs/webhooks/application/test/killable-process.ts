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
 * `dieAt` decides if calls in progress at that instant took effect.
 */
export class KillableProcess {
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
  killProcess(): void {
    this.death.abort();
    this.loseLeases();
  }

  /** Resolves when the work has ended or the process is dead. A dead process waits forever. */
  async resolveUnlessKilled(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.died]).catch((error: unknown) => {
      if (!this.dead) throw error;
    });
  }

  /**
   * Loses all leases as if the process was suspended. Other processes acquire the leases, and this process notices the
   * loss at its next check.
   */
  suspendProcess(): void {
    this.isStill = true;
    this.loseLeases();
  }

  /**
   * Loses all leases as if the lease store was unreachable. Other processes acquire the leases, and this process is
   * notified.
   */
  loseLeases(): void {
    for (const release of this.held) void release();
    this.held.clear();
  }

  get unanswered(): number {
    return [...this.doubtful.values()].reduce((sum, count) => sum + Math.max(0, count), 0);
  }

  documentStore(store: DocumentStore): DocumentStore {
    return {
      collection: async <T extends Document>(spec: CollectionSpec) =>
        this.wrapCollection<T>(await store.collection<T>(spec)),
      collectionNames: (prefix) => this.runRead(() => store.collectionNames(prefix)),
      dropCollection: (name) => this.runChange(() => store.dropCollection(name)),
      close: () => Promise.resolve(),
    };
  }

  wrapBroker(broker: MessageBroker): MessageBroker {
    return {
      ensureTopics: (topics) => broker.ensureTopics(topics),
      publish: (topic, messages) => this.runChange(() => broker.publish(topic, messages)),
      consume: (options, handler) => {
        const signal = AbortSignal.any([options.signal, this.death.signal]);
        return broker.consume({ ...options, signal }, async (messages, fenced) => {
          // Ignore the error of a dead process, which may not have committed its offset.
          const work = handler(messages, fenced).then(() => this.runChange(() => Promise.resolve()));
          await Promise.race([work, this.died]);
        });
      },
      countPublished: (topic) => broker.countPublished(topic),
      readConsumerLag: (topic, group) => broker.readConsumerLag(topic, group),
      close: () => broker.close(),
    };
  }

  wrapOutbound(outbound: OutboundHttp): OutboundHttp {
    return {
      post: (request) => {
        if (!this.dead) this.countUnanswered(request.headers['service-event-id'] ?? '', 1);
        return this.runChange(() => outbound.post(request));
      },
      describeRefusal: (url) => outbound.describeRefusal(url),
      closeReceivers: () => outbound.closeReceivers(),
    };
  }

  wrapLeases(leases: LeaseSource): LeaseSource {
    return {
      acquireLease: async (name, signal) => {
        const lease = await leases.acquireLease(name, signal);
        const release = () => lease.release();
        if (this.dead) {
          await release();
          return new Promise(() => undefined);
        }
        this.held.add(release);
        return this.wrapLease(lease);
      },
    };
  }

  private wrapLease(lease: Lease): Lease {
    const told = new AbortController();
    lease.lost.addEventListener('abort', () => {
      if (!this.isStill) told.abort();
    });
    return {
      name: lease.name,
      epoch: lease.epoch,
      lost: told.signal,
      handOverRequested: lease.handOverRequested,
      isHeld: () => {
        if (!lease.isHeld()) told.abort();
        return !told.signal.aborted;
      },
      release: () => lease.release(),
    };
  }

  private wrapCollection<T extends Document>(collection: Collection<T>): Collection<T> {
    return {
      get: (id) => this.runRead(() => collection.get(id)),
      getMany: (ids) => this.runRead(() => collection.getMany(ids)),
      find: (query) => this.runRead(() => collection.find(query)),
      findWithinByteLimit: (query, maxBytes) => this.runRead(() => collection.findWithinByteLimit(query, maxBytes)),
      count: (filter, options) => this.runRead(() => collection.count(filter, options)),
      sum: (field, filter, index) => this.runRead(() => collection.sum(field, filter, index)),
      scan: (query) => this.runRead(() => collection.scan(query)),
      insert: (document) => this.runChange(() => collection.insert(document)),
      replace: async (document, guard) => {
        const done = await this.runChange(() => collection.replace(document, guard));
        if (done && 'event_id' in document) this.countUnanswered(String(document.event_id), -1);
        return done;
      },
      replaceMany: (replacements) => this.runChange(() => collection.replaceMany(replacements)),
      upsert: (document, guard) => this.runChange(() => collection.upsert(document, guard)),
      delete: (id, guard) => this.runChange(() => collection.delete(id, guard)),
      writeMany: (writes) => this.runChange(() => collection.writeMany(writes)),
      claim: (query, set) => this.runChange(() => collection.claim(query, set)),
    };
  }

  private countUnanswered(eventId: string, change: number): void {
    this.doubtful.set(eventId, (this.doubtful.get(eventId) ?? 0) + change);
  }

  private async runRead<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return createPromiseThatNeverResolves();
    const answer = await work();
    return this.dead ? createPromiseThatNeverResolves() : answer;
  }

  private async runChange<T>(work: () => Promise<T>): Promise<T> {
    if (this.dead) return createPromiseThatNeverResolves();
    this.steps += 1;
    const fatal = this.steps === this.dieAt;
    if (fatal && this.before) this.killProcess();
    if (this.dead) return createPromiseThatNeverResolves();
    const answer = await work();
    if (fatal) this.killProcess();
    return this.dead ? createPromiseThatNeverResolves() : answer;
  }
}

function createPromiseThatNeverResolves<T>(): Promise<T> {
  return new Promise(() => undefined);
}
