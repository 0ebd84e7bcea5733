import {
  MAX_APPEND_BYTES,
  retryCounter,
  type DocumentStore,
  type EventStore,
  type Leases,
  type Logger,
  type MessageBroker,
  type Metrics,
  type Quota,
  type StoredEvent,
} from '@tracking/ports';
import { DataFolderDamaged, DataFolderTooNew, lockDataFolder, type DataFolder } from './data-folder.ts';
import { InProcessLeases } from './in-process-leases.ts';
import { LiveTail, type TailLimits } from './live-tail.ts';
import { MemoryQuota } from './memory-quota.ts';
import { openForReading } from './sqlite-database.ts';
import { DamagedStorage, NewerSchema } from './storage-file.ts';
import { SqliteDocumentStore } from './sqlite-document-store.ts';
import { SqliteEventStore } from './sqlite-event-store.ts';
import { SqliteMessageBroker } from './sqlite-message-broker.ts';
import { SqliteReaderPool, type SqliteStorage } from './sqlite-reader-pool.ts';
import { SqliteWriter } from './sqlite-writer.ts';

export interface EmbeddedLimits {
  /** Most events and documents that wait for a commit; beyond: `Busy`. 20,000 by default. */
  readonly waitingWrites?: number;
  /** Most lists and scans that wait for a reader; beyond: `Busy`. 1,000 by default. */
  readonly waitingReads?: number;
  /** Threads for lists, scans and old events; 2 by default, 0 reads them on the calling thread. */
  readonly readerThreads?: number;
  /** Newest events, and as many messages, kept in memory for live readers. 2,000 by default, and 8 M characters of each. */
  readonly live?: Partial<TailLimits>;
  /** Maximum size of data and metadata of one append; `MAX_APPEND_BYTES` by default. */
  readonly appendBytes?: number;
  /**
   * At what size of the write-ahead log a checkpoint is due; 16 MiB by default, 4 times SQLite's. A larger one costs fewer
   * fsyncs, and a page that changed often is copied once. Under a load that never rests the log grows to four times that.
   * Not more: the log's frames are no whole blocks, so that what is overwritten when it starts again is first read from the
   * disk, wherever the operating system no longer has it in memory.
   */
  readonly walCheckpointBytes?: number;
}

export interface EmbeddedOptions {
  /** Made if it is not there; belongs to one process at a time. */
  readonly dataDir: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: EmbeddedLimits;
}

/** The storage of a process that has everything in one folder: one SQLite file, written by one thread. */
export class EmbeddedEngine {
  private closed: Promise<void> | undefined;

  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly messageBroker: MessageBroker;
  readonly leases: Leases;
  readonly quota: Quota = new MemoryQuota();

  private constructor(
    private readonly storage: SqliteStorage,
    private readonly folder: DataFolder,
    { logger, metrics, limits = {} }: EmbeddedOptions,
  ) {
    const { appendBytes = MAX_APPEND_BYTES } = limits;
    const live = { items: 2_000, characters: 8_000_000, ...limits.live };
    const { head, incarnation } = storage.writer.start;
    const countRetry = retryCounter(metrics);
    const events = new LiveTail<StoredEvent>(head, live);
    this.eventStore = new SqliteEventStore(storage, events, { appendBytes, logger, countRetry });
    this.documentStore = new SqliteDocumentStore(storage);
    this.messageBroker = new SqliteMessageBroker(storage, { live, logger, countRetry });
    this.leases = new InProcessLeases(incarnation);
  }

  /**
   * Opens the folder; what a crash left behind is put in order by itself.
   * @throws DataFolderInUse, DataFolderTooNew, DataFolderDamaged, Unavailable
   */
  static async open(options: EmbeddedOptions): Promise<EmbeddedEngine> {
    const { dataDir, metrics, limits = {} } = options;
    const { readerThreads = 2, waitingReads = 1_000 } = limits;
    const folder = lockDataFolder(dataDir);
    const writer = await openWriter(folder, options);
    const database = openForReading(folder.storage);
    const readers = new SqliteReaderPool(folder.storage, { threads: readerThreads, maxWaiting: waitingReads }, metrics);
    return new EmbeddedEngine({ writer, database, readers }, folder, options);
  }

  /** Why nothing can be written, now or soon; undefined while all is well. */
  get failure(): string | undefined {
    return this.storage.writer.failure;
  }

  /** Ends catch-ups and leases, lets writes under way finish, releases the folder. */
  close(): Promise<void> {
    this.closed ??= this.closeAll();
    return this.closed;
  }

  private async closeAll(): Promise<void> {
    // First: the handlers of its messages use the rest.
    await this.messageBroker.close();
    // Then no new work, while what is under way is finished.
    const drained = this.storage.writer.drain();
    await Promise.all([this.eventStore.close(), this.documentStore.close(), this.leases.close(), this.quota.close()]);
    await drained;
    await this.storage.readers.close();
    this.storage.database.close();
    // Last: the connection that closes the file checkpoints the log and deletes it.
    await this.storage.writer.close();
    this.folder.unlock();
  }
}

async function openWriter(
  folder: DataFolder,
  {
    dataDir,
    logger,
    metrics,
    limits: { waitingWrites = 20_000, walCheckpointBytes = 16 * 2 ** 20 } = {},
  }: EmbeddedOptions,
): Promise<SqliteWriter> {
  try {
    const options = { maxWaiting: waitingWrites, checkpointBytes: walCheckpointBytes, logger, metrics };
    return await SqliteWriter.open(folder.storage, options);
  } catch (error) {
    folder.unlock();
    if (error instanceof NewerSchema) throw new DataFolderTooNew(dataDir, error.message);
    throw error instanceof DamagedStorage ? new DataFolderDamaged(dataDir, error.message) : error;
  }
}
