import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject } from '@tracking/contracts';
import {
  type EventMetadata,
  type ShipmentEvent,
  UnknownEventType,
  evolveRecord,
  eventTypes,
  fold,
  upcast,
} from './index.ts';

/** An event as it lies in a store. These files are never edited: a new version gets a file of its own. */
interface Stored {
  readonly revision: number;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

const FOLDER = new URL('./golden/', import.meta.url);
/** The record, the milestones, the exceptions and what is remembered besides, after all of them. */
const FOLDED = 'outcome.json';
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'));
const files = readdirSync(FOLDER).filter((name) => name !== FOLDED);
const events = files
  .flatMap((name) => read(name) as Stored[])
  .sort((a, b) => a.revision - b.revision)
  .map(({ revision, type, data, metadata }): ShipmentEvent => ({ ...upcast(type, data), revision, metadata }));

describe('golden files of stored events', () => {
  it('there is one for every wire name', () => {
    expect(files.map((name) => name.replace(/\.json$/, ''))).toEqual(expect.arrayContaining([...eventTypes]));
  });

  it.each(files)('%s holds events of that name alone', (name) => {
    const stored = read(name) as Stored[];
    expect(stored.length).toBeGreaterThan(0);
    for (const { type } of stored) expect(`${type}.json`).toBe(name);
  });

  it('are one whole stream', () => {
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_, place) => place));
  });

  it('fold to what they always folded to', () => {
    const state = fold(events);
    const milestones = state?.timeline.map(({ milestone }) => milestone);
    const { record, exceptions, ports, cancelled } = state ?? {};
    expect({ record, milestones, exceptions, ports, cancelled }).toEqual(read(FOLDED));
  });

  it('the record alone comes to the same', () => {
    const record = events.reduce<ReturnType<typeof evolveRecord> | undefined>(evolveRecord, undefined);
    expect(read(FOLDED)).toMatchObject({ record });
  });
});

describe('upcast', () => {
  it.each(['shipment.created.v0', 'shipment.created', 'constructor', ''])(
    'refuses what no shipment stores: %j',
    (type) => {
      expect(() => upcast(type, {})).toThrow(UnknownEventType);
    },
  );
});
