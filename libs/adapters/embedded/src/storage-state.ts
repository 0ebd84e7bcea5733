import { statfs } from 'node:fs/promises';
import type { Logger, Metrics } from '@tracking/ports';

/** With less than this left on the disk it says so before a write has to be refused. */
const LOW_SPACE_BYTES = 4 * 2 ** 20;

/** Whether the storage can be written to, as callers and operators are told. */
export class StorageState {
  private endedBy: string | undefined;
  private refusedBy: string | undefined;
  private freeBytes: number | undefined;

  /** @param folder where the files are */
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    metrics.gauge('storage_free_bytes', 'Left on the disk of the data folder', [], () => this.freeBytes ?? 0);
  }

  /** Why nothing can be written any more by this process. */
  get ended(): string | undefined {
    return this.endedBy;
  }

  /** Why nothing can be written until there is room again; tried again all the time. */
  get outOfSpace(): string | undefined {
    return this.refusedBy;
  }

  /** The problem that operators must know; undefined while there is none. */
  get failure(): string | undefined {
    return this.endedBy ?? this.refusedBy ?? this.lowSpaceWarning;
  }

  end(reason: string): void {
    if (this.endedBy !== undefined) return;
    this.logger.error({ reason }, 'storage: writing has stopped until the process is started again');
    this.endedBy = reason;
  }

  close(): void {
    this.endedBy ??= 'closed';
  }

  refuse(reason: string): void {
    if (this.refusedBy === undefined) {
      this.logger.error({ reason }, 'storage: nothing is written until there is room on the disk');
    }
    this.refusedBy = reason;
  }

  resume(): void {
    if (this.refusedBy !== undefined) this.logger.info({}, 'storage: there is room on the disk, writing goes on');
    this.refusedBy = undefined;
  }

  /** Where the file system does not tell, nothing is known. */
  async measure(): Promise<void> {
    const disk = await statfs(this.folder).catch(() => undefined);
    this.freeBytes = disk === undefined || disk.blocks === 0 ? undefined : disk.bavail * disk.bsize;
  }

  private get lowSpaceWarning(): string | undefined {
    const { freeBytes } = this;
    if (freeBytes === undefined || freeBytes >= LOW_SPACE_BYTES) return undefined;
    return `only ${Math.floor(freeBytes / 1024)} KiB are left on its disk`;
  }
}
