import type { Classifier } from '@tracking/contracts';
import { ACME_LIVE_SCOPE, OTHER_WORKSPACE, createNthTestShipmentToken } from '../test/shipment-events.ts';
import { waitUntilCaughtUp, ReadModelsTestBed } from '../test/world.ts';
import type { MilestoneListQuery } from './milestones.ts';
import type { SortValues } from './read-model.ts';
import type { ReadModels } from './read-models.ts';

describe('queries of milestones', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let n = 0;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    n += 1;
    await world.writer.createShipment(n);
  });

  async function list(query: Partial<MilestoneListQuery> = {}): Promise<string[][]> {
    await waitUntilCaughtUp(models);
    const all: string[][] = [];
    for (let after: SortValues | undefined; ;) {
      const { items, next } = await models.queries.milestones.listMilestones(
        ACME_LIVE_SCOPE,
        `shp_${createNthTestShipmentToken(n)}`,
        {
          classifiers: ['actual'],
          include_superseded: false,
          include_retracted: false,
          limit: 100,
          ...query,
          after,
        },
      );
      all.push(items.map(({ id }) => id.slice(-1)));
      if (!next) return all;
      after = next;
    }
  }

  it('return milestones in timeline order, page by page', async () => {
    const at = (hour: number) => `2026-03-02T0${hour}:00:00.000Z`;
    await world.writer.writeMilestoneRecordedEvent(n, 'e', { occurred_at: at(2), sequence: 10, recorded_at: at(5) });
    await world.writer.writeMilestoneRecordedEvent(n, 'd', { occurred_at: at(1), sequence: 40, recorded_at: at(6) });
    await world.writer.writeMilestoneRecordedEvent(n, 'c', { occurred_at: at(1), sequence: 40, recorded_at: at(5) });
    await world.writer.writeMilestoneRecordedEvent(n, 'b', { occurred_at: at(1), sequence: 40, recorded_at: at(5) });
    await world.writer.writeMilestoneRecordedEvent(n, 'a', { occurred_at: at(1), sequence: 9, recorded_at: at(7) });
    const expected = ['a', 'b', 'c', 'd', 'e'];
    expect(await list()).toEqual([expected]);
    expect(await list({ limit: 2 })).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await list({ limit: 1 })).toEqual(expected.map((each) => [each]));
  });

  it('return only the requested classifiers and container', async () => {
    const classifiers: Classifier[] = ['actual', 'estimated', 'planned'];
    for (const [index, classifier] of classifiers.entries()) {
      await world.writer.writeMilestoneRecordedEvent(n, String.fromCharCode(97 + index), {
        classifier,
        container_number: `C${index % 2}`,
      });
    }
    expect(await list()).toEqual([['a']]);
    expect(await list({ classifiers })).toEqual([['a', 'b', 'c']]);
    expect(await list({ classifiers: ['planned', 'estimated'] })).toEqual([['b', 'c']]);
    expect(await list({ classifiers, container_number: 'C0' })).toEqual([['a', 'c']]);
    expect(await list({ classifiers, container_number: 'C7' })).toEqual([[]]);
  });

  it('omit superseded and retracted milestones unless requested', async () => {
    const classifiers: Classifier[] = ['actual', 'estimated'];
    await world.writer.writeMilestoneRecordedEvent(n, 'a', { classifier: 'estimated' });
    await world.writer.writeMilestoneRecordedEvent(n, 'b', { classifier: 'estimated' }, [
      `mst_${createNthTestShipmentToken(n)}a`,
    ]);
    await world.writer.writeMilestoneRecordedEvent(n, 'c', { retracted_at: '2026-03-03T00:00:00.000Z' });
    expect(await list({ classifiers })).toEqual([['b']]);
    expect(await list({ classifiers, include_superseded: true })).toEqual([['a', 'b']]);
    expect(await list({ classifiers, include_retracted: true })).toEqual([['b', 'c']]);
    expect(await list({ classifiers, include_superseded: true, include_retracted: true })).toEqual([['a', 'b', 'c']]);
  });

  it('return nothing of another scope', async () => {
    await world.writer.writeMilestoneRecordedEvent(n, 'a');
    expect(await list()).toEqual([['a']]);
    const query = { classifiers: ['actual'], include_superseded: true, include_retracted: true, limit: 10 } as const;
    expect(
      await models.queries.milestones.listMilestones(OTHER_WORKSPACE, `shp_${createNthTestShipmentToken(n)}`, query),
    ).toEqual({
      items: [],
      next: undefined,
    });
    expect(await models.queries.milestones.listMilestones(ACME_LIVE_SCOPE, 'shp_unknown', query)).toEqual({
      items: [],
      next: undefined,
    });
  });
});
