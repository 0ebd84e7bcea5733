import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { waitForAbort } from '@tracking/resilience';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import { createFaultyDocumentStore } from '../test/faulty-store.ts';
import { ReadModelsTestBed, waitUntilCaughtUp } from '../test/world.ts';
import { CheckpointPoller } from './checkpoint-poller.ts';
import {
  followProjections,
  type PartitionProgress,
  ProgressOfProjectedPartitions,
  type ProjectionProgressMessage,
  type ProjectionOperations,
} from './projected-partitions.ts';
import { READ_MODEL_NAMES } from './registry.ts';

const LONG_MS = 30_000;

describe('a process that follows the projections of another', () => {
  let world: ReadModelsTestBed;
  const ending = new AbortController();
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    ending.abort();
    await world.close();
  });

  it('waits for its read models without reading their checkpoints, also during a rebuild', async () => {
    const projecting = await world.startReadModels();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(projecting);
    let reads = 0;
    const documentStore = createFaultyDocumentStore(world.engine.documentStore, (operation, collection) => {
      if (operation === 'read' && collection === 'subscription_checkpoints') reads += 1;
      return 'works';
    });
    const querying = await world.startReadModels({ documentStore, project: false });
    await querying.ready;
    void querying.followProjections(projecting.operations, ending.signal);
    await eventually(async () => {
      const position = await querying.progress.place('shipments');
      reads = 0;
      expect(await querying.progress.place('shipments')).toBe(position);
      expect(reads).toBe(0);
    });
    // Reads that wait also poll the checkpoints once a second, in case a report is lost. Slow machines take that long.
    const pollDue = Promise.withResolvers<void>();
    const waitForNextPoll = jest.spyOn(CheckpointPoller.prototype, 'waitForNextPoll');
    waitForNextPoll.mockReturnValue(pollDue.promise);
    for (let n = 2; n < 12; n += 1) {
      await world.writer.createShipment(n);
      const position = await world.engine.eventStore.head();
      expect(await querying.waitForAllReadModels(position!, LONG_MS)).toBe(true);
    }
    expect(reads).toBe(0);
    waitForNextPoll.mockRestore();
    pollDue.resolve();
    const { generation } = await projecting.rebuild('shipments');
    await eventually(async () => {
      const states = await querying.listReadModelStates();
      expect(states.find(({ name }) => name === 'shipments')).toMatchObject({ generation });
    });
    await world.writer.createShipment(12);
    expect(await querying.waitForAllReadModels((await world.engine.eventStore.head())!, LONG_MS)).toBe(true);
  });
});

describe('the age of rows during a takeover', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(() => world.close());

  it('is that of the first event that the rows lack, until another process projects them', async () => {
    const projecting = await world.startReadModels();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(projecting);
    let now = Date.parse('2026-01-01T00:00:00Z');
    const asked: (string | null)[] = [];
    let missing: readonly string[] = [];
    const querying = await world.startReadModels({
      project: false,
      clock: () => new Date(now),
      findTimeAfter: (position: string | null) => {
        asked.push(position);
        return Promise.resolve(missing[0]);
      },
    });
    await querying.ready;
    const age = () => querying.progress.findTakeoverAge('shipments');
    const isFollowed = () =>
      eventually(async () => {
        expect(await querying.progress.reached('shipments', (await world.engine.eventStore.head())!, 0)).toBe(true);
        expect(await age()).toBeUndefined();
      });
    expect(await age()).toBeUndefined();
    const connection = new AbortController();
    const following = querying.followProjections(projecting.operations, connection.signal);
    await isFollowed();
    connection.abort();
    await following;
    expect(await age()).toBe(0);
    now += 10_000;
    missing = ['2026-01-01T00:00:07Z'];
    expect(await Promise.all([age(), age()])).toEqual([3_000, 3_000]);
    now += 200;
    expect(await age()).toBe(3_200);
    expect(asked).toEqual(Array(2).fill(await world.engine.eventStore.head()));
    const again = new AbortController();
    void querying.followProjections(projecting.operations, again.signal);
    await isFollowed();
    again.abort();
  });

  it('is reported while one partition of a read model moves, and only for this read model', async () => {
    const partitions = { count: 4, pollMs: 20 };
    const projecting = await world.startReadModels({ partitions });
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(projecting);
    const querying = await world.startReadModels({
      project: false,
      clock: () => new Date('2026-01-01T00:00:10Z'),
      findTimeAfter: () => Promise.resolve('2026-01-01T00:00:07Z'),
    });
    await querying.ready;
    /** Follows the partitions of the process as if another process projected the rest. */
    const follow = (isFollowed: (partition: PartitionProgress) => boolean, signal: AbortSignal) =>
      querying.followProjections(
        {
          progress: {
            follow: (request, onMessage, ends) =>
              projecting.operations.progress.follow(
                request,
                ({ partitions: all, ...rest }) => onMessage({ ...rest, partitions: all.filter(isFollowed) }),
                ends,
              ),
          },
        },
        signal,
      );
    const isMoving = ({ read_model, partition }: PartitionProgress) =>
      read_model === 'shipments' && partition.endsWith('.shipment-q-x');
    const [staying, moving, taking] = [new AbortController(), new AbortController(), new AbortController()];
    const names = ['shipments', 'milestones'] as const;
    const ages = () => Promise.all(names.map((name) => querying.progress.findTakeoverAge(name)));
    const isReported = () =>
      eventually(async () => {
        const position = await world.writer.createShipment((created += 1));
        expect(await querying.waitForAllReadModels(position, LONG_MS)).toBe(true);
        expect(await ages()).toEqual([undefined, undefined]);
      });
    let created = 1;
    const followings = [follow((each) => !isMoving(each), staying.signal)];
    const ending = follow(isMoving, moving.signal);
    await isReported();
    moving.abort();
    await ending;
    expect(await ages()).toEqual([3_000, undefined]);
    followings.push(follow(isMoving, taking.signal));
    await isReported();
    for (const controller of [staying, taking]) controller.abort();
    await Promise.all(followings);
  });
});

describe('a process that starts during a takeover', () => {
  let world: ReadModelsTestBed;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
  });
  afterEach(() => world.close());

  it('knows the age of rows as soon as another process has reported its partitions', async () => {
    const ended = await world.startReadModels();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(ended);
    await ended.stop();
    const options = { project: false, clock: () => new Date(0), findTimeAfter: () => Promise.resolve(undefined) };
    const querying = await world.startReadModels(options);
    await querying.ready;
    expect(await querying.progress.findTakeoverAge('shipments')).toBeUndefined();
    const follow: ProjectionOperations['progress']['follow'] = async (_request, onMessage, signal) => {
      await onMessage({ partitions: [] });
      await waitForAbort(signal);
    };
    const ending = new AbortController();
    const following = querying.followProjections({ progress: { follow } }, ending.signal);
    await eventually(async () => expect(await querying.progress.findTakeoverAge('shipments')).toBe(0));
    ending.abort();
    await following;
  });
});

describe('messages about projected partitions', () => {
  const progress = (partition: string, position: string | null, held = true) => ({
    ...{ read_model: READ_MODEL_NAMES[0]!, generation: 1, partition, position, held },
  });

  it('contain all held partitions first, and then the latest state of each changed partition', async () => {
    const projected = new ProgressOfProjectedPartitions();
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0001'));
    projected.updatePartitionProgressAndNotifyFollowers(progress('b', '0001'));
    projected.updatePartitionProgressAndNotifyFollowers(progress('b', null, false));
    const messages: ProjectionProgressMessage[] = [];
    const ending = new AbortController();
    const following = projected.follow((message) => void messages.push(message), ending.signal);
    expect(messages).toEqual([{ partitions: [progress('a', '0001')] }]);
    for (const position of ['0002', '0003', '0004'])
      projected.updatePartitionProgressAndNotifyFollowers(progress('a', position));
    projected.updatePartitionProgressAndNotifyFollowers(progress('c', null));
    await setImmediate();
    expect(messages.slice(1)).toEqual([{ partitions: [progress('a', '0004'), progress('c', null)] }]);
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0005'));
    projected.updatePartitionProgressAndNotifyFollowers(progress('c', null, false));
    await eventually(() =>
      expect(messages.slice(2)).toEqual([
        {
          partitions: [progress('a', '0005'), progress('c', null, false)],
          generations: [{ read_model: READ_MODEL_NAMES[0], generation: 1, position: '0005' }],
        },
      ]),
    );
    ending.abort();
    await following;
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0006'));
    await setImmediate();
    expect(messages).toHaveLength(3);
  });

  it('wait for partitions that handle events, but not for long', async () => {
    const projected = new ProgressOfProjectedPartitions();
    const messages: ProjectionProgressMessage[] = [];
    const ending = new AbortController();
    const following = projected.follow((message) => void messages.push(message), ending.signal);
    const listReported = () =>
      messages.map(({ partitions }) => partitions.map(({ partition, position }) => `${partition} ${position}`));
    projected.recordStartOfEventHandling(progress('a', null));
    projected.recordStartOfEventHandling(progress('b', null));
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0001'));
    await setImmediate();
    expect(listReported()).toEqual([[]]);
    projected.updatePartitionProgressAndNotifyFollowers(progress('b', '0001'));
    await setImmediate();
    expect(listReported()).toEqual([[], ['a 0001', 'b 0001']]);
    projected.recordStartOfEventHandling(progress('b', null));
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0002'));
    await eventually(() => expect(listReported().slice(2)).toEqual([['a 0002']]));
    ending.abort();
    await following;
  });

  it('contain one position for all partitions of a generation that only passed events of others', async () => {
    const projected = new ProgressOfProjectedPartitions();
    const [a, b, c] = ['v1.shipment-a-h', 'v1.shipment-i-p', 'v1.shipment-q-7'] as const;
    for (const partition of [a, b, c]) projected.updatePartitionProgressAndNotifyFollowers(progress(partition, '0001'));
    const messages: ProjectionProgressMessage[] = [];
    const ending = new AbortController();
    const following = projected.follow((message) => void messages.push(message), ending.signal);
    // Partition a has not handled its event of position 2 yet.
    for (const partition of [b, c]) projected.recordProgressPastOtherPartitionsEvents(progress(partition, '0002'));
    await eventually(() => expect(messages).toHaveLength(2));
    const { read_model, generation } = progress(a, null);
    expect(messages[1]).toEqual({ partitions: [], generations: [{ read_model, generation, position: '0001' }] });
    // No further event follows.
    projected.updatePartitionProgressAndNotifyFollowers(progress(a, '0002'));
    await eventually(() =>
      expect(messages.at(-1)?.generations).toEqual([{ read_model, generation, position: '0002' }]),
    );
    ending.abort();
    await following;

    const reached = new Map<string, string>();
    const reported = {
      addPartitionOfFollowedProcess: () => undefined,
      recordEndOfRemotePartitionProjection: () => undefined,
      recordHandledPosition: (_: number, partition: string, position: string) => void reached.set(partition, position),
      recordFullReportOfFollowedProcess: () => undefined,
    };
    const operations: ProjectionOperations = {
      progress: {
        follow: (_request, onMessage) => {
          for (const message of messages) void onMessage(message);
          return new Promise(() => undefined);
        },
      },
    };
    void followProjections(operations, new Map([[read_model, reported]]), new AbortController().signal);
    expect([...reached]).toEqual([a, b, c].map((partition) => [partition, '0002']));
  });

  it('name the single partition, because earlier releases follow it', async () => {
    const projected = new ProgressOfProjectedPartitions();
    projected.updatePartitionProgressAndNotifyFollowers(progress('shipment-', '0001'));
    const messages: ProjectionProgressMessage[] = [];
    const ending = new AbortController();
    const following = projected.follow((message) => void messages.push(message), ending.signal);
    projected.recordProgressPastOtherPartitionsEvents(progress('shipment-', '0002'));
    await eventually(() => expect(messages.slice(1)).toEqual([{ partitions: [progress('shipment-', '0002')] }]));
    ending.abort();
    await following;
  });

  it('become fewer while the follower cannot take more, without losing the latest state', async () => {
    const projected = new ProgressOfProjectedPartitions();
    const messages: ProjectionProgressMessage[] = [];
    const { promise: ready, resolve: continueReading } = Promise.withResolvers<void>();
    const ending = new AbortController();
    const take = (message: ProjectionProgressMessage) => {
      messages.push(message);
      return ready;
    };
    const following = projected.follow(take, ending.signal);
    projected.updatePartitionProgressAndNotifyFollowers(progress('a', '0001'));
    await eventually(() => expect(messages).toHaveLength(2));
    for (let round = 0; round < 50; round += 1) {
      projected.updatePartitionProgressAndNotifyFollowers(progress('a', String(1_000 + round)));
      await waitForSimulatedDelay(1);
    }
    expect(messages).toHaveLength(2);
    continueReading();
    await eventually(() => expect(messages.slice(2)).toEqual([{ partitions: [progress('a', '1049')] }]));
    ending.abort();
    await following;
  });

  it('count while the process can be reached, and again after a new connection', async () => {
    const events: string[] = [];
    const lost = Promise.withResolvers<void>();
    const again = Promise.withResolvers<void>();
    let connections = 0;
    const operations: ProjectionOperations = {
      progress: {
        follow(_request, onMessage) {
          connections += 1;
          void onMessage({ partitions: [progress('a', '0001'), { ...progress('a', '0001'), read_model: 'unknown' }] });
          if (connections === 1) return lost.promise;
          void onMessage({ partitions: [progress('a', '0002')] });
          void onMessage({ partitions: [progress('a', null, false)] });
          again.resolve();
          return new Promise(() => undefined);
        },
      },
    };
    const reported = {
      addPartitionOfFollowedProcess: (_: number, partition: string) => void events.push(`add ${partition}`),
      recordEndOfRemotePartitionProjection: (_: number, partition: string) => void events.push(`remove ${partition}`),
      recordHandledPosition: (_: number, _partition: string, position: string) => void events.push(position),
      recordFullReportOfFollowedProcess: () => void events.push('complete'),
    };
    const progressByName = new Map([[READ_MODEL_NAMES[0] as string, reported]]);
    void followProjections(operations, progressByName, new AbortController().signal);
    expect(events).toEqual(['0001', 'add a', 'complete']);
    lost.reject(new Error('the connection is lost'));
    await again.promise;
    expect(events.slice(3)).toEqual(['remove a', '0001', 'add a', 'complete', '0002', 'remove a']);
  });
});
