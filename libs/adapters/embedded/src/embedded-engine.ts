import {
  MAX_APPEND_BYTES,
  createRetryCounter,
  type DocumentStore,
  type EventStore,
  type Leases,
  type Logger,
  type MessageBroker,
  type Metrics,
  type RequestQuota,
  type StoredEvent,
} from '@tracking/ports';
import { DataFolderDamagedError, DataFolderTooNewError, lockDataFolder, type LockedDataFolder } from './data-folder.ts';
import { InProcessLeases } from './in-process-leases.ts';
import { LogTailCache, type LogTailCacheLimits } from './live-tail.ts';
import { InMemoryRequestQuota } from './memory-quota.ts';
import { openDatabaseForReading } from './sqlite-database.ts';
import { DamagedStorageError, NewerSchemaError } from './storage-file.ts';
import { SqliteDocumentStore } from './sqlite-document-store.ts';
import { SqliteEventStore } from './sqlite-event-store.ts';
import { SqliteMessageBroker } from './sqlite-message-broker.ts';
import { SqliteReaderPool, type SqliteStorage } from './sqlite-reader-pool.ts';
import { SqliteWriter } from './sqlite-writer.ts';

export interface EmbeddedEngineLimits {
  /**
   * Maximum number of events and documents that wait for a commit. Further writes throw `BusyError`. Defaults to
   * 20,000.
   */
  readonly waitingWrites?: number;
  /**
   * Maximum number of lists and scans that wait for a reader thread. Further reads throw `BusyError`. Defaults to
   * 1,000.
   */
  readonly waitingReads?: number;
  /** Number of threads for lists, scans and old events. Defaults to 2; with 0 the calling thread reads. */
  readonly readerThreads?: number;
  /**
   * Limits of the newest events in memory for live readers. The newest messages have the same limits, and so has the
   * text of one batch of older messages. Default to 2,000 items and 8 M characters.
   */
  readonly live?: Partial<LogTailCacheLimits>;
  /** Maximum bytes of data and metadata of one append. Defaults to `MAX_APPEND_BYTES`. */
  readonly appendBytes?: number;
  /**
   * Size in bytes of the write-ahead log at which a checkpoint is due. Defaults to 16 MiB, 4 times SQLite's default: a
   * larger log needs fewer fsyncs and copies a frequently changed page once. Under constant load the log grows to 4
   * times this size. It should not be larger, because log frames are not whole blocks: when the log restarts,
   * overwritten blocks that are no longer in memory must first be read from the disk.
   */
  readonly walCheckpointBytes?: number;
}

export interface EmbeddedEngineOptions {
  /** Folder of the data, created if missing. One process at a time can use it. */
  readonly dataDir: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: EmbeddedEngineLimits;
}

/** Storage of a process that keeps everything in one folder: one SQLite file, written by one thread. */
export class EmbeddedSqliteEngine {
  private closed: Promise<void> | undefined;

  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly messageBroker: MessageBroker;
  readonly leases: Leases;
  readonly quota: RequestQuota = new InMemoryRequestQuota();

  private constructor(
    private readonly storage: SqliteStorage,
    private readonly folder: LockedDataFolder,
    { logger, metrics, limits = {} }: EmbeddedEngineOptions,
  ) {
    const { appendBytes = MAX_APPEND_BYTES } = limits;
    const live = { items: 2_000, characters: 8_000_000, ...limits.live };
    const { head, incarnation } = storage.writer.start;
    const countRetry = createRetryCounter(metrics);
    const events = new LogTailCache<StoredEvent>(head, live);
    this.eventStore = new SqliteEventStore(storage, events, { appendBytes, logger, countRetry });
    this.documentStore = new SqliteDocumentStore(storage);
    this.messageBroker = new SqliteMessageBroker(storage, { live, logger, countRetry });
    this.leases = new InProcessLeases(incarnation);
  }

  /**
   * Opens the folder and recovers automatically after a crash.
   * @throws DataFolderInUseError, DataFolderTooNewError, DataFolderDamagedError, UnavailableError
   */
  static async openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedSqliteEngine> {
    const { dataDir, metrics, limits = {} } = options;
    const { readerThreads = 2, waitingReads = 1_000 } = limits;
    const folder = lockDataFolder(dataDir);
    const writer = await openWriterOfDataFolder(folder, options);
    const database = openDatabaseForReading(folder.storage);
    const readers = new SqliteReaderPool(folder.storage, { threads: readerThreads, maxWaiting: waitingReads }, metrics);
    return new EmbeddedSqliteEngine({ writer, database, readers }, folder, options);
  }

  /** Reason why writes fail or will soon fail; undefined without a problem. */
  get failure(): string | undefined {
    return this.storage.writer.failure;
  }

  /** Ends catch-ups and leases, waits for running writes, and releases the folder. */
  closeEngine(): Promise<void> {
    this.closed ??= this.closePortsAndStorage();
    return this.closed;
  }

  private async closePortsAndStorage(): Promise<void> {
    // The message broker is closed first, because message handlers use the other ports.
    await this.messageBroker.close();
    // Refuses new work while running work completes.
    const drained = this.storage.writer.drainWriteQueue();
    await Promise.all([this.eventStore.close(), this.documentStore.close(), this.leases.close(), this.quota.close()]);
    await drained;
    await this.storage.readers.close();
    this.storage.database.closeDatabase();
    // The writer is closed last: the last connection checkpoints the log and deletes it.
    await this.storage.writer.close();
    this.folder.unlock();
  }
}

async function openWriterOfDataFolder(
  folder: LockedDataFolder,
  {
    dataDir,
    logger,
    metrics,
    limits: { waitingWrites = 20_000, walCheckpointBytes = 16 * 2 ** 20 } = {},
  }: EmbeddedEngineOptions,
): Promise<SqliteWriter> {
  try {
    const options = { maxWaiting: waitingWrites, checkpointBytes: walCheckpointBytes, logger, metrics };
    return await SqliteWriter.openSqliteWriter(folder.storage, options);
  } catch (error) {
    folder.unlock();
    if (error instanceof NewerSchemaError) throw new DataFolderTooNewError(dataDir, error.message);
    throw error instanceof DamagedStorageError ? new DataFolderDamagedError(dataDir, error.message) : error;
  }
}
