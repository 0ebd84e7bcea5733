import type { Collection, Db } from 'mongodb';

export const OBJECT_COLLECTIONS = {
  files: 'objects.files',
  chunks: 'objects.chunks',
  unfinished: 'objects.unfinished',
} as const;

/** An object that is whole, in the fields of GridFS. */
export interface FileRecord {
  readonly _id: string;
  /** In bytes. */
  readonly length: number;
  /** Of all chunks but the last, in bytes. */
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
  readonly metadata: { readonly sha256: string };
}

/** In the fields of GridFS; its own id means nothing. */
export interface ChunkRecord {
  readonly files_id: string;
  /** From 0. */
  readonly n: number;
  readonly data: Uint8Array;
}

/** A put or a delete that was begun. */
export interface UnfinishedRecord {
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
