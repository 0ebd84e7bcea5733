import type { Timestamp } from '@tracking/contracts';
import { Unavailable, retryCounter } from '@tracking/ports';
import type { Clock, Counter, DocumentStore, Leases, Logger, Metrics, ObjectStore } from '@tracking/ports';
import { DutyCycle, LeaderElectedJob, monotonicMs, retry } from '@tracking/resilience';
import { JobPlace } from './orphan-sweep.ts';

const MINUTE_MS = 60_000;
const AT_ONCE = 100;
/** Of the time: the rest is for requests. */
const SHARE = 0.25;
/** How long an engine is tried before the round ends, and the next goes on from the last page. */
const PATIENCE_MS = 10_000;

/**
 * Each deletion is looked at twice. Soon, when whoever deleted the document has long destroyed its bytes, unless it died
 * in between. And late: a row may show after others of later times, where a command was repeated or its events waited.
 */
const LOOKS = [
  { name: 'deleted-soon', afterMs: MINUTE_MS },
  { name: 'deleted-late', afterMs: 7 * 24 * 60 * MINUTE_MS },
] as const;

/** Where a look goes on: behind this document. */
export interface DeletedPlace {
  readonly deleted_at: Timestamp;
  readonly id: string;
}

export interface DeletedDocument extends DeletedPlace {
  /** Null for one that has no bytes. */
  readonly object_id: string | null;
}

export interface DeletedDocumentsParts {
  readonly objects: Pick<ObjectStore, 'get' | 'delete'>;
  readonly documentStore: DocumentStore;
  /**
   * Documents of all workspaces that were deleted, or expired, behind the place; at most `limit`, by `deleted_at` and `id`:
   * a range of an index. Throws `Unavailable`.
   */
  readonly deletedSince: (place: DeletedPlace | undefined, limit: number) => Promise<readonly DeletedDocument[]>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly patienceMs?: number;
}

/**
 * Destroys the bytes of documents that were deleted, where a crash left them, and of those that expired with bytes. Its
 * work goes with what is deleted anew.
 */
export class DeletedDocuments {
  readonly job: LeaderElectedJob;
  private readonly pace = new DutyCycle({ share: SHARE, elapsed: monotonicMs });
  private readonly destroyed: Counter;

  constructor(private readonly parts: DeletedDocumentsParts) {
    const { leases, logger, metrics, everyMs = MINUTE_MS } = parts;
    const help = 'Objects of deleted and expired documents that nobody had destroyed before.';
    this.destroyed = metrics.counter('document_objects_destroyed_total', help);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'documents-deleted',
      logger,
      countRetry: retryCounter(metrics),
      what: 'destroying the bytes of deleted documents',
      everyMs,
      round: (ending) => this.round(ending),
    });
  }

  private async round(ending: AbortSignal): Promise<void> {
    for (const { name, afterMs } of LOOKS) {
      const place = await JobPlace.open<DeletedPlace>(this.parts.documentStore, name);
      const until = new Date(this.parts.clock().getTime() - afterMs).toISOString();
      while (!ending.aborted && (await this.pace.work(() => this.lookOn(place, until, ending), ending)));
    }
  }

  /** A page; answers whether another may follow. */
  private async lookOn(place: JobPlace<DeletedPlace>, until: Timestamp, ending: AbortSignal): Promise<boolean> {
    const page = await this.parts.deletedSince(await place.read(), AT_ONCE);
    const due = page.filter(({ deleted_at }) => deleted_at < until);
    for (const { object_id } of due) {
      if (ending.aborted) return false;
      if (object_id !== null) await this.patiently(() => this.destroy(object_id), ending);
    }
    const last = due.at(-1);
    if (last !== undefined) await place.moveTo({ deleted_at: last.deleted_at, id: last.id });
    return due.length === AT_ONCE;
  }

  private async destroy(objectId: string): Promise<void> {
    // Nearly always it is gone: to look costs less than to delete durably.
    if ((await this.parts.objects.get(objectId)) === undefined) return;
    await this.parts.objects.delete(objectId);
    this.destroyed.add();
    this.parts.logger.info({ object_id: objectId }, 'bytes of a deleted or expired document are destroyed');
  }

  private patiently(action: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const deadline = monotonicMs() + (this.parts.patienceMs ?? PATIENCE_MS);
    return retry(action, { signal, deadline, isTransient: (error) => error instanceof Unavailable });
  }
}
