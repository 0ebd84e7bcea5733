import { randomUUID } from 'node:crypto';
import { EmbeddedSqliteEngine } from '../src/index.ts';
import { CHILD_PROCESS_COLLECTIONS, silentTelemetry, type DocumentWrittenByChild } from './writing-child-protocol.ts';

/**
 * Appends events one by one, then writes derived documents, and is killed. Arguments: folder, number of events, log
 * size at which it is checkpointed.
 */
const [dataDir = '', count = '', walCheckpointBytes = ''] = process.argv.slice(2);
const engineLimits = walCheckpointBytes === '' ? {} : { walCheckpointBytes: Number(walCheckpointBytes) };
const embeddedEngine = await EmbeddedSqliteEngine.openEmbeddedEngine({
  dataDir,
  ...silentTelemetry,
  limits: engineLimits,
});
for (let commandNumber = 0; commandNumber < Number(count); commandNumber += 1) {
  const event = { id: randomUUID(), type: 'written.v1', data: { text: 'x'.repeat(500) }, metadata: {} };
  await embeddedEngine.eventStore.append(
    `s${commandNumber % 50}`,
    commandNumber < 50 ? 'no_stream' : Math.floor(commandNumber / 50) - 1,
    [event],
  );
}
console.log('acknowledged');
const derivedViewsCollection = await embeddedEngine.documentStore.collection<DocumentWrittenByChild>(
  CHILD_PROCESS_COLLECTIONS.views,
);
for (let writtenDocumentVersion = 0; writtenDocumentVersion < 50; writtenDocumentVersion += 1) {
  await derivedViewsCollection.upsert({
    id: String(writtenDocumentVersion),
    version: writtenDocumentVersion,
    words: ['x'.repeat(500)],
  });
}
process.kill(process.pid, 'SIGKILL');
