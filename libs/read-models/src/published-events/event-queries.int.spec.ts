import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { type Collection, UnavailableError } from '@tracking/ports';
import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import { type TempFolder, createTempFolder } from '@tracking/testing';
import { ACME_LIVE_SCOPE, createShipmentEventForTest, createNthTestShipmentToken } from '../../test/shipment-events.ts';
import type { ActiveGenerationSelector } from '../active-rows.ts';
import { createRowsCollectionSpec } from '../read-model.ts';
import { type EventListQuery, EventQueries } from './event-queries.ts';
import { type PublishedEventRow, publishedEventsReadModel } from './published-event-rows.ts';

const day = (n: number) => new Date(Date.UTC(2026, 2, n));
/** Late position of an event of a parked stream, after its log position. */
const lateAt = (position: string) => `${position}.0000000000000001.0000000001`;

describe('event queries with an event that was handled long after it was stored', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let rows: Collection<PublishedEventRow>;
  beforeAll(async () => {
    folder = await createTempFolder();
    engine = await openTestEngine(folder.path);
    rows = await engine.documentStore.collection(createRowsCollectionSpec(publishedEventsReadModel, 1));
    await store('day 1, late', 1, '0001', lateAt('0020'));
    await store('day 10', 10, '0010');
    await store('day 20', 20, '0020');
  });
  afterAll(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  const names = new Map<string, string>();
  async function store(name: string, n: number, position: string, place?: string): Promise<void> {
    const stream = `shipment-${createNthTestShipmentToken(n)}`;
    const stored = {
      ...createShipmentEventForTest({ type: 'shipment.changed.v1', data: { changes: {} } }, null, day(n)),
      stream,
      revision: 1,
      position,
    };
    const projected = {
      id: stored.id,
      stream,
      position,
      place,
      scope: ACME_LIVE_SCOPE,
      event: upcastStoredShipmentEvent(stored),
    };
    for (const row of publishedEventsReadModel.applyEventToRows(projected, () => undefined)) {
      names.set(row.id, name);
      await rows.insert(row);
    }
  }
  /** A generation that has reached the late position. */
  const queries = (place: string) => {
    const progress = { getHandledPosition: () => place, readCurrentHandledPosition: () => Promise.resolve(place) };
    const active = {
      openActiveGenerationRows: () => Promise.resolve(rows),
      getRetentionStart: () => undefined,
      progress,
    };
    return new EventQueries(active as unknown as ActiveGenerationSelector<PublishedEventRow>);
  };
  const listed = async (filter: EventListQuery['filter']) => {
    const { items } = await queries(lateAt('0020')).listEvents(ACME_LIVE_SCOPE, { filter, limit: 10 });
    return items.map(({ id }) => names.get(id));
  };

  it('find the event and its neighbors by their times', async () => {
    expect(await listed({})).toEqual(['day 10', 'day 20', 'day 1, late']);
    expect(await listed({ since: day(9).toISOString() })).toEqual(['day 10', 'day 20']);
    expect(await listed({ until: day(2).toISOString() })).toEqual(['day 1, late']);
  });

  it('read a range up to the late position in the next generation, where the event has its log position', async () => {
    const stretch = { after: '', upTo: lateAt('0020'), limit: 10 };
    expect(await queries('0020').readEventsOfAllScopes(stretch)).toHaveLength(3);
    await expect(queries('0019').readEventsOfAllScopes(stretch)).rejects.toThrow(UnavailableError);
  });
});
