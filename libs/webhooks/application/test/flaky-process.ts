import {
  type Collection,
  type Document,
  type DocumentStore,
  UnavailableError,
  type CollectionWrite,
} from '@tracking/ports';
import { SimulatedKillableProcess } from './killable-process.ts';

/** A process whose document store fails about every tenth call, half of those after the call took effect. */
export class ProcessWithFlakyDocumentStore extends SimulatedKillableProcess {
  /** True while the store fails. */
  flaky = false;
  /** True if every call fails. */
  down = false;
  /** True if the next document replacement fails once, after it took effect. */
  afterNextReplace = false;
  /** Id of an endpoint whose new deliveries are not stored until {@link releaseWrites} is called. */
  holdDeliveriesTo: string | undefined;
  /** Writes that wait for {@link releaseWrites}. */
  atGate = 0;
  private readonly gate = Promise.withResolvers<void>();
  /** Collection whose calls fail after they took effect. */
  afterWritesTo: string | undefined;
  private calls = 0;

  override wrapDocumentStoreWithFaults(store: DocumentStore): DocumentStore {
    return super.wrapDocumentStoreWithFaults({
      collection: async <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) =>
        this.makeCollectionFlaky(await store.collection<T>(spec), spec.name),
      listCollectionNames: (prefix) => store.listCollectionNames(prefix),
      dropCollection: (name) => store.dropCollection(name),
      close: () => store.close(),
    });
  }

  private makeCollectionFlaky<T extends Document>(inner: Collection<T>, name: string): Collection<T> {
    return {
      get: (id) => this.callWithInjectedFailures(() => inner.get(id)),
      getMany: (ids) => this.callWithInjectedFailures(() => inner.getMany(ids)),
      find: (query) => this.callWithInjectedFailures(() => inner.find(query)),
      findWithinByteLimit: (query, maxBytes) =>
        this.callWithInjectedFailures(() => inner.findWithinByteLimit(query, maxBytes)),
      count: (filter, options) => this.callWithInjectedFailures(() => inner.count(filter, options)),
      sum: (field, filter, index) => this.callWithInjectedFailures(() => inner.sum(field, filter, index)),
      scan: (query) => this.callWithInjectedFailures(() => inner.scan(query)),
      insert: async (document) => {
        const done = await this.callWithInjectedFailures(() => inner.insert(document));
        if (this.afterWritesTo === name) throw new UnavailableError('document store', 'test');
        return done;
      },
      replace: async (document, guard) => {
        // A failure affects only calls that begin later. A call in progress has already taken effect.
        const fails = this.afterNextReplace;
        this.afterNextReplace = false;
        const done = await this.callWithInjectedFailures(() => inner.replace(document, guard));
        if (!fails) return done;
        throw new UnavailableError('document store', 'test');
      },
      replaceMany: (replacements) => this.callWithInjectedFailures(() => inner.replaceMany(replacements)),
      upsert: (document, guard) => this.callWithInjectedFailures(() => inner.upsert(document, guard)),
      delete: (id, guard) => this.callWithInjectedFailures(() => inner.delete(id, guard)),
      writeMany: async (writes) => {
        if (writes.some((write) => this.isWriteHeld(write))) await this.holdDocumentStoreCall();
        await this.callWithInjectedFailures(() => inner.writeMany(writes));
        if (this.afterWritesTo === name) throw new UnavailableError('document store', 'test');
      },
      claim: (query, set) => this.callWithInjectedFailures(() => inner.claim(query, set)),
    };
  }

  releaseWrites(): void {
    this.holdDeliveriesTo = undefined;
    this.gate.resolve();
  }

  private isWriteHeld<T extends Document>(write: CollectionWrite<T>): boolean {
    const { holdDeliveriesTo: endpoint } = this;
    if (endpoint === undefined || write.kind === 'delete') return false;
    return 'endpoint_id' in write.document && write.document.endpoint_id === endpoint;
  }

  private async holdDocumentStoreCall(): Promise<void> {
    this.atGate += 1;
    await this.gate.promise;
    this.atGate -= 1;
  }

  private async callWithInjectedFailures<T>(work: () => Promise<T>): Promise<T> {
    this.calls += 1;
    if (this.down) throw new UnavailableError('document store', 'test');
    // Failures are spread over the calls, so that no kind of work fails every time.
    const luck = this.flaky ? (this.calls * 7_919) % 101 : Infinity;
    if (luck < 5) throw new UnavailableError('document store', 'test');
    const answer = await work();
    if (luck < 10) throw new UnavailableError('document store', 'test');
    return answer;
  }
}
