import { randomUUID } from 'node:crypto';
import { EmbeddedEngine } from '../src/index.ts';
import { quiet } from './writing-child-protocol.ts';

/** Appends until it is refused, then says what came of it. Argument: folder. */
const [dataDir = ''] = process.argv.slice(2);
const engine = await EmbeddedEngine.open({ dataDir, ...quiet });
const append = (revision: number) => {
  const event = { id: randomUUID(), type: 'written.v1', data: { text: 'x'.repeat(5_000) }, metadata: {} };
  return engine.eventStore.append('s', revision < 0 ? 'no_stream' : revision, [event]);
};
let stored = 0;
let error = '';
while (error === '') {
  await append(stored - 1).then(
    () => (stored += 1),
    (reason: unknown) => (error = (reason as Error).name),
  );
}
const later = await append(stored - 1).catch((reason: unknown) => (reason as Error).name);
const { failure } = engine;
console.log(JSON.stringify({ stored, error, later, failure }));
await engine.close();
