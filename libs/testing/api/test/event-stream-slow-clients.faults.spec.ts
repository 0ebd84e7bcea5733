import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { EventStreamSettings } from '@tracking/shipments-http';
import { eventually, expectAssertionStaysTrue } from '@tracking/testing';
import { EventStreamReader } from './event-stream-reader.ts';
import { type Api, startApi } from './start-api.ts';

let api: Api;
let key: string;
let readers: EventStreamReader[] = [];

async function start(eventStreams: Partial<EventStreamSettings> = {}) {
  [api, readers] = [await startApi({ settings: { eventStreams } }), []];
  key = await api.key('operator', 'live', randomUUID());
}
afterEach(async () => {
  for (const reader of readers) reader.closeSocket();
  await api.stop();
});

async function open(lastEventId?: string): Promise<EventStreamReader> {
  const reader = await EventStreamReader.openStream(api.url, {
    key,
    ...(lastEventId !== undefined && { lastEventId }),
  });
  readers.push(reader);
  return reader;
}

async function create(external_id: string, fields: object): Promise<void> {
  const { status } = await api.call('POST', '/v1/shipments', { key, json: { external_id, ...fields } });
  expect(status).toBe(201);
}

describe('a client that does not read', () => {
  const NOTE = 'x'.repeat(900);
  const FIELDS = { metadata: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`field_${n}`, NOTE])) };

  /** Returns the largest number of bytes that wait in this process for one of the connections. */
  function waiting(sockets: ReadonlySet<Socket>): number {
    return Math.max(0, ...[...sockets].map((socket) => socket.writableLength));
  }

  /** Creates 250 shipments, a few at a time. */
  async function createMany(created = (): unknown => undefined): Promise<void> {
    for (let n = 0; n < 250; n += 5) {
      const few = Array.from({ length: 5 }, (_, one) => create(`S-${n + one}`, FIELDS).then(created));
      await Promise.all(few);
    }
  }

  function connections(): ReadonlySet<Socket> {
    const sockets = new Set<Socket>();
    api.server.on('connection', (socket) => sockets.add(socket));
    return sockets;
  }

  it('holds little of what waits for it, and nobody up; reads all of it later', async () => {
    await start();
    const sockets = connections();
    const [slow, quick] = [await open(), await open()];
    slow.pauseReading();
    let most = 0;
    await createMany(() => (most = Math.max(most, waiting(sockets))));
    const ids = await quick.waitForEvents(250);
    // The operating system buffers further bytes, about 4 MiB on loopback addresses.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(300_000);
    slow.resumeReading();
    expect(await slow.waitForEvents(250)).toEqual(ids);
  });

  it('is cut off after a while, and goes on after the last event that it read', async () => {
    // The limit exceeds the time for which a busy machine delays a client that reads.
    await start({ stalledMs: 1_000 });
    const slow = await open();
    const quick = await open();
    slow.pauseReading();
    await createMany();
    await eventually(() => expect(api.counts.get('event_streams_ended_total{reason="stalled"}')).toBe(1));
    slow.resumeReading();
    await slow.waitForStreamEnd();
    const again = await open(slow.lastEventId);
    const ids = await quick.waitForEvents(250);
    expect(slow.ids.length).toBeLessThan(250);
    expect([...slow.ids, ...(await again.waitForEvents(250 - slow.ids.length))]).toEqual(ids);
    await expectAssertionStaysTrue(() => expect(again.events).toHaveLength(250 - slow.ids.length));
  });
});
