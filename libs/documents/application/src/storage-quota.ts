import { randomUUID } from 'node:crypto';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  isErrorWithoutEffect,
  type Logger,
  type Position,
} from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { StorageQuotaExceededError } from './refusals.ts';

/** How long a reservation waits for the read model of documents to contain the stored document. */
const MAX_WAIT_FOR_DOCUMENT_PROJECTION_MS = 60_000;
/** Time between deletions of expired reservations by one process. */
const SWEEP_INTERVAL_MS = 60_000;
const RESERVATIONS_PER_SWEEP = 100;

/** Bytes of an upload that the read model of documents does not count yet. */
interface UploadReservationDocument extends Document {
  readonly workspace_id: string;
  readonly bytes: number;
  /** Time from which the bytes no longer count: the process that reserved them ended without releasing them. */
  readonly expires_at: string;
}

/**
 * Storage that uploads in progress have reserved. Not durable: a reservation ends with the process, and its loss only
 * matters together with a loss of power.
 */
export const STORAGE_RESERVATIONS_COLLECTION_SPEC: CollectionSpec = {
  name: 'document_reservations',
  indexes: [
    { name: 'by_workspace', fields: ['workspace_id', 'expires_at', 'bytes'] },
    { name: 'by_expiry', fields: ['expires_at'] },
  ],
  durability: 'derived',
};

/** The storage of a workspace, in bytes of its documents in both environments. */
export interface StorageUsage {
  readonly used_bytes: number;
  readonly limit_bytes: number;
}

export interface StorageQuotaOptions {
  readonly documentStore: DocumentStore;
  /** Returns the bytes of all documents of a workspace, including pending uploads. Throws `UnavailableError`. */
  readonly storageBytes: (workspaceId: string) => Promise<number>;
  /** Returns true if `storageBytes` includes all documents up to the position, now or within the time. */
  readonly isCounted: (position: Position, timeoutMs: number) => Promise<boolean>;
  /** Maximum number of bytes of one workspace. */
  readonly limitBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** True if no other process uses the store. All reservations are then left by a crash, and are deleted. */
  readonly isSoleProcess: boolean;
  /** Maximum milliseconds that a reservation waits for others of its workspace; 5 s by default. */
  readonly maxWaitMs?: number;
}

/**
 * Limits the bytes of a workspace's documents. The read model of documents has the exact sum. An upload also reserves
 * its bytes until the read model counts them, so that parallel uploads in any process cannot exceed the limit together.
 * If the read model lags so far that the reservation expires first, the workspace can exceed the limit.
 */
export class StorageQuotaLimiter {
  private sweptAt = 0;

  private constructor(
    private readonly options: StorageQuotaOptions,
    private readonly reservations: Collection<UploadReservationDocument>,
  ) {}

  /** @throws UnavailableError */
  static async openStorageQuota(options: StorageQuotaOptions): Promise<StorageQuotaLimiter> {
    const { documentStore, isSoleProcess } = options;
    if (isSoleProcess) await documentStore.dropCollection(STORAGE_RESERVATIONS_COLLECTION_SPEC.name);
    return new StorageQuotaLimiter(
      options,
      await documentStore.collection<UploadReservationDocument>(STORAGE_RESERVATIONS_COLLECTION_SPEC),
    );
  }

  /** @throws UnavailableError */
  async readStorageUsage(workspaceId: string): Promise<StorageUsage> {
    const { storageBytes, limitBytes } = this.options;
    return { used_bytes: await storageBytes(workspaceId), limit_bytes: limitBytes };
  }

  /**
   * Reserves bytes until the reservation is released, but at most for `maxMs`.
   * @throws StorageQuotaExceededError, UnavailableError
   */
  async reserveStorageBytes(workspaceId: string, bytes: number, maxMs: number): Promise<StorageReservation> {
    const reservation = new StorageReservation(this, {
      id: randomUUID(),
      workspace_id: workspaceId,
      bytes: 0,
      expires_at: this.toIsoTimeAfterDelay(maxMs),
    });
    if (bytes > 0) await reservation.changeReservedBytes(bytes);
    return reservation;
  }

  /**
   * Reserves the bytes of an upload of a pending document. The document itself counts as one copy, so only a further
   * upload of it at the same time reserves `bytes`.
   * @throws StorageQuotaExceededError, UnavailableError
   */
  async reserveBytesOfPendingUpload(
    workspaceId: string,
    documentId: string,
    bytes: number,
    maxMs: number,
  ): Promise<StorageReservation> {
    const first = { id: documentId, workspace_id: workspaceId, bytes: 0, expires_at: this.toIsoTimeAfterDelay(maxMs) };
    const expired = { expires_at: { lte: this.toIsoTimeAfterDelay(0) } };
    const isFirst = await this.reservations.upsert(first, expired).catch(async (error: unknown) => {
      // The write may have taken effect. The upload ends here, so nothing else would delete its reservation.
      await this.deleteStorageReservation(first);
      throw error;
    });
    return isFirst ? new StorageReservation(this, first, true) : this.reserveStorageBytes(workspaceId, bytes, maxMs);
  }

  /**
   * Stores the reservation, and deletes it again if the workspace has no room for it. Checks of one workspace run one
   * after another, so that they do not refuse each other.
   * @throws StorageQuotaExceededError; UnavailableError, also if earlier checks of the workspace take too long
   */
  async storeReservationOrThrowIfOverQuota(reserved: UploadReservationDocument): Promise<void> {
    const checkOnce = async () => {
      await this.storeAndCheckStorageReservation(reserved);
      return true;
    };
    const { maxWaitMs } = this.options;
    try {
      await retryConflicts(this.reservations, `the documents of ${reserved.workspace_id}`, checkOnce, maxWaitMs);
    } catch (error) {
      await this.deleteStorageReservation(reserved);
      throw error;
    }
  }

  /**
   * Deletes the reservation, unless it expired and another upload of the same document took its place. If that fails, it
   * ends when it expires.
   */
  async deleteStorageReservation({
    id,
    expires_at,
  }: Pick<UploadReservationDocument, 'id' | 'expires_at'>): Promise<void> {
    await this.reservations.delete(id, { expires_at }).catch((error: unknown) => {
      this.options.logger.warn({ error: String(error) }, 'reserved storage was not released; it expires later');
    });
  }

  /** Deletes the reservation when the read model counts everything up to the position. */
  async deleteCountedStorageReservation(
    reserved: Pick<UploadReservationDocument, 'id' | 'expires_at'>,
    position: Position,
  ): Promise<void> {
    const isCounted = await this.options.isCounted(position, MAX_WAIT_FOR_DOCUMENT_PROJECTION_MS).catch(() => false);
    if (isCounted) await this.deleteStorageReservation(reserved);
  }

  private async storeAndCheckStorageReservation(reserved: UploadReservationDocument): Promise<void> {
    const { storageBytes, limitBytes } = this.options;
    const { workspace_id, bytes } = reserved;
    await this.deleteExpiredReservationsIfDue();
    await this.reservations.upsert(reserved);
    // In this order, an upload that ends meanwhile counts twice rather than not at all.
    const live = { workspace_id, expires_at: { gt: this.toIsoTimeAfterDelay(0) } };
    const reservedBytes = await this.reservations.sum('bytes', live, 'by_workspace');
    const usedBytes = (await storageBytes(workspace_id)) + reservedBytes - bytes;
    if (usedBytes + bytes > limitBytes) throw new StorageQuotaExceededError(usedBytes, limitBytes, bytes);
  }

  private async deleteExpiredReservationsIfDue(): Promise<void> {
    const now = this.getCurrentTimeMs();
    if (Math.abs(now - this.sweptAt) < SWEEP_INTERVAL_MS) return;
    this.sweptAt = now;
    const filter = { expires_at: { lte: this.toIsoTimeAfterDelay(0) } };
    const expired = await this.reservations.find({ filter, limit: RESERVATIONS_PER_SWEEP });
    await this.reservations.writeMany(expired.map(({ id }) => ({ kind: 'delete', id, guard: filter })));
  }

  private getCurrentTimeMs(): number {
    return this.options.clock().getTime();
  }

  private toIsoTimeAfterDelay(ms: number): string {
    return new Date(this.getCurrentTimeMs() + ms).toISOString();
  }
}

/** Bytes reserved in the storage of a workspace, until they are released. */
export class StorageReservation {
  constructor(
    private readonly quota: StorageQuotaLimiter,
    private reserved: UploadReservationDocument,
    private isStored = false,
  ) {}

  /**
   * Changes the number of reserved bytes. If it throws, nothing is reserved.
   * @throws StorageQuotaExceededError, UnavailableError
   */
  async changeReservedBytes(bytes: number): Promise<void> {
    this.reserved = { ...this.reserved, bytes };
    this.isStored = false;
    await this.quota.storeReservationOrThrowIfOverQuota(this.reserved);
    this.isStored = true;
  }

  async deleteStorageReservation(): Promise<void> {
    if (this.isStored) await this.quota.deleteStorageReservation(this.reserved);
    this.isStored = false;
  }

  /**
   * Runs the command that stores the document. Releases the reservation when the read model counts the document, and at
   * once if the command certainly failed. After an unknown outcome, the reservation stays until it expires.
   */
  async runAndReleaseReservation<Written extends { readonly position: Position }>(
    command: () => Promise<Written>,
    isCertain: (error: unknown) => boolean = isErrorWithoutEffect,
  ): Promise<Written> {
    try {
      const written = await command();
      void this.quota.deleteCountedStorageReservation(this.reserved, written.position);
      return written;
    } catch (error) {
      if (isCertain(error)) await this.deleteStorageReservation();
      throw error;
    }
  }
}
