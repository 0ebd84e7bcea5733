import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { FileObjectStore } from '../src/index.ts';

/**
 * Stores objects until it is killed, and records acknowledged ones with their hashes. Arguments: folder, output file.
 */
const [folder = '', file = ''] = process.argv.slice(2);
const objectStore = await FileObjectStore.openFileObjectStore(folder);
const outputFileDescriptor = openSync(file, 'a');

async function* generateByteChunks(letter: string, pieces: number) {
  for (let at = 0; at < pieces; at += 1) yield Buffer.from(letter.repeat(40_000));
}

async function putObjectsForever(letter: string): Promise<void> {
  for (let pieces = 1; ; pieces = (pieces * 3) % 13) {
    const id = `obj_${randomUUID()}`;
    const { sha256 } = await objectStore.putObject(id, generateByteChunks(letter, pieces));
    writeSync(outputFileDescriptor, `${id} ${sha256}\n`);
  }
}

await Promise.all([...'abcdef'].map(putObjectsForever));
