import { randomUUID } from 'node:crypto';
import { eventually } from '@tracking/testing';
import { EmbeddedSqliteEngine } from '../src/index.ts';
import { silentTelemetry } from './writing-child-protocol.ts';

/**
 * Appends events until an append is refused, and reports the error. Then appends until an append succeeds, and reports
 * the number of acknowledged events. Argument: folder.
 */
const [dataDir = ''] = process.argv.slice(2);
const embeddedEngine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, ...silentTelemetry });
const { eventStore } = embeddedEngine;
let storedEventCount = 0;
const appendNextEvent = async (): Promise<string> => {
  const event = { id: randomUUID(), type: 'written.v1', data: { text: 'x'.repeat(5_000) }, metadata: {} };
  try {
    await eventStore.append('s', storedEventCount === 0 ? 'no_stream' : storedEventCount - 1, [event]);
    storedEventCount += 1;
    return '';
  } catch (error) {
    return (error as Error).name;
  }
};
const printAsJson = (what: object) => console.log(JSON.stringify(what));

let secondAppendError = '';
while (secondAppendError === '') secondAppendError = await appendNextEvent();
const secondAppendResult = await appendNextEvent();
const { length } = await eventStore.read('s');
printAsJson({
  stored: storedEventCount,
  read: length,
  error: secondAppendError,
  later: secondAppendResult,
  failure: embeddedEngine.failure,
});

await eventually(async () => {
  const refused = await appendNextEvent();
  if (refused !== '') throw new Error(refused);
});
printAsJson({ stored: storedEventCount, failure: embeddedEngine.failure });
await embeddedEngine.closeEngine();
