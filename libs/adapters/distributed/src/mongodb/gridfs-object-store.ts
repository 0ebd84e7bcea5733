import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import {
  OBJECT_ID_PATTERN,
  type ObjectContent,
  ObjectExistsError,
  type ObjectStore,
  type StoredObjectSizeAndHash,
  UnavailableError,
  passBytesWhileDiskHasSpace,
} from '@tracking/ports';
import type { MongoConnection } from './mongo-connection.ts';
import { ENGINE_NAME, parseViolatedIndex } from './mongo-errors.ts';
import { INDEX_BUILD_OPTIONS, INDEX_BUILD_DEADLINE_MS } from './mongo-index-builds.ts';
import { ID_INDEX_NAME } from './mongo-indexes.ts';

/** Default chunk size of GridFS. */
const GRIDFS_CHUNK_BYTES = 255 * 1_024;
const GRIDFS_FILES_PER_READ = 500;
/** Age in milliseconds up to which a measured free space is used. */
const MAX_FREE_SPACE_AGE_MS = 1_000;
export const OBJECT_STORE_COLLECTION_NAMES = {
  files: 'objects.files',
  chunks: 'objects.chunks',
  unfinished: 'objects.unfinished',
} as const;

/**
 * Objects in GridFS (https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md), read and
 * written chunk by chunk instead of with the driver's streams: each step has a deadline, no cursor waits for a slow
 * reader, and only one chunk is in memory. An object exists when its file record does, which is written last.
 * Unfinished uploads are recorded separately, so that remains of a crash are found without reading all chunks.
 */
export class GridfsObjectStore implements ObjectStore {
  private ready: Promise<void> | undefined;
  private measured: { readonly at: number; readonly free: Promise<number | undefined> } | undefined;

  /** @param reserveBytes bytes of MongoDB's disk that objects must leave free */
  constructor(
    private readonly connection: MongoConnection,
    private readonly reserveBytes = 0,
  ) {}

  async putObject(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObjectSizeAndHash> {
    throwIfInvalidObjectId(id);
    const { reserveBytes } = this;
    const guarded = passBytesWhileDiskHasSpace(source, { reserveBytes, freeBytes: () => this.readFreeBytes() });
    await this.reserveObjectId(id);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let n = 0;
    try {
      for await (const data of splitByteStreamIntoChunks(guarded, GRIDFS_CHUNK_BYTES)) {
        hash.update(data);
        sizeBytes += data.length;
        const chunk = { files_id: id, n, data };
        await this.runGridfsOperation(({ chunks }) => chunks.insertOne(chunk));
        n += 1;
      }
    } catch (error) {
      // An engine that did not respond may still store a chunk after this cleanup. A later cleanup removes the chunk.
      if (!(error instanceof UnavailableError)) await this.deleteGridfsObjectParts(id).catch(() => undefined);
      throw error;
    }
    const sha256 = hash.digest('hex');
    await this.finishGridfsObjectUploadOrThrow({
      _id: id,
      length: sizeBytes,
      chunkSize: GRIDFS_CHUNK_BYTES,
      uploadDate: new Date(),
      filename: id,
      metadata: { sha256 },
    });
    return { sizeBytes, sha256 };
  }

  async getObject(
    id: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<ObjectContent | undefined> {
    throwIfInvalidObjectId(id);
    const file = await this.findFileRecord(id);
    if (file === undefined) return undefined;
    const { start = 0, end = file.length } = range ?? {};
    return { sizeBytes: file.length, bytes: this.readObjectRange(file, start, Math.min(end, file.length)) };
  }

  async deleteObject(id: string): Promise<void> {
    throwIfInvalidObjectId(id);
    if ((await this.findFileRecord(id)) === undefined) return;
    const begun = { $set: { at: new Date(), isGivenUp: true } };
    await this.runGridfsOperation(({ unfinished }) => unfinished.updateOne({ _id: id }, begun, { upsert: true }));
    await this.deleteGridfsObjectParts(id);
  }

  async *listObjectIdsStoredInPeriod({
    from,
    before,
  }: {
    readonly from?: Date;
    readonly before: Date;
  }): AsyncGenerator<string> {
    const uploadDate = from === undefined ? { $lt: before } : { $gte: from, $lt: before };
    let after: GridfsFileRecord | undefined;
    do {
      const filter = after === undefined ? { uploadDate } : { uploadDate, $or: createFilterForLaterFiles(after) };
      const page = await this.runGridfsOperation(({ files }) =>
        files.find(filter).sort({ uploadDate: 1, _id: 1 }).limit(GRIDFS_FILES_PER_READ).toArray(),
      );
      for (const file of page) yield file._id;
      after = page[GRIDFS_FILES_PER_READ - 1];
    } while (after !== undefined);
  }

  async removeUnfinishedObjects(before: Date): Promise<void> {
    const at = { $lt: before };
    for (;;) {
      const page = await this.runGridfsOperation(({ unfinished }) =>
        unfinished.find({ at }).limit(GRIDFS_FILES_PER_READ).toArray(),
      );
      if (page.length === 0) return;
      for (const { _id } of page) {
        // From this point on, an upload that is still running cannot complete the object.
        const sweep = { $set: { isGivenUp: true } };
        const { matchedCount } = await this.runGridfsOperation(({ unfinished }) =>
          unfinished.updateOne({ _id, at }, sweep),
        );
        if (matchedCount === 0) continue;
        // The object is either complete except for the deletion of this record, or its deletion will be requested
        // again.
        const isWhole = (await this.findFileRecord(_id)) !== undefined;
        if (isWhole) await this.runGridfsOperation(({ unfinished }) => unfinished.deleteOne({ _id }));
        else await this.deleteGridfsObjectParts(_id);
      }
    }
  }

  /**
   * Returns the free bytes of MongoDB's disk, measured at most a second ago; undefined if the server does not report
   * them.
   */
  private readFreeBytes(): Promise<number | undefined> {
    const now = performance.now();
    if (this.measured === undefined || now - this.measured.at > MAX_FREE_SPACE_AGE_MS) {
      const free = this.connection
        .runOnDatabase((database) => database.command({ dbStats: 1, freeStorage: 1 }))
        // A server may refuse the command. If it does not respond, the upload itself fails.
        .then(parseFreeBytesOfDbStats, () => undefined);
      this.measured = { at: now, free };
    }
    return this.measured.free;
  }

  /** Reserves the id. */
  private async reserveObjectId(id: string): Promise<void> {
    await this.runGridfsOperation(async ({ unfinished }) => {
      try {
        await unfinished.insertOne({ _id: id, at: new Date(), isGivenUp: false });
      } catch (error) {
        throw parseViolatedIndex(error) === ID_INDEX_NAME ? new ObjectExistsError(id) : error;
      }
    });
    if ((await this.findFileRecord(id)) === undefined) return;
    await this.runGridfsOperation(({ unfinished }) => unfinished.deleteOne({ _id: id, isGivenUp: false }));
    throw new ObjectExistsError(id);
  }

  private async finishGridfsObjectUploadOrThrow(file: GridfsFileRecord): Promise<void> {
    const { _id } = file;
    const underWay = { _id, isGivenUp: false };
    const late = { $set: { at: new Date() } };
    const { matchedCount } = await this.runGridfsOperation(({ unfinished }) => unfinished.updateOne(underWay, late));
    if (matchedCount === 0) {
      await this.deleteGridfsObjectParts(_id);
      throw new UnavailableError(ENGINE_NAME, 'the upload took too long and was canceled; repeat it with a new id');
    }
    await this.runGridfsOperation(({ files }) => files.insertOne(file));
    // If the deletion of this record fails, a later cleanup finds that the object is complete.
    await this.runGridfsOperation(({ unfinished }) => unfinished.deleteOne(underWay)).catch(() => undefined);
  }

  private async deleteGridfsObjectParts(id: string): Promise<void> {
    await this.runGridfsOperation(({ files }) => files.deleteOne({ _id: id }));
    await this.runGridfsOperation(({ chunks }) => chunks.deleteMany({ files_id: id }));
    await this.runGridfsOperation(({ unfinished }) => unfinished.deleteOne({ _id: id }));
  }

  private async findFileRecord(id: string): Promise<GridfsFileRecord | undefined> {
    return (await this.runGridfsOperation(({ files }) => files.findOne({ _id: id }))) ?? undefined;
  }

  /** Reads a range of the object. @param end offset after the last byte of the range */
  private async *readObjectRange(
    { _id, chunkSize }: GridfsFileRecord,
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const n = Math.floor(at / chunkSize);
      const first = n * chunkSize;
      const chunk = await this.runGridfsOperation(({ chunks }) => chunks.findOne({ files_id: _id, n }));
      if (chunk === null) throw new UnavailableError(ENGINE_NAME, 'the object was deleted while it was read');
      yield chunk.data.subarray(at - first, end - first);
      at = first + chunkSize;
    }
  }

  private async runGridfsOperation<R>(operation: (records: GridfsCollections) => Promise<R>): Promise<R> {
    this.ready ??= this.connection.runOnDatabase(
      (database) => this.openGridfsCollections(database).ensureIndexes(),
      INDEX_BUILD_DEADLINE_MS,
    );
    try {
      await this.ready;
    } catch (error) {
      this.ready = undefined;
      throw error;
    }
    return this.connection.runOnDatabase((database) => operation(this.openGridfsCollections(database)));
  }

  private openGridfsCollections(database: Db): GridfsCollections {
    return new GridfsCollections(database, this.connection.deadlineMs);
  }
}

/**
 * Returns the free bytes in a response to `dbStats`: those of the disk, and those that MongoDB keeps in its files for
 * reuse, because deletions do not make the files smaller. Undefined if the server does not report the size of its disk.
 */
export function parseFreeBytesOfDbStats({
  fsTotalSize,
  fsUsedSize,
  freeStorageSize,
}: Record<string, unknown>): number | undefined {
  if (typeof fsTotalSize !== 'number' || typeof fsUsedSize !== 'number' || fsTotalSize === 0) return undefined;
  return fsTotalSize - fsUsedSize + (typeof freeStorageSize === 'number' ? freeStorageSize : 0);
}

function createFilterForLaterFiles({ uploadDate, _id }: GridfsFileRecord) {
  return [{ uploadDate: { $gt: uploadDate } }, { uploadDate, _id: { $gt: _id } }];
}

function throwIfInvalidObjectId(id: string): void {
  if (!OBJECT_ID_PATTERN.test(id)) throw new TypeError(`${JSON.stringify(id)} is not a valid object id`);
}

/** Record of a complete object, with the fields that GridFS defines. */
interface GridfsFileRecord {
  readonly _id: string;
  /** Size in bytes. */
  readonly length: number;
  /** Size of all chunks except the last, in bytes. */
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
  readonly metadata: { readonly sha256: string };
}

/** Record of a chunk, with the fields that GridFS defines. Its own id is not used. */
interface GridfsChunkRecord {
  readonly files_id: string;
  /** Number of the chunk, from 0. */
  readonly n: number;
  readonly data: Uint8Array;
}

/** Record of an unfinished upload or deletion. */
interface UnfinishedOperationRecord {
  /** Id of the object. */
  readonly _id: string;
  /** Time when the operation started or was last known to run. */
  readonly at: Date;
  /** True if the object must not be completed, because it is being deleted or its upload was abandoned. */
  readonly isGivenUp: boolean;
}

/** GridFS collections, with acknowledgement and reads by a majority of the replica set. */
export class GridfsCollections {
  readonly files: Collection<GridfsFileRecord>;
  readonly chunks: Collection<GridfsChunkRecord>;
  readonly unfinished: Collection<UnfinishedOperationRecord>;

  constructor(database: Db, deadlineMs: number) {
    const options = {
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: deadlineMs },
      readConcern: { level: 'majority' },
      promoteBuffers: true,
    } as const;
    this.files = database.collection<GridfsFileRecord>(OBJECT_STORE_COLLECTION_NAMES.files, options);
    this.chunks = database.collection<GridfsChunkRecord>(OBJECT_STORE_COLLECTION_NAMES.chunks, options);
    this.unfinished = database.collection<UnfinishedOperationRecord>(OBJECT_STORE_COLLECTION_NAMES.unfinished, options);
  }

  async ensureIndexes(): Promise<void> {
    await this.chunks.createIndex({ files_id: 1, n: 1 }, { unique: true, ...INDEX_BUILD_OPTIONS });
    await this.files.createIndex({ uploadDate: 1, _id: 1 }, INDEX_BUILD_OPTIONS);
    await this.unfinished.createIndex({ at: 1 }, INDEX_BUILD_OPTIONS);
  }
}

/**
 * Splits bytes into chunks of the same size; the last one may be smaller. Empty input has no chunk. Each chunk is a
 * copy, because sources may reuse their memory.
 */
export async function* splitByteStreamIntoChunks(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.subarray(at, at + size - filled);
      chunk.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < size) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(size);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
