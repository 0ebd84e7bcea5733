import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject } from '@tracking/contracts';
import {
  type EventMetadata,
  type ShipmentEvent,
  UnknownEventTypeError,
  evolveShipmentRecord,
  fold,
  upcastEventBody,
} from './index.ts';
import { descriptorsOfAllStoredEventTypes } from './events/stored-events.ts';
import { storedEventTypes, createEventUpcaster } from './stored-event.ts';

/** An event as stored. Never edit these files; add a new file for a new version. */
interface Stored {
  readonly revision: number;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

const FOLDER = new URL('./golden/', import.meta.url);
/** Record, milestones, exceptions, documents and internal state after all events. */
const FOLDED = 'outcome.json';
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'));
const files = readdirSync(FOLDER).filter((name) => name !== FOLDED);
const events = files
  .flatMap((name) => read(name) as Stored[])
  .sort((a, b) => a.revision - b.revision)
  .map(({ revision, type, data, metadata }): ShipmentEvent => ({ ...upcastEventBody(type, data), revision, metadata }));

describe('golden files of stored events', () => {
  it('exist for every stored type', () => {
    expect(files.map((name) => name.replace(/\.json$/, '')).sort()).toEqual([...storedEventTypes].sort());
  });

  it.each(files)('%s contains only events of that type', (name) => {
    const stored = read(name) as Stored[];
    expect(stored.length).toBeGreaterThan(0);
    for (const { type } of stored) expect(`${type}.json`).toBe(name);
  });

  it('form one complete stream', () => {
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_, place) => place));
  });

  it('fold to the stored outcome', () => {
    const state = fold(events);
    const milestones = state?.timeline.map(({ milestone }) => milestone);
    const { record, exceptions, documents, ports, cancelled, lastNewsAt, nextCheckAt } = state ?? {};
    const endedConditions = [...(state?.endedConditions ?? [])];
    const folded = {
      record,
      milestones,
      exceptions,
      documents,
      endedConditions,
      ports,
      cancelled,
      lastNewsAt,
      nextCheckAt,
    };
    expect(folded).toEqual(read(FOLDED));
  });

  it('give the same record with evolveRecord', () => {
    const record = events.reduce<ReturnType<typeof evolveShipmentRecord> | undefined>(evolveShipmentRecord, undefined);
    expect(read(FOLDED)).toMatchObject({ record });
  });
});

it('are all listed in the table of stored events in ARCHITECTURE.md', () => {
  const page = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `[a-z_]+\.[a-z_]+\.v\d+`/.test(line));
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/[a-z_]+\.[a-z_]+\.v\d+/g) ?? []);
  expect(named.sort()).toEqual(descriptorsOfAllStoredEventTypes.map(({ type }) => type).sort());
});

describe('upcast', () => {
  it.each(['shipment.created.v0', 'shipment.created', 'constructor', ''])(
    'refuses data that no shipment stores: %j',
    (type) => {
      expect(() => upcastEventBody(type, {})).toThrow(UnknownEventTypeError);
    },
  );

  it('converts a former version through each following one', () => {
    const upcastMadeUp = createEventUpcaster([
      {
        type: 'thing.done.v3',
        formerVersions: [
          { type: 'thing.done.v1', upcast: (data) => ({ ...data, second: 2 }) },
          { type: 'thing.done.v2', upcast: (data) => ({ ...data, third: Number(data['second']) + 1 }) },
        ],
      },
    ]);
    const newest = (data: object) => ({ type: 'thing.done.v3', data });
    expect(upcastMadeUp('thing.done.v1', { first: 1 })).toEqual(newest({ first: 1, second: 2, third: 3 }));
    expect(upcastMadeUp('thing.done.v2', { second: 7 })).toEqual(newest({ second: 7, third: 8 }));
    expect(upcastMadeUp('thing.done.v3', { third: 9 })).toEqual(newest({ third: 9 }));
    expect(() => upcastMadeUp('thing.done.v4', {})).toThrow(UnknownEventTypeError);
  });
});
