import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { EmbeddedEngine } from '../src/index.ts';
import { CHILD_COLLECTIONS, silentTelemetry, type ChildDocument } from './writing-child-protocol.ts';

/** Writes one operation after another and records each acknowledgement. Arguments: folder, output file. */
const [dataDir = '', file = ''] = process.argv.slice(2);
const engine = await EmbeddedEngine.open({ dataDir, ...silentTelemetry });
const recordCollection = await engine.documentStore.collection<ChildDocument>(CHILD_COLLECTIONS.records);
const viewCollection = await engine.documentStore.collection<ChildDocument>(CHILD_COLLECTIONS.views);
const outputFile = openSync(file, 'a');

async function repeatWrite(kind: string, write: (number: number) => Promise<unknown>): Promise<void> {
  writeSync(outputFile, `begin ${kind}\n`);
  for (let number = 0; number < 20; number += 1) {
    await write(number);
    writeSync(outputFile, `acknowledged ${kind}\n`);
  }
}

const append = (number: number) => {
  const event = { id: randomUUID(), type: 'written.v1', data: {}, metadata: {} };
  return engine.eventStore.append(`s${number}`, 'no_stream', [event]);
};
const upsert = (collection: typeof viewCollection) => (number: number) => {
  return collection.upsert({ id: String(number), version: 1, words: [] });
};
await repeatWrite('append', append);
await repeatWrite('record', upsert(recordCollection));
await repeatWrite('view', upsert(viewCollection));
await repeatWrite('mixture', (number) =>
  Promise.all([upsert(viewCollection)(number + 100), append(number + 100), upsert(viewCollection)(number + 200)]),
);
await engine.close();
