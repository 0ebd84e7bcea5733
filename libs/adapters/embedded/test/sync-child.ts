import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { EmbeddedSqliteEngine } from '../src/index.ts';
import { CHILD_PROCESS_COLLECTIONS, silentTelemetry, type DocumentWrittenByChild } from './writing-child-protocol.ts';

/** Writes one operation after another and records each acknowledgement. Arguments: folder, output file. */
const [dataDir = '', file = ''] = process.argv.slice(2);
const embeddedEngine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, ...silentTelemetry });
const childProcessRecordsCollection = await embeddedEngine.documentStore.collection<DocumentWrittenByChild>(
  CHILD_PROCESS_COLLECTIONS.records,
);
const derivedViewsCollection = await embeddedEngine.documentStore.collection<DocumentWrittenByChild>(
  CHILD_PROCESS_COLLECTIONS.views,
);
const outputFileDescriptor = openSync(file, 'a');

async function writeNumberedItems(kind: string, write: (number: number) => Promise<unknown>): Promise<void> {
  writeSync(outputFileDescriptor, `begin ${kind}\n`);
  for (let number = 0; number < 20; number += 1) {
    await write(number);
    writeSync(outputFileDescriptor, `acknowledged ${kind}\n`);
  }
}

const appendToNewStream = (number: number) => {
  const event = { id: randomUUID(), type: 'written.v1', data: {}, metadata: {} };
  return embeddedEngine.eventStore.append(`s${number}`, 'no_stream', [event]);
};
const createDocumentUpserter = (collection: typeof derivedViewsCollection) => (number: number) => {
  return collection.upsert({ id: String(number), version: 1, words: [] });
};
await writeNumberedItems('append', appendToNewStream);
await writeNumberedItems('record', createDocumentUpserter(childProcessRecordsCollection));
await writeNumberedItems('view', createDocumentUpserter(derivedViewsCollection));
await writeNumberedItems('mixture', (number) =>
  Promise.all([
    createDocumentUpserter(derivedViewsCollection)(number + 100),
    appendToNewStream(number + 100),
    createDocumentUpserter(derivedViewsCollection)(number + 200),
  ]),
);
await embeddedEngine.closeEngine();
