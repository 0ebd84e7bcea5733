/*
 * Appends, reads and follows under load until its input ends, in a separate process that ends on any uncaught error.
 * Prints the number of acknowledged appends every 50 ms, and at the end the streams whose events are missing, repeated
 * or out of order. Arguments: `<url> <prefix of its streams>`.
 */

import { text } from 'node:stream/consumers';
import { pauseFor } from '@tracking/resilience';
import { eventually, createNewEvent } from '@tracking/testing';
import { openEventStoreDbEventStore, retryUntilAnswered } from './eventstoredb-subject.ts';

/** Number of streams that the process appends to. */
const STREAM_COUNT = 150;
const [, , url = '', prefix = ''] = process.argv;
const eventStore = openEventStoreDbEventStore(url, { limits: { operationTimeoutMs: 1_500 } });
const stopController = new AbortController();
void text(process.stdin).then(() => stopController.abort());

const acknowledgedEventIdsByStream = new Map<string, string[]>();
/** The text fills the connection, so that writes must wait for capacity. */
const eventPaddingText = 'x'.repeat(30_000);

async function appendEventsUntilStopped(stream: string): Promise<void> {
  const own: string[] = [];
  acknowledgedEventIdsByStream.set(stream, own);
  while (!stopController.signal.aborted) {
    const event = createNewEvent({ ballast: eventPaddingText });
    await retryUntilAnswered(() => eventStore.append(stream, own.length === 0 ? 'no_stream' : own.length - 1, [event]));
    own.push(event.id);
    if (own.length % 5 === 0) await eventStore.read(stream, { from: own.length - 5 }).catch(() => undefined);
    // Load of ten appends per second on each stream.
    await pauseFor(100, stopController.signal);
  }
}

const receivedEventIdsByStream = new Map<string, string[]>();
const writingAbortController = new AbortController();
const eventLogFollower = (async () => {
  for await (const { events } of eventStore.catchUp({
    streamPrefixes: [prefix],
    signal: writingAbortController.signal,
  })) {
    for (const { stream, id } of events)
      receivedEventIdsByStream.set(stream, [...(receivedEventIdsByStream.get(stream) ?? []), id]);
  }
})();

const countEventsOfAllStreams = (of: ReadonlyMap<string, readonly string[]>) =>
  [...of.values()].reduce((sum, { length }) => sum + length, 0);
const progressTimer = setInterval(
  () => process.stdout.write(`${countEventsOfAllStreams(acknowledgedEventIdsByStream)}\n`),
  50,
);
await Promise.all(Array.from({ length: STREAM_COUNT }, (_, n) => appendEventsUntilStopped(`${prefix}${n}`)));
clearInterval(progressTimer);
/** @throws Error until the subscription has received all acknowledged events */
const expectAllEventsFollowed = () => {
  if (countEventsOfAllStreams(receivedEventIdsByStream) < countEventsOfAllStreams(acknowledgedEventIdsByStream))
    throw new Error('the subscription has not received all acknowledged events yet');
};
// If the promise never resolves, the process prints the missing events below.
await eventually(expectAllEventsFollowed).catch(() => undefined);
writingAbortController.abort();
await eventLogFollower;
const incompleteStreams: string[] = [];
for (const [stream, own] of acknowledgedEventIdsByStream) {
  const stored = (await retryUntilAnswered(() => eventStore.read(stream))).map(({ id }) => id);
  if (stored.join() !== own.join()) incompleteStreams.push(`${stream} holds ${stored.length} of ${own.length}`);
  if (receivedEventIdsByStream.get(stream)?.join() !== own.join())
    incompleteStreams.push(`the subscription received other events of ${stream} than were acknowledged`);
}
process.stdout.write(`${JSON.stringify({ wrong: incompleteStreams })}\n`);
await eventStore.close();
