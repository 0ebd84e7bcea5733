import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { tempFolder, type AdapterSubject, type TempFolder } from '@tracking/testing';
import { FileObjectStore } from '../src/index.ts';

/** Objects in a folder of their own. */
export function fileObjectSubject(): AdapterSubject<FileObjectStore> {
  let folder: TempFolder | undefined;
  let objects = '';
  const openAgain = () => FileObjectStore.open(objects);
  return {
    async open() {
      folder = await tempFolder();
      objects = join(folder.path, 'data', 'objects');
      return openAgain();
    },
    reopen: openAgain,
    /** Takes the folder away in the middle of puts, at one instant: what a killed process leaves behind. */
    async crash() {
      const left = `${objects}-left`;
      await rename(objects, left);
      objects = left;
      return openAgain();
    },
    close: async () => folder?.remove(),
  };
}
