import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { FileObjectStore } from '@tracking/embedded';

/** Token of a shipment: a letter from `a` to `z`, repeated. */
export const createRepeatedLetterShipmentToken = (letter: string) => `${letter.repeat(25)}a`;
export const createShipmentId = (letter: string) => `shp_${createRepeatedLetterShipmentToken(letter)}`;
/** Returns the id of an object of that shipment. */
export const createDocumentObjectIdForTest = (letter: string, name: string) =>
  `${createRepeatedLetterShipmentToken(letter)}-${name.padEnd(26, 'x')}`;

async function* yieldTextBytes(bytes: string) {
  yield Buffer.from(bytes);
}

/** Stores objects in files, with a clock that tests set. */
export class TestObjectStore {
  private constructor(
    readonly store: FileObjectStore,
    private readonly folder: string,
  ) {}

  static async openTestObjectStore(folder: string): Promise<TestObjectStore> {
    const objects = join(folder, 'objects');
    return new TestObjectStore(await FileObjectStore.openFileObjectStore(objects), objects);
  }

  async putObject(id: string, at: Date): Promise<string> {
    await this.store.putObject(id, yieldTextBytes(id));
    await this.setStoredFileTime(id, at);
    return id;
  }

  async setStoredFileTime(name: string, at: Date): Promise<void> {
    await utimes(join(this.folder, name), at, at);
  }

  /** Returns the names of all stored files. */
  async listObjectFileNames(): Promise<readonly string[]> {
    return (await readdir(this.folder)).sort();
  }

  getStoredFilePath(name: string): string {
    return join(this.folder, name);
  }
}
