import type { Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type Counter,
  type Document,
  type DocumentStore,
  type Leases,
  type Logger,
  type Metrics,
  type ObjectStore,
  retryCounter,
  Unavailable,
} from '@tracking/ports';
import { DutyCycle, LeaderElectedJob, monotonicMs, retry } from '@tracking/resilience';
import { shipmentOfObject } from './document-bytes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No upload is still under way then, nor any document waits for one. */
const ORPHAN_AFTER_MS = 2 * DAY_MS;
/** A store may have to look at all that it holds to find what was stored in between: so not for less. */
const SHORTEST_STEP_MS = 6 * HOUR_MS;
const LONGEST_STEP_MS = DAY_MS;
/** What crashed puts left. No put takes so long. */
const UNFINISHED_AFTER_MS = DAY_MS;
const EVERY_MS = 10 * 60_000;
const AT_ONCE = 100;
/** Of the time: the rest is for requests. */
const SHARE = 0.25;
/** How long an engine is tried before the round ends, and the next does the step again. */
const PATIENCE_MS = 10_000;

export interface OrphanSweepParts {
  readonly objects: Pick<ObjectStore, 'idsStored' | 'delete' | 'removeUnfinished'>;
  readonly documentStore: DocumentStore;
  /**
   * Ids of the objects that a shipment's documents still need at that time, told by its stream; none where there is no such
   * shipment. Not those of uploads whose time is over by then, whether or not that was stored: an object is asked about
   * once. Throws `Unavailable` where it cannot be told at present.
   */
  readonly neededObjects: (shipmentId: string, now: Timestamp) => Promise<readonly string[]>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly patienceMs?: number;
}

/** Up to when everything was looked at, by the clocks of those who stored it. */
interface SweptPlace {
  readonly before: string;
}

/**
 * Deletes objects that nothing names: what a crash between storing and naming left, or a refusal that came after. Each
 * object is looked at once, when it is two days old, so that the work goes with what is stored anew. A step of the time is
 * done when everything in it was looked at; cut off, it is done again.
 */
export class OrphanSweep {
  readonly job: LeaderElectedJob;
  private readonly pace = new DutyCycle({ share: SHARE, elapsed: monotonicMs });
  private readonly looked: Counter;

  constructor(private readonly parts: OrphanSweepParts) {
    const { leases, logger, metrics, everyMs = EVERY_MS } = parts;
    const help = 'Objects that were looked at two days after they were stored, by what came of it.';
    this.looked = metrics.counter('document_objects_swept_total', help, ['outcome']);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'documents-orphan-sweep',
      logger,
      countRetry: retryCounter(metrics),
      what: 'sweeping objects that nothing names',
      everyMs,
      round: (ending) => this.round(ending),
    });
  }

  private async round(ending: AbortSignal): Promise<void> {
    const place = await JobPlace.open<SweptPlace>(this.parts.documentStore, 'orphans');
    let hasSwept = false;
    while (!ending.aborted) {
      const step = this.nextStep(await place.read());
      if (step === undefined) break;
      await this.sweep(step, ending);
      if (ending.aborted) return;
      await place.moveTo({ before: step.before.toISOString() });
      hasSwept = true;
    }
    if (hasSwept) await this.parts.objects.removeUnfinished(new Date(this.now() - UNFINISHED_AFTER_MS));
  }

  /** The next stretch of time whose objects are old enough; undefined where it would be a short one. */
  private nextStep(swept: SweptPlace | undefined): { readonly from?: Date; readonly before: Date } | undefined {
    const old = this.now() - ORPHAN_AFTER_MS;
    if (swept === undefined) return { before: new Date(old) };
    const stored = Date.parse(swept.before);
    // A clock that was ahead once must not keep objects from being looked at.
    const from = stored > old + SHORTEST_STEP_MS ? old - SHORTEST_STEP_MS : stored;
    if (old - from < SHORTEST_STEP_MS) return undefined;
    return { from: new Date(from), before: new Date(Math.min(old, from + LONGEST_STEP_MS)) };
  }

  private async sweep(period: { readonly from?: Date; readonly before: Date }, ending: AbortSignal): Promise<void> {
    let batch: string[] = [];
    for await (const id of this.parts.objects.idsStored(period)) {
      if (ending.aborted) return;
      if (batch.push(id) < AT_ONCE) continue;
      await this.look(batch, ending);
      batch = [];
    }
    await this.look(batch, ending);
  }

  private async look(ids: readonly string[], ending: AbortSignal): Promise<void> {
    for (const [shipmentId, objectIds] of Map.groupBy(ids, shipmentOfObject)) {
      if (ending.aborted) return;
      await this.pace.work(() => this.lookAt(shipmentId, objectIds, ending), ending);
    }
  }

  /** @throws Unavailable: what else fails is the shipment's, whose objects are kept */
  private async lookAt(shipmentId: string | undefined, objectIds: readonly string[], signal: AbortSignal) {
    const needed = shipmentId === undefined ? objectIds : await this.needed(shipmentId, objectIds, signal);
    const orphans = objectIds.filter((id) => !needed.includes(id));
    for (const id of orphans) await this.patiently(() => this.parts.objects.delete(id), signal);
    this.looked.add(orphans.length, { outcome: 'deleted' });
    this.looked.add(objectIds.length - orphans.length, { outcome: 'kept' });
    if (orphans.length > 0) {
      this.parts.logger.info(
        { shipment_id: shipmentId, objects: orphans.length },
        'objects that nothing named are deleted',
      );
    }
  }

  private async needed(shipmentId: string, all: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.patiently(
        () => this.parts.neededObjects(shipmentId, new Date(this.now()).toISOString()),
        signal,
      );
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      const fields = { shipment_id: shipmentId, error: String(error) };
      this.parts.logger.error(fields, 'it cannot be told which objects a shipment needs; they are kept');
      return all;
    }
  }

  private patiently<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const deadline = monotonicMs() + (this.parts.patienceMs ?? PATIENCE_MS);
    return retry(action, { signal, deadline, isTransient: (error) => error instanceof Unavailable });
  }

  private now(): number {
    return this.parts.clock().getTime();
  }
}

/** How far a job has come; a document each, under its name. */
interface StoredPlace<T> extends Document {
  readonly place: T;
}

/** The place of one job, which it goes on from after whatever happens. */
export class JobPlace<T> {
  private constructor(
    private readonly places: Collection<StoredPlace<T>>,
    private readonly name: string,
  ) {}

  /** @throws Unavailable */
  static async open<T>(documentStore: DocumentStore, name: string): Promise<JobPlace<T>> {
    return new JobPlace<T>(await documentStore.collection({ name: 'document_jobs', indexes: [] }), name);
  }

  /** Undefined before the first. @throws Unavailable */
  async read(): Promise<T | undefined> {
    return (await this.places.get(this.name))?.place;
  }

  /** @throws Unavailable */
  async moveTo(place: T): Promise<void> {
    await this.places.upsert({ id: this.name, place });
  }
}
