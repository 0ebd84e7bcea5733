import type { Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Counter,
  type DocumentStore,
  type LeaseSource,
  type Logger,
  type Metrics,
  type ObjectStore,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import { BackgroundWorkThrottle, LeaderElectedJob } from '@tracking/resilience';
import { parseShipmentIdFromStoredFileId } from './document-bytes.ts';
import { JobCursor, RETRY_TIMEOUT_MS, MAX_JOB_TIME_SHARE, retryWhileUnavailable } from './document-jobs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Age in milliseconds from which an object without a document is an orphan: no upload can still be in progress. */
const MIN_ORPHAN_AGE_MS = 2 * DAY_MS;
/**
 * Shortest period of storage times that one step of the sweep covers, in milliseconds. To list the objects of a
 * period, a store may have to read the names of all objects, so shorter steps do not pay off.
 */
const MIN_SWEPT_PERIOD_MS = 6 * HOUR_MS;
const MAX_SWEPT_PERIOD_MS = DAY_MS;
/** Age after which parts of objects count as left by a crash, because no upload takes so long. */
const UNFINISHED_PART_AGE_MS = DAY_MS;
const SWEEP_INTERVAL_MS = 10 * 60_000;
const OBJECTS_PER_BATCH = 100;

export interface OrphanSweepDependencies {
  readonly objects: Pick<ObjectStore, 'listObjectIdsStoredInPeriod' | 'deleteObject' | 'removeUnfinishedObjects'>;
  readonly documentStore: DocumentStore;
  /**
   * Returns the ids of the objects that a shipment's documents still need at `now`, according to the shipment's events.
   * Returns none if the shipment does not exist. Leaves out uploads that have expired at `now`, even if their expiry is
   * not stored yet, because each object is checked only once.
   * @throws UnavailableError if the events cannot be read
   */
  readonly neededObjects: (shipmentId: string, now: Timestamp) => Promise<readonly string[]>;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly patienceMs?: number;
}

/** All objects stored before this time were checked, by the clocks of the processes that stored them. */
interface SweepCursor {
  readonly before: string;
}

/**
 * Deletes objects that no document refers to, which a crash or a refusal after the upload leaves behind. Each object is
 * checked once, when it is two days old, so the work grows with the new objects, not with all of them. The job proceeds
 * in steps of time and repeats an interrupted step.
 */
export class OrphanSweep {
  readonly job: LeaderElectedJob;
  private readonly pace = new BackgroundWorkThrottle({ share: MAX_JOB_TIME_SHARE });
  private readonly checked: Counter;

  constructor(private readonly parts: OrphanSweepDependencies) {
    const { leases, logger, metrics, everyMs = SWEEP_INTERVAL_MS } = parts;
    const help = 'Number of objects checked two days after they were stored, by result.';
    this.checked = metrics.createCounter('document_objects_swept_total', help, ['outcome']);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'documents-orphan-sweep',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'sweeping objects without a reference',
      intervalMs: everyMs,
      runJobRound: (ending) => this.deleteOrphanObjects(ending),
    });
  }

  private async deleteOrphanObjects(ending: AbortSignal): Promise<void> {
    const cursor = await JobCursor.openStoreOfJobProgress<SweepCursor>(this.parts.documentStore, 'orphans');
    let hasSwept = false;
    while (!ending.aborted) {
      const period = this.computeNextOrphanSweepTimeRange(await cursor.readJobCursor());
      if (period === undefined) break;
      await this.deleteOrphansStoredInPeriod(period, ending);
      if (ending.aborted) return;
      await cursor.storeJobCursor({ before: period.before.toISOString() });
      hasSwept = true;
    }
    if (hasSwept)
      await this.parts.objects.removeUnfinishedObjects(new Date(this.currentTimeMs() - UNFINISHED_PART_AGE_MS));
  }

  /** Returns the next period whose objects are old enough; undefined if it would be too short. */
  private computeNextOrphanSweepTimeRange(
    swept: SweepCursor | undefined,
  ): { readonly from?: Date; readonly before: Date } | undefined {
    const old = this.currentTimeMs() - MIN_ORPHAN_AGE_MS;
    if (swept === undefined) return { before: new Date(old) };
    const stored = Date.parse(swept.before);
    // Ignore a cursor in the future, so that a clock that was ahead does not prevent the check.
    const from = stored > old + MIN_SWEPT_PERIOD_MS ? old - MIN_SWEPT_PERIOD_MS : stored;
    if (old - from < MIN_SWEPT_PERIOD_MS) return undefined;
    return { from: new Date(from), before: new Date(Math.min(old, from + MAX_SWEPT_PERIOD_MS)) };
  }

  private async deleteOrphansStoredInPeriod(
    period: { readonly from?: Date; readonly before: Date },
    ending: AbortSignal,
  ): Promise<void> {
    let batch: string[] = [];
    for await (const id of this.parts.objects.listObjectIdsStoredInPeriod(period)) {
      if (ending.aborted) return;
      if (batch.push(id) < OBJECTS_PER_BATCH) continue;
      await this.deleteOrphans(batch, ending);
      batch = [];
    }
    await this.deleteOrphans(batch, ending);
  }

  private async deleteOrphans(ids: readonly string[], ending: AbortSignal): Promise<void> {
    for (const [shipmentId, objectIds] of Map.groupBy(ids, parseShipmentIdFromStoredFileId)) {
      if (ending.aborted) return;
      await this.pace.runWorkThenRest(() => this.deleteOrphanedObjects(shipmentId, objectIds, ending), ending);
    }
  }

  /** @throws UnavailableError; after any other failure the objects of the shipment are kept */
  private async deleteOrphanedObjects(
    shipmentId: string | undefined,
    objectIds: readonly string[],
    signal: AbortSignal,
  ) {
    const needed = shipmentId === undefined ? objectIds : await this.findNeededObjects(shipmentId, objectIds, signal);
    const orphans = objectIds.filter((id) => !needed.includes(id));
    for (const id of orphans) await this.runWithRetries(() => this.parts.objects.deleteObject(id), signal);
    this.checked.add(orphans.length, { outcome: 'deleted' });
    this.checked.add(objectIds.length - orphans.length, { outcome: 'kept' });
    if (orphans.length > 0) {
      this.parts.logger.info(
        { shipment_id: shipmentId, objects: orphans.length },
        'deleted objects without a reference',
      );
    }
  }

  private async findNeededObjects(
    shipmentId: string,
    all: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    try {
      return await this.runWithRetries(
        () => this.parts.neededObjects(shipmentId, new Date(this.currentTimeMs()).toISOString()),
        signal,
      );
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      const fields = { shipment_id: shipmentId, error: String(error) };
      this.parts.logger.error(fields, 'cannot determine which objects a shipment needs; keeping all of its objects');
      return all;
    }
  }

  private runWithRetries<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return retryWhileUnavailable(action, this.parts.patienceMs ?? RETRY_TIMEOUT_MS, signal);
  }

  private currentTimeMs(): number {
    return this.parts.clock().getTime();
  }
}
