import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { EmbeddedEngine } from '../src/index.ts';
import { CHILD_PROCESS_COLLECTIONS, silentTelemetry, type ChildDocument } from './writing-child-protocol.ts';

/** Writes one operation after another and records each acknowledgement. Arguments: folder, output file. */
const [dataDir = '', file = ''] = process.argv.slice(2);
const embeddedEngine = await EmbeddedEngine.openEmbeddedEngine({ dataDir, ...silentTelemetry });
const recordCollection = await embeddedEngine.documentStore.collection<ChildDocument>(
  CHILD_PROCESS_COLLECTIONS.records,
);
const viewsCollection = await embeddedEngine.documentStore.collection<ChildDocument>(CHILD_PROCESS_COLLECTIONS.views);
const outputFile = openSync(file, 'a');

async function writeNumberedItemsForever(kind: string, write: (number: number) => Promise<unknown>): Promise<void> {
  writeSync(outputFile, `begin ${kind}\n`);
  for (let number = 0; number < 20; number += 1) {
    await write(number);
    writeSync(outputFile, `acknowledged ${kind}\n`);
  }
}

const appendStream = (number: number) => {
  const event = { id: randomUUID(), type: 'written.v1', data: {}, metadata: {} };
  return embeddedEngine.eventStore.append(`s${number}`, 'no_stream', [event]);
};
const upsertStream = (collection: typeof viewsCollection) => (number: number) => {
  return collection.upsert({ id: String(number), version: 1, words: [] });
};
await writeNumberedItemsForever('append', appendStream);
await writeNumberedItemsForever('record', upsertStream(recordCollection));
await writeNumberedItemsForever('view', upsertStream(viewsCollection));
await writeNumberedItemsForever('mixture', (number) =>
  Promise.all([
    upsertStream(viewsCollection)(number + 100),
    appendStream(number + 100),
    upsertStream(viewsCollection)(number + 200),
  ]),
);
await embeddedEngine.closeEngine();
