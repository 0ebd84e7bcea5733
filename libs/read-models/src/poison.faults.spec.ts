import { ParkedStreams, PartitionCountManager } from '@tracking/subscriptions';
import { type LogLine, noMetrics, createRecordingLogger } from '@tracking/testing';
import { createNthTestShipmentToken, ShipmentEventWriter } from '../test/shipment-events.ts';
import { waitUntilTrue, ReadModelsTestBed } from '../test/world.ts';
import { ActiveGenerationSelector } from './active-rows.ts';
import { ProjectionMetrics } from './batch-projector.ts';
import { Generations } from './generations.ts';
import { ReadModelLifecycle, type ProjectionPartitionSettings } from './lifecycle.ts';
import { ProgressOfProjectedPartitions } from './projected-partitions.ts';
import { CheckpointPoller } from './checkpoint-poller.ts';
import { LazilyOpenedCollections, type ReadModel, type ReadModelRow } from './read-model.ts';
import { READ_MODEL_NAMES } from './registry.ts';

interface Seen extends ReadModelRow {
  /** Revisions seen, in order. */
  readonly revisions: readonly number[];
}

/** Read model that records revisions and, like faulty code, fails on events of some streams from a revision on. */
function seenModel(faults: ReadonlyMap<string, number>): ReadModel<Seen> {
  return {
    name: 'seen',
    version: 1,
    indexes: [],
    scoped: false,
    listRowIdsNeededToProjectEvent: ({ stream }) => [stream],
    applyEventToRows({ stream, event: { revision } }, row) {
      const before = row(stream);
      if (before && before.revision >= revision) return [];
      if (revision >= (faults.get(stream) ?? Infinity)) throw new TypeError('a fault');
      return [{ id: stream, revision, revisions: [...(before?.revisions ?? []), revision] }];
    },
  };
}

describe('an event that cannot be applied', () => {
  let world: ReadModelsTestBed;
  let faults: Map<string, number>;
  let lines: LogLine[];
  let stops: (() => Promise<void>)[];
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    faults = new Map();
    lines = [];
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await world.close();
  });

  function start(partitions?: ProjectionPartitionSettings) {
    const collections = new LazilyOpenedCollections(world.engine.documentStore);
    const generations = new Generations(collections);
    const checkpoints = new CheckpointPoller(collections, [seenModel(faults).name]);
    const parts = { collections, generations, graceMs: 100 };
    const active = new ActiveGenerationSelector(seenModel(faults), { ...parts, checkpoints, maxWaiters: 10 });
    const lifecycle = new ReadModelLifecycle(active, {
      ...world.createReadModelsOptions(),
      ...(partitions && { partitions }),
      ...parts,
      leases: world.createLeasesOfNextProcess(),
      logger: createRecordingLogger(lines),
      metrics: new ProjectionMetrics(noMetrics),
      cachedRows: 100,
      projected: new ProgressOfProjectedPartitions(),
    });
    void lifecycle.startReadModelLifecycle();
    stops.push(() => lifecycle.stop());
    const parked = new ParkedStreams(world.engine.documentStore, () => lifecycle.retryRequestedParkedStreams());
    const revisions = async (n: number) =>
      (await (await active.openActiveGenerationRows()).get(world.writer.getShipmentStreamName(n)))?.revisions;
    const shown = (position: string) => active.progress.waitUntilPositionReached(position, 5_000);
    return { lifecycle, parked, revisions, shown };
  }

  const changes = (n: number) => world.writer.writeShipmentChangedEvent(n, { house_bill: 'HB' });

  it('parks the stream, keeps its earlier rows, and continues with all other streams', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 1);
    const { parked, revisions, shown } = start();
    for (const n of [1, 2]) await world.writer.createShipment(n);
    for (const n of [1, 2]) await changes(n);
    for (const n of [1, 2]) await changes(n);
    await shown(await world.writer.createShipment(3));
    expect([await revisions(1), await revisions(2), await revisions(3)]).toEqual([[0], [0, 1, 2], [0]]);
    expect(await parked.listParkedStreams()).toEqual([
      expect.objectContaining({
        subscriber: 'seen',
        generation: 1,
        stream: world.writer.getShipmentStreamName(1),
        revision: 1,
        event_type: 'shipment.changed.v1',
        error: 'TypeError: a fault',
        attempts: 1,
      }),
    ]);
    expect(await parked.countParkedStreamsOfGeneration('seen', 1)).toBe(1);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        fields: expect.objectContaining({
          stream: world.writer.getShipmentStreamName(1),
          revision: 1,
          error: 'TypeError: a fault',
          request_id: expect.stringMatching(/^req_/),
          trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        }),
        message: 'a stream was parked after an event failed; fix the cause and retry the stream',
      },
    ]);
  });

  it('is isolated within one append and one batch', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 2);
    await world.writer.createShipment(1);
    const body = { type: 'shipment.changed.v1', data: { changes: {} } };
    await world.writer.appendEventsWithBodies(1, body, body, body);
    const { revisions, parked, shown } = start();
    await shown(await world.writer.createShipment(2));
    expect(await revisions(1)).toEqual([0, 1]);
    expect(await parked.listParkedStreams()).toMatchObject([{ revision: 2 }]);
  });

  it('is retried on request, with all events that waited behind it', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 1);
    const { parked, revisions, shown } = start();
    await world.writer.createShipment(1);
    for (let times = 0; times < 5; times += 1) await changes(1);
    await shown(await world.writer.createShipment(2));
    const [document] = await parked.listParkedStreams();
    expect(await parked.retry(document?.id ?? '')).toBe('parked');
    expect(await parked.listParkedStreams()).toMatchObject([{ attempts: 2, retry: false }]);

    faults.clear();
    expect(await parked.retry(document?.id ?? '')).toBe('applied');
    expect(await revisions(1)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await parked.listParkedStreams()).toEqual([]);
    await shown(await changes(1));
    expect(await revisions(1)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(await parked.retry(document?.id ?? '')).toBe('not_found');
  });

  it('does not lose or repeat new events that arrive during the retry', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 1);
    const { parked, revisions, shown } = start();
    await world.writer.createShipment(1);
    await shown(await changes(1));
    const [document] = await parked.listParkedStreams();
    const writing = (async () => {
      for (let times = 0; times < 200; times += 1) await changes(1);
      return changes(1);
    })();
    faults.clear();
    expect(await parked.retry(document?.id ?? '')).toBe('applied');
    await shown(await writing);
    expect(await revisions(1)).toEqual(Array.from({ length: 203 }, (_, revision) => revision));
  });

  it('stays parked across a restart and is then retried, because the code may have changed', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 1);
    const first = start();
    await world.writer.createShipment(1);
    await first.shown(await changes(1));
    await first.lifecycle.stop();

    const second = start();
    await waitUntilTrue(async () => (await second.parked.listParkedStreams())[0]?.attempts === 2);
    await second.shown(await changes(1));
    expect(await second.revisions(1)).toEqual([0]);
    await second.lifecycle.stop();

    faults.clear();
    const third = start();
    await waitUntilTrue(async () => (await third.parked.listParkedStreams()).length === 0);
    expect(await third.revisions(1)).toEqual([0, 1, 2]);
  });

  it('stays parked while the partitions change, and is then retried with all events that waited behind it', async () => {
    const partitions = { count: 4, pollMs: 20 };
    const counts = new PartitionCountManager(world.engine.documentStore, ['seen']);
    const names = [1, 2].map((n) => world.writer.getShipmentStreamName(n));
    for (const name of names) faults.set(name, 1);
    const former = start();
    for (const n of [1, 2]) await world.writer.createShipment(n);
    for (const n of [1, 2]) await former.shown(await changes(n));
    await former.lifecycle.stop();

    const { parked, revisions, shown } = start(partitions);
    const expectPartitions = async (expected: readonly string[]) => {
      await waitUntilTrue(async () => {
        const documents = await parked.listParkedStreams();
        return expected.every((key) => documents.some(({ partition }) => partition === key));
      });
      expect(await parked.listParkedStreams()).toHaveLength(2);
    };
    await expectPartitions(['v1.shipment-a-h']);
    await counts.requestPartitionCountChange('seen', 32);
    await expectPartitions(['v2.shipment-b', 'v2.shipment-c']);
    for (const n of [1, 2]) await shown(await changes(n));
    expect([await revisions(1), await revisions(2)]).toEqual([[0], [0]]);

    faults.clear();
    for (const { id } of await parked.listParkedStreams())
      expect(['applied', 'not_found']).toContain(await parked.retry(id));
    for (const n of [1, 2]) await shown(await changes(n));
    expect([await revisions(1), await revisions(2)]).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2, 3],
    ]);
    expect(await parked.listParkedStreams()).toEqual([]);
  });

  it('parks the stream if no version of this code knows the event', async () => {
    const models = await world.startReadModels();
    await world.writer.createShipment(1);
    await world.writer.appendEventsWithBodies(1, { type: 'shipment.teleported.v1', data: { secret: 'do not tell' } });
    const position = await world.writer.createShipment(2);
    expect(await models.waitForAllReadModels(position, 5_000)).toBe(true);
    const parked = await models.listParkedShipments();
    expect(parked.map(({ id, error }) => [id, error])).toEqual(
      [...READ_MODEL_NAMES]
        .sort()
        .map((name) => [
          `${name}.1.shipment-${createNthTestShipmentToken(1)}`,
          'UnknownEventType: unknown type of shipment event: shipment.teleported.v1',
        ]),
    );
    expect(JSON.stringify(parked)).not.toContain('do not tell');
    expect((await models.listReadModelStates()).map((each) => each.parked)).toEqual(READ_MODEL_NAMES.map(() => 1));
    expect(await models.retryParkedStream(parked[0]?.id ?? '')).toBe('parked');
    expect(await models.retryParkedStream('nothing')).toBe('not_found');
  });

  it('is forgotten with its generation', async () => {
    faults.set(world.writer.getShipmentStreamName(1), 0);
    const { parked, shown } = start();
    await shown(await new ShipmentEventWriter(world.engine.eventStore).createShipment(1));
    expect(await parked.listParkedStreams()).toHaveLength(1);
    faults.clear();
    const collections = new LazilyOpenedCollections(world.engine.documentStore);
    await new Generations(collections).startGeneration(seenModel(faults));
    await waitUntilTrue(async () => (await parked.listParkedStreams()).length === 0);
  });
});
