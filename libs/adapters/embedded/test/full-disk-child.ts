import { randomUUID } from 'node:crypto';
import { eventually } from '@tracking/testing';
import { EmbeddedEngine } from '../src/index.ts';
import { silentTelemetry } from './writing-child-protocol.ts';

/**
 * Appends events until an append is refused, and reports the error. Then appends until an append succeeds, and reports
 * the number of acknowledged events. Argument: folder.
 */
const [dataDir = ''] = process.argv.slice(2);
const engine = await EmbeddedEngine.open({ dataDir, ...silentTelemetry });
const { eventStore } = engine;
let storedCount = 0;
const append = async (): Promise<string> => {
  const event = { id: randomUUID(), type: 'written.v1', data: { text: 'x'.repeat(5_000) }, metadata: {} };
  try {
    await eventStore.append('s', storedCount === 0 ? 'no_stream' : storedCount - 1, [event]);
    storedCount += 1;
    return '';
  } catch (error) {
    return (error as Error).name;
  }
};
const printReport = (what: object) => console.log(JSON.stringify(what));

let error = '';
while (error === '') error = await append();
const laterAppend = await append();
const { length } = await eventStore.read('s');
printReport({ stored: storedCount, read: length, error, later: laterAppend, failure: engine.failure });

await eventually(async () => {
  const refused = await append();
  if (refused !== '') throw new Error(refused);
});
printReport({ stored: storedCount, failure: engine.failure });
await engine.close();
