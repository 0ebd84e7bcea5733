import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import {
  OBJECT_ID_PATTERN,
  type ObjectContent,
  ObjectExists,
  type ObjectStore,
  type StoredObject,
  Unavailable,
} from '@tracking/ports';
import { ENGINE, ID_INDEX, type MongoConnection, violatedIndex } from './mongo-connection.ts';

/** GridFS's own default. */
const CHUNK_BYTES = 255 * 1_024;
const PAGE = 500;
/** Making an index takes its time where there is much already. */
const BUILD_DEADLINE_MS = 600_000;
export const OBJECT_COLLECTIONS = {
  files: 'objects.files',
  chunks: 'objects.chunks',
  unfinished: 'objects.unfinished',
} as const;

/**
 * Objects as GridFS has them (https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md), read
 * and written chunk by chunk rather than by the driver's streams: each step has a deadline, no cursor waits for a slow
 * reader, and exactly one chunk is in memory. An object is there when its file record is, which comes last. What is under
 * way is recorded beside it, so that what a crash cuts off is found without looking through all chunks.
 */
export class GridfsObjectStore implements ObjectStore {
  private ready: Promise<void> | undefined;

  constructor(private readonly connection: MongoConnection) {}

  async put(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    checkId(id);
    await this.begin(id);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let n = 0;
    try {
      for await (const data of inChunks(source, CHUNK_BYTES)) {
        hash.update(data);
        sizeBytes += data.length;
        const chunk = { files_id: id, n, data };
        await this.run(({ chunks }) => chunks.insertOne(chunk));
        n += 1;
      }
    } catch (error) {
      // An engine that did not answer may still store a chunk after the object was cleared: it is cleared later.
      if (!(error instanceof Unavailable)) await this.clear(id).catch(() => undefined);
      throw error;
    }
    const sha256 = hash.digest('hex');
    await this.finish({
      _id: id,
      length: sizeBytes,
      chunkSize: CHUNK_BYTES,
      uploadDate: new Date(),
      filename: id,
      metadata: { sha256 },
    });
    return { sizeBytes, sha256 };
  }

  async get(id: string, range?: { readonly start: number; readonly end: number }): Promise<ObjectContent | undefined> {
    checkId(id);
    const file = await this.file(id);
    if (file === undefined) return undefined;
    const { start = 0, end = file.length } = range ?? {};
    return { sizeBytes: file.length, bytes: this.read(file, start, Math.min(end, file.length)) };
  }

  async delete(id: string): Promise<void> {
    checkId(id);
    if ((await this.file(id)) === undefined) return;
    const begun = { $set: { at: new Date(), isGivenUp: true } };
    await this.run(({ unfinished }) => unfinished.updateOne({ _id: id }, begun, { upsert: true }));
    await this.clear(id);
  }

  async *listIdsStoredIn({ from, before }: { readonly from?: Date; readonly before: Date }): AsyncGenerator<string> {
    const uploadDate = from === undefined ? { $lt: before } : { $gte: from, $lt: before };
    let after: FileRecord | undefined;
    do {
      const filter = after === undefined ? { uploadDate } : { uploadDate, $or: following(after) };
      const page = await this.run(({ files }) =>
        files.find(filter).sort({ uploadDate: 1, _id: 1 }).limit(PAGE).toArray(),
      );
      for (const file of page) yield file._id;
      after = page[PAGE - 1];
    } while (after !== undefined);
  }

  async removeUnfinished(before: Date): Promise<void> {
    const at = { $lt: before };
    for (;;) {
      const page = await this.run(({ unfinished }) => unfinished.find({ at }).limit(PAGE).toArray());
      if (page.length === 0) return;
      for (const { _id } of page) {
        // From here on a put that is under way all the same does not make it whole.
        const sweep = { $set: { isGivenUp: true } };
        const { matchedCount } = await this.run(({ unfinished }) => unfinished.updateOne({ _id, at }, sweep));
        if (matchedCount === 0) continue;
        // It may lack nothing but the end of this record, or was to be deleted, which will be asked for again.
        const isWhole = (await this.file(_id)) !== undefined;
        if (isWhole) await this.run(({ unfinished }) => unfinished.deleteOne({ _id }));
        else await this.clear(_id);
      }
    }
  }

  /** Keeps others from the id. */
  private async begin(id: string): Promise<void> {
    await this.run(async ({ unfinished }) => {
      try {
        await unfinished.insertOne({ _id: id, at: new Date(), isGivenUp: false });
      } catch (error) {
        throw violatedIndex(error) === ID_INDEX ? new ObjectExists(id) : error;
      }
    });
    if ((await this.file(id)) === undefined) return;
    await this.run(({ unfinished }) => unfinished.deleteOne({ _id: id, isGivenUp: false }));
    throw new ObjectExists(id);
  }

  private async finish(file: FileRecord): Promise<void> {
    const { _id } = file;
    const underWay = { _id, isGivenUp: false };
    const late = { $set: { at: new Date() } };
    const { matchedCount } = await this.run(({ unfinished }) => unfinished.updateOne(underWay, late));
    if (matchedCount === 0) {
      await this.clear(_id);
      throw new Unavailable(ENGINE, 'the object took too long to put');
    }
    await this.run(({ files }) => files.insertOne(file));
    // Where this fails, it is found to be whole later.
    await this.run(({ unfinished }) => unfinished.deleteOne(underWay)).catch(() => undefined);
  }

  private async clear(id: string): Promise<void> {
    await this.run(({ files }) => files.deleteOne({ _id: id }));
    await this.run(({ chunks }) => chunks.deleteMany({ files_id: id }));
    await this.run(({ unfinished }) => unfinished.deleteOne({ _id: id }));
  }

  private async file(id: string): Promise<FileRecord | undefined> {
    return (await this.run(({ files }) => files.findOne({ _id: id }))) ?? undefined;
  }

  /** @param end offset of the byte after the last */
  private async *read({ _id, chunkSize }: FileRecord, start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const n = Math.floor(at / chunkSize);
      const first = n * chunkSize;
      const chunk = await this.run(({ chunks }) => chunks.findOne({ files_id: _id, n }));
      if (chunk === null) throw new Unavailable(ENGINE, 'the object was deleted while it was read');
      yield chunk.data.subarray(at - first, end - first);
      at = first + chunkSize;
    }
  }

  private async run<R>(operation: (records: GridfsRecords) => Promise<R>): Promise<R> {
    this.ready ??= this.connection.run((database) => this.records(database).ensureIndexes(), BUILD_DEADLINE_MS);
    try {
      await this.ready;
    } catch (error) {
      this.ready = undefined;
      throw error;
    }
    return this.connection.run((database) => operation(this.records(database)));
  }

  private records(database: Db): GridfsRecords {
    return new GridfsRecords(database, this.connection.deadlineMs);
  }
}

function following({ uploadDate, _id }: FileRecord) {
  return [{ uploadDate: { $gt: uploadDate } }, { uploadDate, _id: { $gt: _id } }];
}

function checkId(id: string): void {
  if (!OBJECT_ID_PATTERN.test(id)) throw new TypeError(`not an id of an object: ${JSON.stringify(id)}`);
}

/** An object that is whole, in the fields of GridFS. */
interface FileRecord {
  readonly _id: string;
  /** In bytes. */
  readonly length: number;
  /** Size of all chunks but the last, in bytes. */
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
  readonly metadata: { readonly sha256: string };
}

/** In the fields of GridFS; its own id means nothing. */
interface ChunkRecord {
  readonly files_id: string;
  /** From 0. */
  readonly n: number;
  readonly data: Uint8Array;
}

/** A put or a delete that was begun. */
interface UnfinishedRecord {
  /** The object's. */
  readonly _id: string;
  /** When it was begun, or was last known to be under way. */
  readonly at: Date;
  /** Whether the object must not become whole any more: it is being deleted, or its put was taken for dead. */
  readonly isGivenUp: boolean;
}

/** The collections, acknowledged and read by a majority of the replica set. */
export class GridfsRecords {
  readonly files: Collection<FileRecord>;
  readonly chunks: Collection<ChunkRecord>;
  readonly unfinished: Collection<UnfinishedRecord>;

  constructor(database: Db, deadlineMs: number) {
    const options = {
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: deadlineMs },
      readConcern: { level: 'majority' },
      promoteBuffers: true,
    } as const;
    this.files = database.collection<FileRecord>(OBJECT_COLLECTIONS.files, options);
    this.chunks = database.collection<ChunkRecord>(OBJECT_COLLECTIONS.chunks, options);
    this.unfinished = database.collection<UnfinishedRecord>(OBJECT_COLLECTIONS.unfinished, options);
  }

  async ensureIndexes(): Promise<void> {
    await this.chunks.createIndex({ files_id: 1, n: 1 }, { unique: true });
    await this.files.createIndex({ uploadDate: 1, _id: 1 });
    await this.unfinished.createIndex({ at: 1 });
  }
}

/**
 * The same bytes in chunks of one size, but for the last; none of no bytes. Each is a copy, since sources may use their
 * memory again.
 */
export async function* inChunks(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
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
