import { randomUUID } from 'node:crypto';
import { type Collection, type DocumentStore, type Lease, type Leases, UnavailableError } from '@tracking/ports';
import { retry, waitForAbort } from '@tracking/resilience';
import { waitForSimulatedDelay } from '@tracking/testing';

/** A document of the load. */
interface LoadTestDocument {
  readonly id: string;
  readonly version?: number;
  readonly state?: string;
  /** Ids of the changes of the document, in order. */
  readonly entries?: readonly string[];
}

const DATABASE_INDEXES_BY_STATE = [{ name: 'by_state', fields: ['state', 'id'] }];
/** Milliseconds between two operations of a worker. */
const WORKER_OPERATION_INTERVAL_MS = 5;
/** Number of changes after which changes continue in another document. */
const ENTRIES_PER_DOCUMENT = 200;

/** Repeats an operation until the engine responds. */
function repeatUntilAnswered<R>(operation: (earlierAttempts: number) => Promise<R>): Promise<R> {
  return retry(operation, { maxPauseMs: 100, isTransient: (error) => error instanceof UnavailableError });
}

/** Work of several processes on one collection, and what the engine acknowledged. */
export class MongoWriteWorkload {
  private readonly name = `load-${randomUUID()}`;
  private readonly ended = new AbortController();
  private readonly inserted: string[] = [];
  private readonly entries: { readonly document: string; readonly entry: string }[] = [];
  private readonly won: { readonly id: string; readonly state: string }[] = [];
  /** Number of operations of each worker that the engine answered. */
  private readonly progress = new Map<string, number>();
  private readonly workers: Promise<void>[] = [];

  /** @param stores document store of each process */
  constructor(private readonly stores: readonly DocumentStore[]) {}

  startWriteWorkload(): void {
    for (const [process, store] of this.stores.entries()) {
      const opening = repeatUntilAnswered(() => this.openCollection(store));
      const begin = (worker: string, work: (documents: Collection<LoadTestDocument>, step: number) => Promise<void>) =>
        this.workers.push(this.runLoadWorker(`process ${process}: ${worker}`, opening, work));
      begin('inserts', (documents, step) => this.insertDocument(documents, `${process}-${step}`));
      begin('writes many', (documents, step) => this.writeManyTestDocuments(documents, `${process}-${step}`));
      begin('changes a shared document', (documents, step) => this.changeSharedDocument(documents, step));
      begin('claims jobs', (documents) => this.claimFreeLoadTestDocument(documents, `process ${process}`));
    }
  }

  /** Returns the number of answers of each worker. */
  countAnswersByWorker(): ReadonlyMap<string, number> {
    return new Map(this.progress);
  }

  /** Ends the work. @throws the first error that no worker may get */
  async stopLoad(): Promise<void> {
    this.ended.abort();
    await Promise.all(this.workers);
  }

  /** Compares the stored documents with what was acknowledged. Returns a description of each difference. */
  async findDifferencesFromAcknowledged(store: DocumentStore): Promise<readonly string[]> {
    const documents = await this.openCollection(store);
    const stored = new Map<string, LoadTestDocument>();
    for (const ids of splitIntoChunks([...this.inserted, ...this.won.map(({ id }) => id)], 1_000))
      for (const document of await documents.getMany(ids)) stored.set(document.id, document);
    const lost = this.inserted.filter((id) => !stored.has(id)).map((id) => `${id} is lost`);
    const winners = new Set(this.won.map(({ id }) => id));
    const doubled = winners.size === this.won.length ? [] : [`${this.won.length - winners.size} jobs were won twice`];
    const stolen = this.won
      .filter(({ id, state }) => stored.get(id)?.state !== state)
      .map(({ id, state }) => `${id} was won by ${state}, and is in state ${stored.get(id)?.state}`);
    return [...lost, ...doubled, ...stolen, ...(await this.findLostOrDoubledEntries(documents))];
  }

  async dropWorkloadCollection(store: DocumentStore): Promise<void> {
    await store.dropCollection(this.name);
  }

  private async findLostOrDoubledEntries(documents: Collection<LoadTestDocument>): Promise<readonly string[]> {
    const ids = [...new Set(this.entries.map(({ document }) => document))];
    const changed = await documents.getMany(ids);
    const counts = new Map<string, number>();
    for (const { id, entries = [] } of changed)
      for (const entry of entries) counts.set(`${id} ${entry}`, (counts.get(`${id} ${entry}`) ?? 0) + 1);
    const doubled = [...counts].filter(([, count]) => count > 1).map(([entry]) => `change ${entry} is stored twice`);
    const lost = this.entries
      .filter(({ document, entry }) => !counts.has(`${document} ${entry}`))
      .map(({ document, entry }) => `change ${document} ${entry} is lost`);
    return [...doubled, ...lost];
  }

  private openCollection(store: DocumentStore): Promise<Collection<LoadTestDocument>> {
    return store.collection<LoadTestDocument>({ name: this.name, indexes: DATABASE_INDEXES_BY_STATE });
  }

  private async runLoadWorker(
    worker: string,
    opening: Promise<Collection<LoadTestDocument>>,
    work: (documents: Collection<LoadTestDocument>, step: number) => Promise<void>,
  ): Promise<void> {
    this.progress.set(worker, 0);
    const documents = await opening;
    for (let step = 0; !this.ended.signal.aborted; step += 1) {
      await work(documents, step);
      this.progress.set(worker, step + 1);
      await waitForSimulatedDelay(WORKER_OPERATION_INTERVAL_MS);
    }
  }

  private async insertDocument(documents: Collection<LoadTestDocument>, id: string): Promise<void> {
    const document = { id: `one-${id}`, version: 1 };
    await repeatUntilAnswered(async (earlierAttempts) => {
      const isInserted = await documents.insert(document);
      if (!isInserted && earlierAttempts === 0) throw new Error(`${document.id} existed before it was inserted`);
    });
    this.inserted.push(document.id);
    // A resolved write is visible to its process.
    const found = await repeatUntilAnswered(() => documents.get(document.id));
    if (found === undefined) throw new Error(`${document.id} is not visible after it was inserted`);
  }

  private async writeManyTestDocuments(documents: Collection<LoadTestDocument>, id: string): Promise<void> {
    const ids = [0, 1, 2].map((n) => `many-${id}-${n}`);
    // A repeated upsert could undo a claim.
    const writes = ids.map((each) => ({ kind: 'insert', document: { id: each, state: 'free' } }) as const);
    await repeatUntilAnswered(() => documents.writeMany(writes));
    this.inserted.push(...ids);
  }

  /** Adds an entry to a document that all processes change. The entry identifies the change if its outcome is unknown. */
  private async changeSharedDocument(documents: Collection<LoadTestDocument>, step: number): Promise<void> {
    const id = `shared-${Math.floor(step / ENTRIES_PER_DOCUMENT)}`;
    const entry = randomUUID();
    await repeatUntilAnswered(async () => {
      for (;;) {
        const present = await documents.get(id);
        if (present?.entries?.includes(entry) === true) return;
        const { version = 0, entries = [] } = present ?? {};
        const next = { id, version: version + 1, entries: [...entries, entry] };
        const isWritten =
          present === undefined ? await documents.insert(next) : await documents.replace(next, { version });
        if (isWritten) return;
      }
    });
    this.entries.push({ document: id, entry });
  }

  private async claimFreeLoadTestDocument(documents: Collection<LoadTestDocument>, process: string): Promise<void> {
    const query = { filter: { state: 'free' }, sort: { fields: ['state', 'id'] } };
    // Each attempt has a new token, because it is unknown who made a claim that was not answered.
    const job = await repeatUntilAnswered(() => documents.claim(query, { state: `${process} ${randomUUID()}` }));
    if (job !== undefined) this.won.push({ id: job.id, state: job.state ?? '' });
  }
}

/** Processes that compete for one lease each, and the times when it was held. */
export class CompetingLeaseProcesses {
  private readonly ended = new AbortController();
  private readonly contenders: Promise<void>[] = [];
  private readonly holders = new Map<string, Lease>();
  /** Descriptions of moments when a lease had two holders. */
  readonly conflicts: string[] = [];

  constructor(
    private readonly processes: readonly Leases[],
    private readonly names: readonly string[],
  ) {}

  startLeaseCompetition(): void {
    for (const [process, leases] of this.processes.entries()) {
      leases.joinLeaseGroup({ name: `process ${process}` }).announceMember({ load: this.names });
      for (const name of this.names)
        this.contenders.push(this.competeForLeaseUntilTestEnd(`process ${process}`, leases, name));
    }
  }

  /** Returns the names of the leases that a process holds now. */
  listHeldLeaseNames(): readonly string[] {
    return this.names.filter((name) => this.holders.get(name)?.isLeaseHeld() === true);
  }

  async stopCompetingForLeases(): Promise<void> {
    this.ended.abort(new Error('the load ended'));
    await Promise.all(this.contenders);
  }

  private async competeForLeaseUntilTestEnd(process: string, leases: Leases, name: string): Promise<void> {
    while (!this.ended.signal.aborted) {
      const lease = await leases.acquireLease(name, this.ended.signal).catch((error: unknown) => {
        if (this.ended.signal.aborted) return undefined;
        throw error;
      });
      if (lease === undefined) return;
      const former = this.holders.get(name);
      if (former?.isLeaseHeld() === true)
        this.conflicts.push(`${name}: ${process} acquired it while another one held it`);
      if (former !== undefined && former.epoch >= lease.epoch) this.conflicts.push(`${name}: the epoch did not grow`);
      this.holders.set(name, lease);
      await waitForAbort(lease.lost, lease.handOverRequested, this.ended.signal);
      await lease.releaseLease();
    }
  }
}

function* splitIntoChunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
