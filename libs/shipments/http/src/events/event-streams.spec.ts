import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Metrics } from '@tracking/ports';
import type { PublishedEventFollower } from '@tracking/read-models';
import { OpenEventStreams } from './event-streams.ts';

it('an event stream sends no events if its key has ended before it starts', async () => {
  const sent = new PassThrough();
  const response = Object.assign(sent, { writeHead: () => sent }) as unknown as ServerResponse;
  const events = [[{ id: 'evt_1', bytes: Buffer.from('id: evt_1\ndata: {}\n\n') }]];
  const followed = {
    readNextEvents: () => Promise.resolve(events.shift() ?? new Promise(() => undefined)),
    stopFollowing: () => undefined,
  } as unknown as PublishedEventFollower;
  const metrics = { createGauge: () => undefined, createCounter: () => ({ add: () => undefined }) };
  const streams = new OpenEventStreams(metrics as unknown as Metrics, { admissionMs: 1 });
  streams.startEventStream(
    { response, headers: {}, followed, isAdmitted: () => Promise.resolve(false) },
    () => undefined,
  );
  expect(await text(sent)).toBe('retry: 2000\n\n');
});
