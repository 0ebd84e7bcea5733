import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { EventEnvelope, EventType } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, DocumentStore, EventStore, StoredEvent } from '@tracking/ports';
import type { EventReference } from '@tracking/shipments-domain';
import { findPublicEventOfStoredEvent, upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import { eventually, choosePropertyTestRounds } from '@tracking/testing';
import { ACME_LIVE_SCOPE, createSampleException, createNthTestShipmentToken } from '../../test/shipment-events.ts';
import { createSeededRandom } from '../../test/faulty-store.ts';
import { ReadModelsTestBed, waitUntilCaughtUp } from '../../test/world.ts';
import type { SortValues } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { FollowedEventFilter } from './event-feed.ts';
import { PublishedEventReader } from './published-events.ts';

type Chance = () => number;

/** Delays each query of published events by its own time, so that the queries of one page see different states. */
function unevenly(store: DocumentStore, chance: Chance): DocumentStore {
  const collection = async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> => {
    const inner = await store.collection<T>(spec);
    if (!spec.name.startsWith('published_events.')) return inner;
    const find: Collection<T>['find'] = async (query) => {
      for (let turns = Math.floor(chance() * 12); turns > 0; turns -= 1) await setImmediate();
      return inner.find(query);
    };
    return Object.assign(Object.create(inner) as Collection<T>, { find });
  };
  return Object.assign(Object.create(store) as DocumentStore, { collection });
}

/** Fails the events of some streams from a revision on, in all read models. */
class Faults {
  readonly from = new Map<string, number>();

  in(store: EventStore): EventStore {
    const seen = (event: StoredEvent): StoredEvent =>
      event.revision >= (this.from.get(event.stream) ?? Infinity) ? { ...event, type: 'unknown.v1' } : event;
    const catchUp: EventStore['catchUp'] = async function* (options) {
      for await (const batch of store.catchUp(options)) yield { ...batch, events: batch.events.map(seen) };
    };
    const read: EventStore['read'] = async (stream, range) => (await store.read(stream, range)).map(seen);
    return Object.assign(Object.create(store) as EventStore, { catchUp, read });
  }
}

const SHIPMENTS = 6;
const shipment_id = `shp_${createNthTestShipmentToken(2)}`;
const FILTERS: readonly FollowedEventFilter[] = [
  {},
  { type: ['exception.opened'] },
  { type: ['shipment.created', 'exception.opened'] },
  { type: ['milestone.recorded', 'shipment.updated', 'exception.opened'] },
  { shipment_id },
  { shipment_id, type: ['shipment.created', 'milestone.recorded', 'shipment.updated'] },
];

describe('readers of the event log', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => (world = await ReadModelsTestBed.open()));
  afterEach(() => world.close());

  const bodies = (references: readonly EventReference[]) =>
    Promise.resolve({
      covered: references.length,
      events: references.map(({ id }) => ({
        id,
        type: 'shipment.updated' as const,
        created_at: '',
        api_version: '2026-11-01' as const,
        ...ACME_LIVE_SCOPE,
        data: {},
      })),
    });

  /** Public events of the log that match, in log order. */
  async function logged({ type, shipment_id }: FollowedEventFilter): Promise<string[]> {
    const events: StoredEvent[] = [];
    for (let n = 0; n < SHIPMENTS; n += 1)
      events.push(...(await world.engine.eventStore.read(world.writer.getShipmentStreamName(n))));
    const isWanted = (event: StoredEvent) => {
      const announced: EventType | undefined = findPublicEventOfStoredEvent(upcastStoredShipmentEvent(event))?.type;
      const isOfShipment = shipment_id === undefined || event.stream.endsWith(shipment_id.slice('shp_'.length));
      return announced !== undefined && (type?.includes(announced) ?? true) && isOfShipment;
    };
    return events
      .filter(isWanted)
      .sort((one, other) => (one.position < other.position ? -1 : 1))
      .map(({ id }) => `evt_${id}`);
  }

  it.each(Array.from({ length: choosePropertyTestRounds(10, 2) }, (_, round) => round + 1))(
    'receive each event once during concurrent writes and parking (seed %i)',
    async (seed) => {
      const chance = createSeededRandom(seed);
      const upTo = (most: number) => Math.floor(chance() * most);
      const faults = new Faults();
      const documentStore = unevenly(world.engine.documentStore, createSeededRandom(seed + 1_000));
      const eventStore = faults.in(world.engine.eventStore);
      const projecting = await world.startReadModels({ documentStore, eventStore });
      const querying = await world.startReadModels({ documentStore, project: false });
      await Promise.all([projecting.ready, querying.ready]);
      let isOver = false;

      /** Continues after the last event received. */
      const poller = async (models: ReadModels, filter: FollowedEventFilter, limit: number) => {
        const seen: string[] = [];
        for (;;) {
          const isLast = isOver;
          const after = seen.at(-1);
          const narrowed = { ...filter, ...(after !== undefined && { after }) };
          const page = await models.queries.published_events.listEvents(ACME_LIVE_SCOPE, { filter: narrowed, limit });
          seen.push(...page.items.map(({ id }) => id));
          if (isLast && page.next === undefined) return seen;
          await setImmediate();
        }
      };
      /** Continues at the last cursor received. */
      const pager = async (models: ReadModels, filter: FollowedEventFilter, limit: number) => {
        const seen = new Set<string>();
        for (let after: SortValues | undefined; ;) {
          const isLast = isOver;
          const page = await models.queries.published_events.listEvents(ACME_LIVE_SCOPE, { filter, limit, after });
          for (const { id } of page.items) seen.add(id);
          if (isLast && page.next === undefined) return [...seen];
          after = page.next ?? after;
          await setImmediate();
        }
      };
      const encode = ({ id }: EventEnvelope) => Buffer.from(id);
      const feeds = [projecting, querying].map((models) =>
        new PublishedEventReader(models, bodies).createPublishedEventFeed({ encode, onFailure: () => undefined }),
      );
      const followers = await Promise.all(
        FILTERS.map(async (filter, n) => {
          const followed = await feeds[n % 2]!.followEvents(ACME_LIVE_SCOPE, filter, 'beginning');
          const seen: string[] = [];
          const ended = (async () => {
            for (
              let some = await followed!.readNextEvents();
              some.length > 0;
              some = await followed!.readNextEvents()
            ) {
              seen.push(...some.map(({ id }) => id));
            }
          })();
          return { filter, seen, ended, leave: () => followed!.stopFollowing() };
        }),
      );
      const readers = FILTERS.map(async (filter, n) => {
        const [one = querying, other = projecting] = n % 2 === seed % 2 ? [projecting, querying] : [];
        const seen = [poller(one, filter, 1 + upTo(20)), pager(other, filter, 1 + upTo(20))];
        return { filter, seen: await Promise.all(seen) };
      });

      const change = { type: 'shipment.changed.v1', data: { changes: {} } };
      let isWriting = true;
      const writer = async (n: number) => {
        while (isWriting) {
          const milestone = { id: randomUUID(), classifier: 'actual' };
          const opened = createSampleException(n, randomUUID());
          const bodiesOf = [
            { type: 'milestone.recorded.v1', data: { milestone, supersedes: [], last: { containers: [] } } },
            change,
            { type: 'exception.opened.v1', data: { exception: opened, open_exceptions_count: 1 } },
          ];
          await world.writer.appendEventsWithBodies(n, ...bodiesOf.slice(0, 1 + upTo(3)));
          for (let turns = upTo(60); turns > 0; turns -= 1) await setImmediate();
        }
      };
      const isParked = () => eventually(async () => expect(await projecting.listParkedShipments()).not.toEqual([]));
      /** An operator retries parked streams after the fault is fixed. */
      const heal = async () => {
        faults.from.clear();
        await Promise.all((await projecting.listParkedShipments()).map(({ id }) => projecting.retryParkedStream(id)));
      };
      for (let n = 0; n < SHIPMENTS; n += 1) await world.writer.createShipment(n);
      await waitUntilCaughtUp(projecting);
      const writing = Promise.all(Array.from({ length: SHIPMENTS }, (_, n) => writer(n)));
      for (const n of [2, upTo(SHIPMENTS)]) {
        faults.from.set(world.writer.getShipmentStreamName(n), 1);
        await isParked();
        await heal();
      }
      isWriting = false;
      await writing;
      await heal();
      // Nothing is written afterwards. Events handled now are still received.
      await waitUntilCaughtUp(projecting);
      faults.from.set(world.writer.getShipmentStreamName(2), 1);
      for (const n of [2, 3]) await world.writer.appendEventsWithBodies(n, change);
      await waitUntilCaughtUp(projecting);
      await heal();
      expect(await projecting.listParkedShipments()).toEqual([]);

      const expected = new Map<FollowedEventFilter, string[]>();
      for (const filter of FILTERS) expected.set(filter, await logged(filter));
      isOver = true;
      const found = (await Promise.all(readers)).flatMap(({ filter, seen }) =>
        seen.map((each) => ({ filter, seen: each })),
      );
      const isTold = () => followers.every(({ filter, seen }) => seen.length >= (expected.get(filter)?.length ?? 0));
      await eventually(() => expect(isTold()).toBe(true), { deadlineMs: 5_000 }).catch(() => undefined);
      for (const { leave } of followers) leave();
      await Promise.all(followers.map(({ ended }) => ended));
      for (const feed of feeds) feed.endFollowers();
      const wrong = [...found, ...followers].flatMap(({ filter, seen }) => {
        const missing = (expected.get(filter) ?? []).filter((id) => !seen.includes(id));
        const repeated = seen.filter((id, at) => seen.indexOf(id) !== at);
        return missing.length + repeated.length === 0 ? [] : [{ filter, missing, repeated }];
      });
      expect(wrong).toEqual([]);
      expect([...found, ...followers].map(({ seen }) => seen.length)).toEqual(
        [...found, ...followers].map(({ filter }) => expected.get(filter)?.length),
      );
    },
  );
});
