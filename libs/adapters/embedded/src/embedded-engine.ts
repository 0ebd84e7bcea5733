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
import { NewerSchema, openForReading } from './sqlite-database.ts';
import { SqliteDocumentStore } from './sqlite-document-store.ts';
import { SqliteEventStore } from './sqlite-event-store.ts';
import { SqliteMessageBroker } from './sqlite-message-broker.ts';
import { SqliteReaders } from './sqlite-readers.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import { DamagedStorage } from './storage-check.ts';

export interface EmbeddedLimits {
  /** Most events and documents that wait for a commit; beyond: `Busy`. 20,000 by default. */
  readonly waitingWrites?: number;
  /** Most lists and scans that wait for a reader; beyond: `Busy`. 1,000 by default. */
  readonly waitingReads?: number;
  /** Threads for lists, scans and old events; 2 by default. */
  readonly readerThreads?: number;
  /** Newest events, and as many messages, kept in memory for live readers. 2,000 by default, and 8 M characters of each. */
  readonly live?: Partial<TailLimits>;
  /** Of data and metadata of one append; `MAX_APPEND_BYTES` by default. */
  readonly appendBytes?: number;
  /**
   * How much of the log is put into the file at once; 16 MiB by default, 4 times SQLite's: each time costs
   * synchronisations with the disk, but a page that changed often meanwhile is written once. Under a load that never rests
   * the log grows to four times that. Not more: what is written over when it begins anew is read first wherever the
   * operating system no longer has it in memory, since SQLite writes the log in pieces that are no whole blocks.
   */
  readonly logBytes?: number;
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

  private constructor(
    readonly eventStore: EventStore,
    readonly documentStore: DocumentStore,
    readonly messageBroker: MessageBroker,
    readonly leases: Leases,
    readonly quota: Quota,
    private readonly writer: SqliteWriter,
    private readonly release: () => Promise<void>,
  ) {}

  /**
   * Opens the folder; what a crash left behind is put in order by itself.
   * @throws DataFolderInUse, DataFolderTooNew, DataFolderDamaged, Unavailable
   */
  static async open({ dataDir, logger, metrics, limits = {} }: EmbeddedOptions): Promise<EmbeddedEngine> {
    const folder = lockDataFolder(dataDir);
    const writer = await openWriter(folder, dataDir, limits, logger, metrics);
    const database = openForReading(folder.storage);
    const { readerThreads = 2, waitingReads = 1_000, appendBytes = MAX_APPEND_BYTES } = limits;
    const live = { items: 2_000, characters: 8_000_000, ...limits.live };
    const readers = new SqliteReaders(folder.storage, { threads: readerThreads, waiting: waitingReads }, metrics);
    const countRetry = retryCounter(metrics);
    const events = new LiveTail<StoredEvent>(writer.start.head, live);
    return new EmbeddedEngine(
      new SqliteEventStore(writer, database, readers, events, logger, countRetry, appendBytes),
      new SqliteDocumentStore(writer, database, readers),
      new SqliteMessageBroker(writer, database, readers, live, logger, countRetry),
      new InProcessLeases(writer.start.incarnation),
      new MemoryQuota(),
      writer,
      async () => {
        await readers.close();
        database.close();
        // Last: the connection that closes the file puts the log into it.
        await writer.close();
        folder.unlock();
      },
    );
  }

  /** Why nothing can be written, now or soon; undefined while all is well. */
  get failure(): string | undefined {
    return this.writer.failure;
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
    const drained = this.writer.drain();
    await Promise.all([this.eventStore.close(), this.documentStore.close(), this.leases.close(), this.quota.close()]);
    await drained;
    await this.release();
  }
}

async function openWriter(
  folder: DataFolder,
  dataDir: string,
  { waitingWrites = 20_000, logBytes = 16 * 2 ** 20 }: EmbeddedLimits,
  logger: Logger,
  metrics: Metrics,
): Promise<SqliteWriter> {
  try {
    return await SqliteWriter.open(folder.storage, { waiting: waitingWrites, logBytes }, logger, metrics);
  } catch (error) {
    folder.unlock();
    if (error instanceof NewerSchema) throw new DataFolderTooNew(dataDir, error.message);
    throw error instanceof DamagedStorage ? new DataFolderDamaged(dataDir, error.message) : error;
  }
}
