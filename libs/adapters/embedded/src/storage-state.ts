import type { Logger, Metrics } from '@tracking/ports';
import { measureFreeDiskBytes } from './disk-space.ts';

/** Free bytes on the disk below which a warning is reported before writes fail. */
const LOW_SPACE_BYTES = 4 * 2 ** 20;

/** State of the storage for callers and operators: whether the disk accepts writes. */
export class StorageState {
  private endedBy: string | undefined;
  private refusedBy: string | undefined;
  private freeBytes: number | undefined;

  /** @param folder folder of the files */
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    metrics.createGauge(
      'storage_free_bytes',
      'Free bytes on the disk of the data folder',
      [],
      () => this.freeBytes ?? 0,
    );
  }

  /** Reason why this process can no longer write. */
  get ended(): string | undefined {
    return this.endedBy;
  }

  /** Reason why writes fail until space is available. Writing is retried periodically. */
  get outOfSpace(): string | undefined {
    return this.refusedBy;
  }

  /** Description of the storage problem for operators; undefined if there is no problem. */
  get failure(): string | undefined {
    return this.endedBy ?? this.refusedBy ?? this.lowSpaceWarning;
  }

  markStorageAsFailed(reason: string): void {
    if (this.endedBy !== undefined) return;
    this.logger.error({ reason }, 'storage: writing has stopped; fix the cause and restart the process');
    this.endedBy = reason;
  }

  markStorageClosed(): void {
    this.endedBy ??= 'closed';
  }

  refuseWritesOnFullDisk(reason: string): void {
    if (this.refusedBy === undefined) {
      this.logger.error({ reason }, 'storage: writes are refused because the disk is full; free space on the disk');
    }
    this.refusedBy = reason;
  }

  resumeRefusedStorageWrites(): void {
    if (this.refusedBy !== undefined) this.logger.info({}, 'storage: the disk has space again; writes continue');
    this.refusedBy = undefined;
  }

  /** Measures the free space, which stays unknown if the file system does not report it. */
  async measureFreeSpace(): Promise<void> {
    this.freeBytes = await measureFreeDiskBytes(this.folder).catch(() => undefined);
  }

  private get lowSpaceWarning(): string | undefined {
    const { freeBytes } = this;
    if (freeBytes === undefined || freeBytes >= LOW_SPACE_BYTES) return undefined;
    return `only ${Math.floor(freeBytes / 1024)} KiB are free on the disk of the data folder; free space`;
  }
}
