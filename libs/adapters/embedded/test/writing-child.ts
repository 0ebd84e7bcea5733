import { randomUUID } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { EmbeddedSqliteEngine } from '../src/index.ts';
import {
  CHILD_PROCESS_COLLECTIONS,
  silentTelemetry,
  type DocumentWrittenByChild,
  type WriteReport,
} from './writing-child-protocol.ts';

/**
 * Writes to the folder until it is killed, and records acknowledged writes. Arguments: folder, run number, output file.
 */
const [dataDir = '', run = '', file = ''] = process.argv.slice(2);
// A small log limit, so that many kills happen during a checkpoint.
const embeddedEngine = await EmbeddedSqliteEngine.openEmbeddedEngine({
  dataDir,
  ...silentTelemetry,
  limits: { walCheckpointBytes: 200_000 },
});
const outputFileDescriptor = openSync(file, 'a');
function printReportLine(said: WriteReport): void {
  writeSync(outputFileDescriptor, `${JSON.stringify(said)}\n`);
}

/** Appends one to four events at once. Each event contains its number. */
async function appendEventsForever(stream: string): Promise<void> {
  for (let revision = -1; ;) {
    const append = randomUUID();
    const size = 1 + (Math.abs(revision * 7) % 4);
    const events = Array.from({ length: size }, (_, place) => {
      return { id: randomUUID(), type: 'written.v1', data: { append, place, size }, metadata: {} };
    });
    ({ revision } = await embeddedEngine.eventStore.append(stream, revision < 0 ? 'no_stream' : revision, events));
    printReportLine({ stream, revision, append });
  }
}

async function upsertDocumentForever(name: keyof typeof CHILD_PROCESS_COLLECTIONS, id: string): Promise<void> {
  const collection = await embeddedEngine.documentStore.collection<DocumentWrittenByChild>(
    CHILD_PROCESS_COLLECTIONS[name],
  );
  for (let version = 1; ; version += 1) {
    await collection.upsert({ id, version, words: [`v${version}`, 'all'] }, { version: { lt: version } });
    printReportLine({ collection: name, id, version });
  }
}

await Promise.all([
  ...Array.from({ length: 8 }, (_, index) => appendEventsForever(`stream-${run}-${index}`)),
  ...Array.from({ length: 4 }, (_, index) => upsertDocumentForever('records', `record-${run}-${index}`)),
  ...Array.from({ length: 4 }, (_, index) => upsertDocumentForever('views', `view-${run}-${index}`)),
]);
