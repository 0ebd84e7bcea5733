import { createHash } from 'node:crypto';
import { accessSync, constants, createReadStream } from 'node:fs';
import { access, mkdir, open, opendir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  OBJECT_ID_PATTERN,
  ObjectExistsError,
  UnavailableError,
  passBytesWhileDiskHasSpace,
  type DiskSpace,
  type ObjectContent,
  type ObjectStore,
  type StoredObjectSizeAndHash,
} from '@tracking/ports';
import { measureFreeDiskBytes } from './disk-space.ts';

const ENGINE_NAME = 'object store';
/** Suffix of the names of incomplete files. Object ids contain no dot. */
const UNFINISHED_FILE_SUFFIX = '.part';

/**
 * Stores objects as files of one folder that only this process uses, named by their ids. An object is written under a
 * temporary name, which reserves its id, and is renamed when it is complete and on disk. A crash leaves temporary files
 * but never a partial object.
 */
export class FileObjectStore implements ObjectStore {
  /** Ids of objects whose upload is running. */
  private readonly beingStored = new Set<string>();

  private constructor(
    private readonly folder: string,
    private readonly disk: DiskSpace,
  ) {}

  /**
   * @param folder created if missing (0700); inside a data folder that this process has locked
   * @param disk by default the disk of the folder, without a reserve
   */
  static async openFileObjectStore(folder: string, disk: Partial<DiskSpace> = {}): Promise<FileObjectStore> {
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(dirname(folder));
    return new FileObjectStore(folder, {
      reserveBytes: 0,
      freeBytes: () => convertDiskErrors(measureFreeDiskBytes(folder)),
      ...disk,
    });
  }

  /**
   * Returns the reason why objects can neither be stored nor read; undefined if they can. Each call checks the folder.
   */
  get failure(): string | undefined {
    try {
      accessSync(this.folder, constants.R_OK | constants.W_OK | constants.X_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT'
        ? 'the folder of objects is missing; restore it'
        : `the folder of objects is not accessible: ${code}`;
    }
  }

  async putObject(id: string, source: AsyncIterable<Uint8Array>): Promise<StoredObjectSizeAndHash> {
    const whole = this.getObjectPath(id);
    const part = whole + UNFINISHED_FILE_SUFFIX;
    if (this.beingStored.has(id)) throw new ObjectExistsError(id);
    this.beingStored.add(id);
    try {
      if (await convertDiskErrors(fileExists(whole))) throw new ObjectExistsError(id);
      const stored = await writeObjectFile(part, passBytesWhileDiskHasSpace(source, this.disk));
      await convertDiskErrors(rename(part, whole));
      await convertDiskErrors(syncFolder(this.folder));
      return stored;
    } catch (error) {
      // If this deletion fails too, a later cleanup removes the file.
      await rm(part, { force: true }).catch(() => undefined);
      throw error;
    } finally {
      this.beingStored.delete(id);
    }
  }

  async getObject(
    id: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<ObjectContent | undefined> {
    const file = this.getObjectPath(id);
    const found = await convertDiskErrors(stat(file).catch(ignoreMissingFile));
    if (found === undefined) return undefined;
    const sizeBytes = found.size;
    const { start = 0, end = sizeBytes } = range ?? {};
    return { sizeBytes, bytes: readFileRange(file, start, Math.min(end, sizeBytes)) };
  }

  async deleteObject(id: string): Promise<void> {
    await convertDiskErrors(rm(this.getObjectPath(id), { force: true }));
    await convertDiskErrors(syncFolder(this.folder));
  }

  async *listObjectIdsStoredInPeriod({
    from,
    before,
  }: {
    readonly from?: Date;
    readonly before: Date;
  }): AsyncGenerator<string> {
    for await (const { name, at } of this.listStoredFilesWithWriteTimes((each) => OBJECT_ID_PATTERN.test(each))) {
      if (at < before && (from === undefined || at >= from)) yield name;
    }
  }

  async removeUnfinishedObjects(before: Date): Promise<void> {
    const isPart = (name: string) =>
      name.endsWith(UNFINISHED_FILE_SUFFIX) && !this.beingStored.has(name.slice(0, -UNFINISHED_FILE_SUFFIX.length));
    for await (const { name, at } of this.listStoredFilesWithWriteTimes(isPart)) {
      // Another upload of the same id started meanwhile and uses the file.
      if (at < before && isPart(name)) await convertDiskErrors(rm(join(this.folder, name), { force: true }));
    }
  }

  private getObjectPath(id: string): string {
    if (!OBJECT_ID_PATTERN.test(id)) throw new TypeError(`${JSON.stringify(id)} is not a valid object id`);
    return join(this.folder, id);
  }

  /** Lists files of the folder with a wanted name, and the time of their last write. */
  private async *listStoredFilesWithWriteTimes(
    isWanted: (name: string) => boolean,
  ): AsyncGenerator<{ readonly name: string; readonly at: Date }> {
    const entries = await convertDiskErrors(opendir(this.folder));
    for await (const { name } of entries) {
      if (!isWanted(name)) continue;
      const found = await convertDiskErrors(stat(join(this.folder, name)).catch(ignoreMissingFile));
      if (found !== undefined) yield { name, at: found.mtime };
    }
  }
}

/** Resolves when the complete content of the file is on disk. */
async function writeObjectFile(file: string, source: AsyncIterable<Uint8Array>): Promise<StoredObjectSizeAndHash> {
  // A file that already exists is left from a crash.
  const handle: FileHandle = await convertDiskErrors(open(file, 'w', 0o600));
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const bytes of source) {
      hash.update(bytes);
      sizeBytes += bytes.length;
      await convertDiskErrors(handle.writeFile(bytes));
    }
    await convertDiskErrors(handle.sync());
    return { sizeBytes, sha256: hash.digest('hex') };
  } finally {
    await convertDiskErrors(handle.close());
  }
}

/** Reads a range of the file. @param end offset after the last byte of the range */
async function* readFileRange(file: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  if (start >= end) return;
  try {
    yield* createReadStream(file, { start, end: end - 1 });
  } catch (error) {
    throw createUnavailableError(error);
  }
}

async function fileExists(file: string): Promise<boolean> {
  return (await access(file).then(() => true, ignoreMissingFile)) ?? false;
}

function ignoreMissingFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function convertDiskErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw createUnavailableError(error);
  });
}

function createUnavailableError(error: unknown): UnavailableError {
  return new UnavailableError(ENGINE_NAME, (error as NodeJS.ErrnoException).code ?? 'unknown', { cause: error });
}

/** Synchronizes the folder, so that a new file name survives a power failure. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
