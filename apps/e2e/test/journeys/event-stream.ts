import type { EventEnvelope, Shipment } from '@tracking/contracts';
import { eventually, patient } from '@tracking/testing';
import type { Subject } from '../subject.ts';
import { after, all, newTenant } from '../tenant.ts';

const PATIENT = { deadlineMs: 60_000 };

/** What comes over one connection, until it is broken. */
async function listen(url: string, key: string, lastEventId?: string) {
  const connection = new AbortController();
  const response = await fetch(`${url}/v1/events/stream`, {
    headers: { authorization: `Bearer ${key}`, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
    signal: connection.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/event-stream/),
  ]);
  const events: EventEnvelope[] = [];
  const reading = (async () => {
    let text = '';
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const messages = (text + part).split('\n\n');
      text = messages.pop() ?? '';
      const bodies = messages.flatMap((message) => /^data: ?(.*)$/m.exec(message)?.[1] ?? []);
      events.push(...bodies.map((body) => JSON.parse(body) as EventEnvelope));
    }
  })().catch(() => undefined);
  const hangUp = async () => {
    connection.abort();
    await reading;
  };
  return { events, hangUp };
}

export function eventStreamJourney(subject: () => Subject): void {
  test(
    'a stream of events is resumed at another gateway after its connection broke, without a gap and without a repetition',
    async () => {
      const { api, key } = await newTenant(subject());
      const { urls } = subject();
      const [first = '', second = first] = urls;
      const write = async (name: string) => {
        let last;
        for (let n = 0; n < 5; n += 1) {
          last = await api.post<Shipment>('/v1/shipments', { external_id: `${name}-${n}` });
          expect(last.status).toBe(201);
        }
        return last!;
      };
      const before = await listen(first, key);
      await write('CONNECTED');
      await eventually(() => expect(before.events).toHaveLength(5), PATIENT);
      await before.hangUp();
      const heard = before.events.map(({ id }) => id);

      await write('BROKEN');
      const resumed = await listen(second, key, heard.at(-1));
      const last = await write('RESUMED');
      await eventually(() => expect(resumed.events).toHaveLength(10), PATIENT);
      const log = await all<EventEnvelope>(api, '/v1/events', {}, after(last));
      expect([...before.events, ...resumed.events]).toEqual(log);
      await resumed.hangUp();
    },
    patient(120_000),
  );
}
