import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTempFolder, type TestedAdapter, type TempFolder } from '@tracking/testing';
import { FileObjectStore } from '../src/index.ts';

/** Object store in its own folder. */
export function createFileObjectStoreForTest(): TestedAdapter<FileObjectStore> {
  let folder: TempFolder | undefined;
  let objects = '';
  const openAgain = () => FileObjectStore.openFileObjectStore(objects);
  return {
    async openTestedAdapter() {
      folder = await createTempFolder();
      objects = join(folder.path, 'data', 'objects');
      return openAgain();
    },
    closeAndReopenAdapter: openAgain,
    /** The test moves the folder away during uploads, which leaves the state of a killed process. */
    async simulateCrash() {
      const left = `${objects}-left`;
      await rename(objects, left);
      objects = left;
      return openAgain();
    },
    close: async () => folder?.remove(),
  };
}
