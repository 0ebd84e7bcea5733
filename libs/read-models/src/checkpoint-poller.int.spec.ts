import { eventually } from '@tracking/testing';
import { ReadModelsTestBed, waitUntilCaughtUp } from '../test/world.ts';
import { createFaultyDocumentStore } from '../test/faulty-store.ts';
import { CheckpointPoller } from './checkpoint-poller.ts';
import { LazilyOpenedCollections } from './read-model.ts';
import { READ_MODEL_NAMES } from './registry.ts';

describe('polling the checkpoints of other processes', () => {
  let world: ReadModelsTestBed;
  let reads: number;
  let poller: CheckpointPoller;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    reads = 0;
    const counted = createFaultyDocumentStore(world.engine.documentStore, (operation) => {
      if (operation === 'read') reads += 1;
      return 'works';
    });
    poller = new CheckpointPoller(new LazilyOpenedCollections(counted), READ_MODEL_NAMES);
    await poller.readCheckpointsOfReadModel('shipments');
  });
  afterEach(() => world.close());

  it('reads once for all read models that ask at the same time, and returns each its own checkpoints', async () => {
    const models = await world.startReadModels();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(models);
    await eventually(async () => {
      for (const name of READ_MODEL_NAMES)
        expect(await poller.readCheckpointsOfReadModel(name)).toMatchObject([{ subscriber: name, complete: true }]);
    });
    reads = 0;
    const found = await Promise.all(READ_MODEL_NAMES.map((name) => poller.readCheckpointsOfReadModel(name)));
    expect(found.map(([first]) => first?.subscriber)).toEqual(READ_MODEL_NAMES);
    expect(reads).toBe(1);
    await poller.readCheckpointsOfReadModel('shipments');
    expect(reads).toBe(2);
  });

  it('reads once for callers that began to wait at different times', async () => {
    // The longer interval: the read below ends within it on a busy machine too.
    const early = poller.waitForNextPoll(true);
    await poller.readCheckpointsOfReadModel('shipments');
    reads = 0;
    const look = async (moment: Promise<void>, name: string) => {
      await moment;
      return poller.readCheckpointsOfReadModel(name);
    };
    await Promise.all([look(early, 'shipments'), look(poller.waitForNextPoll(true), 'milestones')]);
    expect(reads).toBe(1);
  });
});
