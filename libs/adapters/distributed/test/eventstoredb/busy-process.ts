import { text } from 'node:stream/consumers';
import { pauseFor } from '@tracking/resilience';
import { eventually, createNewEvent } from '@tracking/testing';
import { openEventStoreDbEventStore, retryUntilAnswered } from './eventstoredb-subject.ts';

/**
 * Appends, reads and follows under load until its input ends, in a separate process that ends on any uncaught error.
 * Prints a line per acknowledged append, and at the end the events that are missing, repeated or out of order.
 * @param argv `<url> <prefix of its streams>`
 */
const STREAM_COUNT = 150;
const [, , url = '', prefix = ''] = process.argv;
const eventStore = openEventStoreDbEventStore(url, { limits: { operationTimeoutMs: 1_500 } });
const stopController = new AbortController();
void text(process.stdin).then(() => stopController.abort());

const acknowledgedEvents = new Map<string, string[]>();
/** The text fills the connection, so that writes must wait for capacity. */
const eventPaddingText = 'x'.repeat(30_000);

async function appendEvent(stream: string): Promise<void> {
  const own: string[] = [];
  acknowledgedEvents.set(stream, own);
  while (!stopController.signal.aborted) {
    const event = createNewEvent({ ballast: eventPaddingText });
    await retryUntilAnswered(() => eventStore.append(stream, own.length === 0 ? 'no_stream' : own.length - 1, [event]));
    own.push(event.id);
    if (own.length % 5 === 0) await eventStore.read(stream, { from: own.length - 5 }).catch(() => undefined);
    // Load of ten appends per second on each stream.
    await pauseFor(100, stopController.signal);
  }
}

const followedEvents = new Map<string, string[]>();
const stopWriting = new AbortController();
const followLogTask = (async () => {
  for await (const { events } of eventStore.catchUp({ streamPrefixes: [prefix], signal: stopWriting.signal })) {
    for (const { stream, id } of events) followedEvents.set(stream, [...(followedEvents.get(stream) ?? []), id]);
  }
})();

const countEvents = (of: ReadonlyMap<string, readonly string[]>) =>
  [...of.values()].reduce((sum, { length }) => sum + length, 0);
const progressTimer = setInterval(() => process.stdout.write(`${countEvents(acknowledgedEvents)}\n`), 50);
await Promise.all(Array.from({ length: STREAM_COUNT }, (_, n) => appendEvent(`${prefix}${n}`)));
clearInterval(progressTimer);
const hasFollowedAll = () => {
  if (countEvents(followedEvents) < countEvents(acknowledgedEvents))
    throw new Error('the subscription has not received all acknowledged events yet');
};
// If the promise never resolves, the process prints the missing events below.
await eventually(hasFollowedAll).catch(() => undefined);
stopWriting.abort();
await followLogTask;
const incompleteStreams: string[] = [];
for (const [stream, own] of acknowledgedEvents) {
  const stored = (await retryUntilAnswered(() => eventStore.read(stream))).map(({ id }) => id);
  if (stored.join() !== own.join()) incompleteStreams.push(`${stream} holds ${stored.length} of ${own.length}`);
  if (followedEvents.get(stream)?.join() !== own.join())
    incompleteStreams.push(`the subscription received other events of ${stream} than were acknowledged`);
}
process.stdout.write(`${JSON.stringify({ wrong: incompleteStreams })}\n`);
await eventStore.close();
