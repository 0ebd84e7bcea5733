import { noMetrics } from '@tracking/testing';
import { ReadModelsTestBed, waitUntilTrue } from '../test/world.ts';
import { ActiveGenerationSelector } from './active-rows.ts';
import { ProgressOfProjectedPartitions } from './projected-partitions.ts';
import { CheckpointPoller } from './checkpoint-poller.ts';
import { LazilyOpenedCollections, type ReadModel, type ReadModelRow } from './read-model.ts';
import { Generations } from './generations.ts';
import { ReadModelLifecycle } from './lifecycle.ts';
import { ProjectionMetrics } from './batch-projector.ts';

interface Made extends ReadModelRow {
  readonly by: number;
}

/** Read model that records in each row which version built it. */
function model(version: number): ReadModel<Made> {
  return {
    name: 'made',
    version,
    indexes: [],
    scoped: false,
    listRowIdsNeededToProjectEvent: ({ stream }) => [stream],
    applyEventToRows: ({ stream, event: { revision } }) => [{ id: stream, revision, by: version }],
  };
}

describe('a changed version of a read model', () => {
  let world: ReadModelsTestBed;
  let stops: (() => Promise<void>)[];
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await world.close();
  });

  /** A process of the current version. */
  function start(version: number) {
    const collections = new LazilyOpenedCollections(world.engine.documentStore);
    const generations = new Generations(collections);
    const checkpoints = new CheckpointPoller(collections, [model(version).name]);
    const parts = { collections, generations, graceMs: 100 };
    const active = new ActiveGenerationSelector(model(version), { ...parts, checkpoints, maxWaiters: 10 });
    const lifecycle = new ReadModelLifecycle(active, {
      ...world.createReadModelsOptions(),
      ...parts,
      metrics: new ProjectionMetrics(noMetrics),
      cachedRows: 100,
      projected: new ProgressOfProjectedPartitions(),
    });
    void lifecycle.startReadModelLifecycle();
    stops.push(() => lifecycle.stop());
    const by = async (n: number) =>
      (await (await active.openActiveGenerationRows()).get(world.writer.getShipmentStreamName(n)))?.by;
    return {
      lifecycle,
      generations,
      by,
      generation: () => generations.readGenerationsDocument(model(version)),
      rebuild: () => generations.startGeneration(model(version)),
    };
  }

  it('rebuilds its rows once, without a request', async () => {
    const before = start(1);
    await world.writer.createShipment(1);
    await waitUntilTrue(async () => (await before.by(1)) === 1);
    await before.lifecycle.stop();

    const after = start(2);
    await waitUntilTrue(async () => (await after.by(1)) === 2);
    await world.writer.createShipment(2);
    await waitUntilTrue(async () => (await after.by(2)) === 2);
    await waitUntilTrue(async () => (await after.generation()).retiring === null);
    expect(await after.generation()).toMatchObject({ active: 2, building: null, model_version: 2 });
    await after.lifecycle.stop();
    const again = start(2);
    await waitUntilTrue(async () => (await again.by(2)) === 2);
    expect(await again.generation()).toMatchObject({ active: 2, building: null });
  });

  it('is not touched by processes of the previous version that run beside it', async () => {
    const before = start(1);
    await world.writer.createShipment(1);
    await waitUntilTrue(async () => (await before.by(1)) === 1);
    // Pointer in the state that a process of the next version writes while it builds.
    expect(await before.generations.replaceOutdatedGeneration(model(2), await before.generation())).toBe(true);
    before.lifecycle.runReadModelLifecycleStep();
    for (let n = 2; n <= 20; n += 1) await world.writer.createShipment(n);
    await waitUntilTrue(async () => (await before.by(20)) === 1);

    const after = start(2);
    await waitUntilTrue(async () => (await after.by(20)) === 2);
    for (let n = 1; n <= 20; n += 1) expect(await after.by(n)).toBe(2);
    await waitUntilTrue(async () => (await before.by(20)) === 2);
  });

  it('is replaced by an earlier version after a rebuild', async () => {
    const after = start(2);
    await world.writer.createShipment(1);
    await waitUntilTrue(async () => (await after.by(1)) === 2);
    await after.lifecycle.stop();
    const before = start(1);
    await before.rebuild();
    await waitUntilTrue(async () => (await before.by(1)) === 1);
  });
});
