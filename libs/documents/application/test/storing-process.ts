import { openSync, writeSync } from 'node:fs';
import { FileObjectStore } from '@tracking/embedded';
import { noMetrics } from '@tracking/testing';
import { DocumentBytesStore } from '../src/index.ts';
import { createShipmentId } from './objects.ts';

/**
 * Stores documents in an endless loop, and writes to a file, with their hashes, which of them a command then referred
 * to: two of three. Some are empty or too large. Arguments: folder of the objects, file.
 */
const [folder = '', file = ''] = process.argv.slice(2);
const documentBytesStore = new DocumentBytesStore({
  objects: await FileObjectStore.openFileObjectStore(folder),
  metrics: noMetrics,
});
const outputFileDescriptor = openSync(file, 'a');

async function* createRepeatedLetterSource(letter: string, pieces: number) {
  for (let at = 0; at < pieces; at += 1) yield Buffer.from(`${letter} `.repeat(20_000));
}

async function storeObjectsUntilKilled(letter: string): Promise<void> {
  for (let n = 1; ; n += 1) {
    const bytes = {
      shipmentId: createShipmentId(letter),
      source: createRepeatedLetterSource(letter, n % 11),
      limitBytes: 8 * 40_000,
    };
    const object = await documentBytesStore.storeAndCheckDocumentBytes(bytes).catch(() => undefined);
    if (object !== undefined && n % 3 > 0) writeSync(outputFileDescriptor, `${object.id} ${object.sha256}\n`);
  }
}

await Promise.all([...'abcdef'].map(storeObjectsUntilKilled));
