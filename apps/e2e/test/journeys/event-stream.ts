import type { TrackingClient, TrackingEvent } from '@tracking/client';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { SystemUnderTest } from '../subject.ts';
import { createTestTenant } from '../tenant.ts';

const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };

/** Events that a client receives until it disconnects. */
function collectStreamedEvents({ events }: TrackingClient, lastEventId?: string) {
  const connection = new AbortController();
  const heard: TrackingEvent[] = [];
  const stream = events.stream({}, { signal: connection.signal, ...(lastEventId !== undefined && { lastEventId }) });
  const reading = (async () => {
    for await (const event of stream) heard.push(event);
  })();
  const hangUp = async () => {
    const reason = new Error('hung up');
    connection.abort(reason);
    await expect(reading).rejects.toBe(reason);
  };
  return { stream, heard, hangUp };
}

export function declareEventStreamTests(subject: () => SystemUnderTest): void {
  test(
    'a stream of events resumes at another gateway after its connection broke, without gaps or duplicates',
    async () => {
      const { client, clients } = await createTestTenant(subject());
      const [first = client, second = first] = clients;
      const write = async (name: string) => {
        for (let n = 0; n < 5; n += 1) await client.shipments.upsert({ external_id: `${name}-${n}` });
      };
      const before = collectStreamedEvents(first);
      // The stream has started when it has an event id.
      await eventually(() => expect(before.stream.lastEventId).toBeDefined(), LONG_WAIT_OPTIONS);
      await write('CONNECTED');
      await eventually(() => expect(before.heard).toHaveLength(5), LONG_WAIT_OPTIONS);
      await before.hangUp();

      await write('BROKEN');
      const resumed = collectStreamedEvents(second, before.stream.lastEventId);
      await write('RESUMED');
      await eventually(() => expect(resumed.heard).toHaveLength(10), LONG_WAIT_OPTIONS);
      expect([...before.heard, ...resumed.heard]).toEqual(await client.events.list().toArray());
      await resumed.hangUp();
    },
    scaleTimeout(120_000),
  );
}
