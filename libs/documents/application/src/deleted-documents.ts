import type { Timestamp } from '@tracking/contracts';
import { createRetryCounter } from '@tracking/ports';
import type { Clock, Counter, DocumentStore, LeaseSource, Logger, Metrics, ObjectStore } from '@tracking/ports';
import { BackgroundWorkThrottle, LeaderElectedJob } from '@tracking/resilience';
import { JobCursor, RETRY_TIMEOUT_MS, MAX_JOB_TIME_SHARE, retryWhileUnavailable } from './document-jobs.ts';

const MINUTE_MS = 60_000;
const DOCUMENTS_PER_PAGE = 100;

/**
 * Each deletion is checked twice. The first pass comes after a minute: by then the process that deleted the document has
 * destroyed its bytes, unless it crashed. The second comes after a week, because a row can appear behind rows with later
 * times, if a command was repeated or its events waited in a parked stream.
 */
const DELETED_DOCUMENT_SWEEP_PASSES = [
  { name: 'deleted-soon', afterMs: MINUTE_MS },
  { name: 'deleted-late', afterMs: 7 * 24 * 60 * MINUTE_MS },
] as const;

/** Position of a document, after which a pass continues. */
export interface DeletedDocumentPosition {
  readonly deleted_at: Timestamp;
  readonly id: string;
}

export interface DeletedDocument extends DeletedDocumentPosition {
  /** Id of the stored object. Null if the document has no bytes. */
  readonly object_id: string | null;
}

export interface DeletedDocumentSweeperDependencies {
  readonly objects: Pick<ObjectStore, 'getObject' | 'deleteObject'>;
  readonly documentStore: DocumentStore;
  /**
   * Returns at most `limit` documents of all workspaces that were deleted, or expired, after this place, in the order of
   * `deleted_at` and `id`: a range of an index. Throws `UnavailableError`.
   */
  readonly deletedSince: (
    place: DeletedDocumentPosition | undefined,
    limit: number,
  ) => Promise<readonly DeletedDocument[]>;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly patienceMs?: number;
}

/**
 * Destroys bytes of deleted documents if a crash left them, and the bytes of documents that expired. The work grows with
 * the new deletions, not with all of them.
 */
export class DeletedDocumentSweeper {
  readonly job: LeaderElectedJob;
  private readonly pace = new BackgroundWorkThrottle({ share: MAX_JOB_TIME_SHARE });
  private readonly destroyed: Counter;

  constructor(private readonly parts: DeletedDocumentSweeperDependencies) {
    const { leases, logger, metrics, everyMs = MINUTE_MS } = parts;
    const help = 'Number of objects of deleted and expired documents that had not been destroyed before.';
    this.destroyed = metrics.createCounter('document_objects_destroyed_total', help);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'documents-deleted',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'destroying bytes of deleted documents',
      intervalMs: everyMs,
      runJobRound: (ending) => this.destroyBytesOfAllDeletedDocuments(ending),
    });
  }

  private async destroyBytesOfAllDeletedDocuments(ending: AbortSignal): Promise<void> {
    for (const { name, afterMs } of DELETED_DOCUMENT_SWEEP_PASSES) {
      const cursor = await JobCursor.openStoreOfJobProgress<DeletedDocumentPosition>(this.parts.documentStore, name);
      const until = new Date(this.parts.clock().getTime() - afterMs).toISOString();
      while (
        !ending.aborted &&
        (await this.pace.runWorkThenRest(() => this.destroyBytesOfDeletedDocuments(cursor, until, ending), ending))
      );
    }
  }

  /** Destroys the stored bytes of one page of deleted documents. Returns true if another page may follow. */
  private async destroyBytesOfDeletedDocuments(
    cursor: JobCursor<DeletedDocumentPosition>,
    until: Timestamp,
    ending: AbortSignal,
  ): Promise<boolean> {
    const page = await this.parts.deletedSince(await cursor.readJobCursor(), DOCUMENTS_PER_PAGE);
    const { patienceMs = RETRY_TIMEOUT_MS } = this.parts;
    const due = page.filter(({ deleted_at }) => deleted_at < until);
    for (const { object_id } of due) {
      if (ending.aborted) return false;
      if (object_id !== null) await retryWhileUnavailable(() => this.deleteObject(object_id), patienceMs, ending);
    }
    const last = due.at(-1);
    if (last !== undefined) await cursor.storeJobCursor({ deleted_at: last.deleted_at, id: last.id });
    return due.length === DOCUMENTS_PER_PAGE;
  }

  private async deleteObject(objectId: string): Promise<void> {
    // Check if the object exists first: it rarely does, and a read costs less than a durable deletion.
    if ((await this.parts.objects.getObject(objectId)) === undefined) return;
    await this.parts.objects.deleteObject(objectId);
    this.destroyed.add();
    this.parts.logger.info({ object_id: objectId }, 'destroyed the bytes of a deleted or expired document');
  }
}
