import { randomUUID } from 'node:crypto';
import { DomainError, type EventPage, type ExportedEvent } from '@tracking/contracts';
import { type EventStore, MAX_APPEND_BYTES, UnavailableError, computeEventBytes } from '@tracking/ports';
import { MAX_EVENT_BYTES_PER_COMMAND } from './decide-batch.ts';
import { createMilestones, createPatchCommand, SAMPLE_SCOPE, createUpsertCommand } from '../test/builders.ts';
import { TestEngine, createShipmentsReplica } from '../test/engine.ts';
import { createEventImportAndExport, createNextEventRecordingTimeFinder } from './operations.ts';

async function withStore(work: (store: EventStore) => Promise<void>): Promise<void> {
  const engine = await TestEngine.openTestEngine();
  try {
    await work(engine.store);
  } finally {
    await engine.closeTestEngine();
  }
}

async function written(eventStore: EventStore, shipments: number, milestonesEach: number): Promise<readonly string[]> {
  const service = createShipmentsReplica(eventStore);
  const ids: string[] = [];
  for (let n = 0; n < shipments; n += 1) {
    const { answer } = await service.upsertShipment(createUpsertCommand({ external_id: `T-${n}` }));
    ids.push(answer.shipment.id);
    await Promise.all(createMilestones(answer.shipment.id, milestonesEach).map((one) => service.recordMilestone(one)));
  }
  return ids;
}

async function everything(store: EventStore, limit: number): Promise<readonly ExportedEvent[]> {
  const events: ExportedEvent[] = [];
  let after: string | null = null;
  for (let complete = false; !complete;) {
    const page: EventPage = await createEventImportAndExport(store).exportEvents({ after, limit });
    events.push(...page.events);
    ({ position: after, complete } = page);
  }
  return events;
}

/** The same events without the marker of the import. */
const asImported = (event: ExportedEvent): ExportedEvent => ({
  ...event,
  metadata: { ...event.metadata, imported: true },
});

/** Returns the event with a new id and a note that makes its data and metadata this large. */
function ofSize(event: ExportedEvent, bytes: number): ExportedEvent {
  const padded = (note: string) => ({ ...event, id: randomUUID(), data: { ...event.data, note } });
  return padded('x'.repeat(bytes - computeEventBytes(padded(''))));
}

const refused = async (importing: Promise<unknown>) => {
  const error: unknown = await importing.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DomainError);
  expect(error).toMatchObject({ code: 'validation_failed' });
};

it('finds when the first event after a position was recorded', () =>
  withStore(async (store) => {
    const findTimeAfter = createNextEventRecordingTimeFinder(createEventImportAndExport(store));
    expect(await findTimeAfter(null)).toBeUndefined();
    const service = createShipmentsReplica(store);
    await service.upsertShipment(createUpsertCommand({ external_id: 'T-1' }, { at: '2026-03-01T12:00:00.000Z' }));
    const position = (await store.head())!;
    await service.upsertShipment(createUpsertCommand({ external_id: 'T-2' }, { at: '2026-03-01T13:00:00.000Z' }));
    await service.upsertShipment(createUpsertCommand({ external_id: 'T-3' }, { at: '2026-03-01T14:00:00.000Z' }));
    expect(await findTimeAfter(null)).toBe('2026-03-01T12:00:00.000Z');
    expect(await findTimeAfter(position)).toBe('2026-03-01T13:00:00.000Z');
    expect(await findTimeAfter((await store.head())!)).toBeUndefined();
  }));

describe('events from one store to another', () => {
  it('are not exported as complete if the store is closed', async () => {
    const catchUp: EventStore['catchUp'] = async function* () {
      // A closed store ends.
    };
    const { exportEvents } = createEventImportAndExport({ catchUp } as EventStore);
    await expect(exportEvents({ after: null, limit: 10 })).rejects.toThrow(UnavailableError);
  });

  it('are not waited for longer than the timeout while the store does not respond', async () => {
    let isEnded = false;
    const catchUp: EventStore['catchUp'] = async function* ({ signal }) {
      yield { events: [], position: '1', caughtUp: false };
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      isEnded = true;
    };
    const { exportEvents } = createEventImportAndExport({ catchUp } as EventStore, { timeoutMs: 5 });
    await expect(exportEvents({ after: null, limit: 10 })).rejects.toThrow(UnavailableError);
    expect(isEnded).toBe(true);
  });

  it('are not exported from a position of another store', () =>
    withStore((store) =>
      refused(createEventImportAndExport(store).exportEvents({ after: '0', limit: 10 })).then(() => undefined),
    ));

  it('are the same there with any page size and any number of repetitions', async () => {
    await withStore(async (from) => {
      const ids = await written(from, 5, 7);
      const events = await everything(from, 4);
      expect(await everything(from, 500)).toEqual(events);
      await withStore(async (to) => {
        for (let at = 0; at < events.length; at += 6) {
          await createEventImportAndExport(to).importEvents({ events: events.slice(at, at + 6) });
        }
        await createEventImportAndExport(to).importEvents({ events });
        await createEventImportAndExport(to).importEvents({ events: events.slice(3, 20) });
        expect(new Set(await everything(to, 500))).toEqual(new Set(events.map(asImported)));
        const service = createShipmentsReplica(to);
        const source = createShipmentsReplica(from);
        for (const id of ids) {
          const found = await service.getShipment({ ...SAMPLE_SCOPE, shipment_id: id });
          expect(found?.record).toEqual((await source.getShipment({ ...SAMPLE_SCOPE, shipment_id: id }))?.record);
        }
      });
    });
  });

  it('continue after an import was interrupted within a stream', async () => {
    await withStore(async (from) => {
      await written(from, 1, 9);
      const events = await everything(from, 500);
      await withStore(async (to) => {
        await createEventImportAndExport(to).importEvents({ events: events.slice(0, 5) });
        await createEventImportAndExport(to).importEvents({ events });
        expect(await everything(to, 500)).toEqual(events.map(asImported));
      });
    });
  });

  it('are stored if a shipment needs several appends, in any alphabet', async () => {
    await withStore(async (from) => {
      const service = createShipmentsReplica(from);
      const { answer } = await service.upsertShipment(createUpsertCommand({ external_id: 'T-1' }));
      const metadata = (text: string) => Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, text]));
      for (const character of ['ø', '港', '船', '海', '貨'])
        await service.patchShipment(
          createPatchCommand(answer.shipment.id, { metadata: metadata(character.repeat(1_000)) }),
        );
      const events = await everything(from, 500);
      expect(events.reduce((sum, event) => sum + computeEventBytes(event), 0)).toBeGreaterThan(MAX_APPEND_BYTES);
      await withStore(async (to) => {
        await createEventImportAndExport(to).importEvents({ events });
        await createEventImportAndExport(to).importEvents({ events });
        expect(await everything(to, 500)).toEqual(events.map(asImported));
      });
    });
  });

  it.each([2_200, 4_000])('are stored if 500 of %i bytes in one request fill several appends', async (bytes) => {
    await withStore(async (from) => {
      await written(from, 1, 1);
      const [created, recorded] = await everything(from, 500);
      if (!created || !recorded) throw new Error('too few events');
      const more = Array.from({ length: 499 }, (_, n) => ofSize({ ...recorded, revision: n + 1 }, bytes));
      const events = [created, ...more];
      await withStore(async (to) => {
        await createEventImportAndExport(to).importEvents({ events });
        await createEventImportAndExport(to).importEvents({ events });
        expect(await everything(to, 500)).toEqual(events.map(asImported));
      });
    });
  });

  it('are stored if one is as large as a command may store', async () => {
    await withStore(async (from) => {
      await written(from, 1, 1);
      const [first] = await everything(from, 500);
      if (!first) throw new Error('too few events');
      const events = [ofSize(first, MAX_EVENT_BYTES_PER_COMMAND)];
      await withStore(async (to) => {
        await createEventImportAndExport(to).importEvents({ events });
        await createEventImportAndExport(to).importEvents({ events });
        expect(await everything(to, 500)).toEqual(events.map(asImported));
      });
    });
  });

  it('are refused if the stream has the first of them and then different ones', async () => {
    await withStore(async (from) => {
      await written(from, 1, 3);
      const [first, second, third] = await everything(from, 500);
      if (!first || !second || !third) throw new Error('too few events');
      const other = { ...second, id: randomUUID() };
      await withStore(async (to) => {
        await createEventImportAndExport(to).importEvents({ events: [first, other] });
        await refused(createEventImportAndExport(to).importEvents({ events: [first, second, third] }));
        expect(await everything(to, 500)).toEqual([first, other].map(asImported));
      });
    });
  });

  it('are stored except those of shipments with other events, which are reported', async () => {
    await withStore(async (from) => {
      const [, conflicting = ''] = await written(from, 3, 3);
      const events = await everything(from, 500);
      const stream = conflicting.replace('shp_', 'shipment-');
      const own = events.filter((event) => event.stream === stream);
      const others = events.filter((event) => event.stream !== stream);
      await withStore(async (to) => {
        const { importEvents } = createEventImportAndExport(to);
        const [first, second] = own;
        if (!first || !second) throw new Error('too few events');
        const there = [first, { ...second, id: randomUUID() }];
        await importEvents({ events: there });
        const conflict = { stream, shipment_id: conflicting, external_id: 'T-1', ...SAMPLE_SCOPE, revision: 1 };
        const result = { stored: others.length + 1, conflicts: [conflict] };
        for (let time = 0; time < 2; time += 1)
          expect(await importEvents({ events, skip_conflicts: true })).toEqual(result);
        expect(new Set(await everything(to, 500))).toEqual(new Set([...there, ...others].map(asImported)));
      });
    });
  });

  it('are refused if they are malformed, have gaps, or the stream has different ones', async () => {
    await withStore(async (eventStore) => {
      await written(eventStore, 1, 3);
      const { importEvents } = createEventImportAndExport(eventStore);
      const [first, second, third] = await everything(eventStore, 500);
      if (!first || !second || !third) throw new Error('too few events');
      await refused(importEvents({ events: [{ ...first, stream: 'other-stream' }] }));
      await refused(importEvents({ events: [{ ...first, type: 'shipment.exploded.v9' }] }));
      await refused(importEvents({ events: [{ ...first, type: 'exception.resolved.v1', data: {} }] }));
      await refused(importEvents({ events: [{ ...first, id: 'x' }] }));
      await refused(importEvents({ events: [first, third] }));
      await refused(importEvents({ events: [{ ...first, id: crypto.randomUUID() }] }));
      await refused(importEvents({ events: [{ ...third, revision: 99 }] }));
      const data = { ...third.data, note: 'x'.repeat(MAX_APPEND_BYTES) };
      await refused(importEvents({ events: [{ ...third, stream: `${third.stream}x`, revision: 0, data }] }));
      expect(await everything(eventStore, 500)).toHaveLength((await everything(eventStore, 1)).length);
    });
  });

  it('are an empty page of an empty store', async () => {
    await withStore(async (eventStore) => {
      expect(await everything(eventStore, 10)).toEqual([]);
    });
  });
});
