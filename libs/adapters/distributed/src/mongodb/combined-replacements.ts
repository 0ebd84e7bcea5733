import { Unavailable, type Document } from '@tracking/ports';
import { BSON, type Collection, type Filter, MongoBulkWriteError } from 'mongodb';
import type { CollectionAccess } from './collection-access.ts';
import { ENGINE_NAME, isUnknownOutcome } from './mongo-errors.ts';
import { type MongoDocument, toStoredDocument } from './mongo-filter.ts';

/** Maximum number of documents in one request. */
const MAX_REPLACEMENTS = 100;
/** Maximum size of the documents in one request, in bytes of BSON. A larger document is written alone. */
const MAX_BYTES = 1_024 * 1_024;
/** Maximum milliseconds for which a replacement waits for an earlier request. */
const MAX_WAIT_MS = 5;

interface Replacement {
  readonly filter: Filter<MongoDocument>;
  readonly stored: MongoDocument;
  readonly bytes: number;
  resolve(isReplaced: boolean): void;
  reject(error: unknown): void;
}

/**
 * Combines replacements of single documents into one request: those of one turn of the event loop, and those that arrive
 * within 5 ms while a request runs. The server reports only how many documents a request replaced. If it replaced fewer
 * than requested, the stored documents show which ones.
 */
export class CombinedReplacements {
  private waiting: Replacement[] = [];
  private running = 0;
  private timer: NodeJS.Timeout | undefined;
  private isScheduled = false;

  constructor(private readonly access: CollectionAccess) {}

  /**
   * Replaces the document that matches the filter. Returns false if none matches.
   * @throws DuplicateKey, Unavailable
   */
  replaceDocument(filter: Filter<MongoDocument>, document: Document): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stored = toStoredDocument(document);
      this.waiting.push({ filter, stored, bytes: calculateSize(stored), resolve, reject });
      if (this.isScheduled) return;
      if (this.running === 0) this.scheduleNow();
      else this.timer ??= setTimeout(this.sendWaiting, MAX_WAIT_MS);
    });
  }

  private scheduleNow(): void {
    this.isScheduled = true;
    setImmediate(this.sendWaiting);
  }

  private readonly sendWaiting = (): void => {
    this.isScheduled = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.waiting.length > 0) {
      this.running += 1;
      void this.send(this.takeNextBatch()).then(() => {
        this.running -= 1;
        if (this.waiting.length > 0 && !this.isScheduled) this.scheduleNow();
      });
    }
  };

  /** Takes replacements of different documents. Several replacements of one document are sent in different requests. */
  private takeNextBatch(): readonly Replacement[] {
    const batch = new Map<string, Replacement>();
    const rest: Replacement[] = [];
    let bytes = 0;
    for (const one of this.waiting) {
      const { _id: id } = one.stored;
      const isFull = batch.size >= MAX_REPLACEMENTS || (batch.size > 0 && bytes + one.bytes > MAX_BYTES);
      if (isFull || batch.has(id)) rest.push(one);
      else {
        batch.set(id, one);
        bytes += one.bytes;
      }
    }
    this.waiting = rest;
    return [...batch.values()];
  }

  /** Never rejects. */
  private async send(batch: readonly Replacement[]): Promise<void> {
    try {
      const results = await this.access.runOnCollection((documents) => this.replaceAll(documents, batch));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Returns the result of each replacement: true if it was performed. */
  private async replaceAll(
    documents: Collection<MongoDocument>,
    batch: readonly Replacement[],
  ): Promise<readonly PromiseSettledResult<boolean>[]> {
    const writeAlone = ({ filter, stored }: Replacement, earlierAttempts: number) => {
      const write = async () => (await documents.replaceOne(filter, stored)).matchedCount === 1;
      return this.access.writeUntilAnswered(documents, stored, write, earlierAttempts);
    };
    if (batch.length === 1) return handleItemsOneByOne(batch, (one) => writeAlone(one, 0));
    const outcome = await replaceTogether(documents, batch);
    if (outcome === undefined) return handleItemsOneByOne(batch, (one) => writeAlone(one, 1));
    const { matchedCount, hasErrors } = outcome;
    if (matchedCount === batch.length && !hasErrors) return handleItemsOneByOne(batch, () => Promise.resolve(true));
    const written = new Set<Replacement>();
    for (const one of batch) if (await this.access.isStored(documents, one.stored)) written.add(one);
    return handleItemsOneByOne(batch, async (one) => {
      if (written.has(one)) return true;
      // Another process may have changed a document right after it was replaced.
      if (written.size !== matchedCount)
        throw new Unavailable(ENGINE_NAME, 'the outcome of a combined write is unknown');
      return hasErrors ? writeAlone(one, 0) : false;
    });
  }
}

/**
 * Handles items one after another, because concurrent writes of one session can get the same transaction number, and the
 * server then takes the second one for a repetition of the first.
 */
async function handleItemsOneByOne<T, R>(
  items: readonly T[],
  handle: (item: T) => Promise<R>,
): Promise<readonly PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (const item of items) results.push(...(await Promise.allSettled([handle(item)])));
  return results;
}

/**
 * Sends replacements in one request. Returns how many of them the server performed, and whether it reported errors;
 * undefined if the outcome is unknown.
 */
async function replaceTogether(
  documents: Collection<MongoDocument>,
  batch: readonly Replacement[],
): Promise<{ readonly matchedCount: number; readonly hasErrors: boolean } | undefined> {
  const models = batch.map(({ filter, stored }) => ({ replaceOne: { filter, replacement: stored } }));
  try {
    const { matchedCount } = await documents.bulkWrite(models, { ordered: false });
    return { matchedCount, hasErrors: false };
  } catch (error) {
    if (isUnknownOutcome(error)) return undefined;
    // If the write concern failed, performed writes may be rolled back.
    const isDurable = error instanceof MongoBulkWriteError && error.result.getWriteConcernError() === undefined;
    if (!isDurable) throw error;
    return { matchedCount: error.matchedCount, hasErrors: true };
  }
}

/** Returns the size in bytes of BSON; `Infinity` for a document that the driver cannot encode. */
function calculateSize(document: MongoDocument): number {
  try {
    return BSON.calculateObjectSize(document, { ignoreUndefined: true });
  } catch {
    return Infinity;
  }
}
