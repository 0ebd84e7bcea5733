import { randomUUID } from 'node:crypto';
import { eventually } from '@tracking/testing';
import { EmbeddedEngine } from '../src/index.ts';
import { quiet } from './writing-child-protocol.ts';

/**
 * Appends until an append is refused, and reports the error; then until an append succeeds, and reports the number of
 * acknowledged events. Argument: folder.
 */
const [dataDir = ''] = process.argv.slice(2);
const engine = await EmbeddedEngine.open({ dataDir, ...quiet });
const { eventStore } = engine;
let stored = 0;
const append = async (): Promise<string> => {
  const event = { id: randomUUID(), type: 'written.v1', data: { text: 'x'.repeat(5_000) }, metadata: {} };
  try {
    await eventStore.append('s', stored === 0 ? 'no_stream' : stored - 1, [event]);
    stored += 1;
    return '';
  } catch (error) {
    return (error as Error).name;
  }
};
const report = (what: object) => console.log(JSON.stringify(what));

let error = '';
while (error === '') error = await append();
const later = await append();
const { length } = await eventStore.read('s');
report({ stored, read: length, error, later, failure: engine.failure });

await eventually(async () => {
  const refused = await append();
  if (refused !== '') throw new Error(refused);
});
report({ stored, failure: engine.failure });
await engine.close();
