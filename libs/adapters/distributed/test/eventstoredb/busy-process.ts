import { text } from 'node:stream/consumers';
import { pause } from '@tracking/resilience';
import { eventually, newEvent } from '@tracking/testing';
import { openStore, untilAnswered } from './eventstoredb-subject.ts';

/**
 * Appends, reads and follows under load until its input ends, in a separate process that ends on any uncaught error.
 * Prints a line per acknowledged append, and at the end the events that are missing, repeated or out of order.
 * @param argv `<url> <prefix of its streams>`
 */
const STREAMS = 150;
const [, , url = '', prefix = ''] = process.argv;
const store = openStore(url, { limits: { operationTimeoutMs: 1_500 } });
const ended = new AbortController();
void text(process.stdin).then(() => ended.abort());

const acknowledged = new Map<string, string[]>();
/** Fills the connection, so that writes must wait for capacity. */
const ballast = 'x'.repeat(30_000);

async function append(stream: string): Promise<void> {
  const own: string[] = [];
  acknowledged.set(stream, own);
  while (!ended.signal.aborted) {
    const event = newEvent({ ballast });
    await untilAnswered(() => store.append(stream, own.length === 0 ? 'no_stream' : own.length - 1, [event]));
    own.push(event.id);
    if (own.length % 5 === 0) await store.read(stream, { from: own.length - 5 }).catch(() => undefined);
    // Load of ten appends per second on each stream.
    await pause(100, ended.signal);
  }
}

const followed = new Map<string, string[]>();
const stop = new AbortController();
const following = (async () => {
  for await (const { events } of store.catchUp({ streamPrefixes: [prefix], signal: stop.signal })) {
    for (const { stream, id } of events) followed.set(stream, [...(followed.get(stream) ?? []), id]);
  }
})();

const total = (of: ReadonlyMap<string, readonly string[]>) =>
  [...of.values()].reduce((sum, { length }) => sum + length, 0);
const progress = setInterval(() => process.stdout.write(`${total(acknowledged)}\n`), 50);
await Promise.all(Array.from({ length: STREAMS }, (_, n) => append(`${prefix}${n}`)));
clearInterval(progress);
const hasFollowedAll = () => {
  if (total(followed) < total(acknowledged)) throw new Error('not all was followed');
};
// If this never resolves, the missing events are printed below.
await eventually(hasFollowedAll).catch(() => undefined);
stop.abort();
await following;
const wrong: string[] = [];
for (const [stream, own] of acknowledged) {
  const stored = (await untilAnswered(() => store.read(stream))).map(({ id }) => id);
  if (stored.join() !== own.join()) wrong.push(`${stream} holds ${stored.length} of ${own.length}`);
  if (followed.get(stream)?.join() !== own.join()) wrong.push(`${stream} was followed otherwise`);
}
process.stdout.write(`${JSON.stringify({ wrong })}\n`);
await store.close();
