import { setImmediate } from 'node:timers/promises';
import { BusyError, UnavailableError } from '@tracking/ports';
import type { CheckpointDocument } from '@tracking/subscriptions';
import { ProjectionProgress } from './projection-progress.ts';
import { getLastPositionsOfSlots } from './slots.ts';

/** Partitions of a layout with two partitions, and the single partition. */
const [A, B, ALL] = ['v1.shipment-a-p', 'v1.shipment-q-7', 'shipment-'] as const;
const NOW = 0;
const LONG = 5_000;

/** Stub of other processes in which only checkpoints change. */
const still = { refreshPointer: () => Promise.resolve(), waitForNextPoll: () => setImmediate() };

function local(
  partitions: readonly string[],
  generations: readonly number[] = [1],
  maxWaiters = 10,
): ProjectionProgress {
  const progress = new ProjectionProgress({ ...still, checkpoints: () => Promise.resolve([]) }, maxWaiters);
  for (const generation of generations)
    for (const each of partitions) progress.addLocalPartition(generation, each, undefined);
  return progress;
}

function checkpoint(generation: number, partition: string, position: string): CheckpointDocument {
  return {
    id: `${generation}${partition}`,
    subscriber: 'm',
    generation,
    partition,
    position,
    complete: true,
    epoch: 1,
  };
}

describe('the progress of a read model', () => {
  it('equals that of its slowest partition', async () => {
    const progress = local([A, B]);
    await progress.applyGenerationPointer(1, null);
    progress.recordHandledPosition(1, A, '0009');
    expect(progress.getHandledPosition()).toBeUndefined();
    progress.recordHandledPosition(1, B, '0005');
    expect(progress.getHandledPosition()).toBe('0005');
    expect(await progress.waitUntilPositionReached('0005', NOW)).toBe(true);
    expect(await progress.waitUntilPositionReached('0006', NOW)).toBe(false);
  });

  it('notifies each waiting read as soon as its position is reached', async () => {
    const progress = local([ALL]);
    await progress.applyGenerationPointer(1, null);
    const told: string[] = [];
    const waits = ['0003', '0001', '0002'].map((position) =>
      progress.waitUntilPositionReached(position, LONG).then((reached) => told.push(`${position} ${reached}`)),
    );
    progress.recordHandledPosition(1, ALL, '0002');
    await Promise.all([waits[1], waits[2]]);
    expect(told).toEqual(['0001 true', '0002 true']);
    progress.recordHandledPosition(1, ALL, '0003');
    await Promise.all(waits);
    expect(told).toHaveLength(3);
  });

  it('returns false after the timeout and on close', async () => {
    const progress = local([ALL]);
    await progress.applyGenerationPointer(1, null);
    const closed = progress.waitUntilPositionReached('0002', LONG);
    expect(await progress.waitUntilPositionReached('0001', 5)).toBe(false);
    progress.endReadsWaitingForProjection();
    expect(await closed).toBe(false);
  });

  describe('that a followed process reports', () => {
    let polls: number;
    let checkpoints: readonly CheckpointDocument[];
    let progress: ProjectionProgress;
    beforeEach(async () => {
      polls = 0;
      checkpoints = [];
      const stored = () => {
        polls += 1;
        return Promise.resolve(checkpoints);
      };
      // Polls are due only while no process reports.
      const waitForNextPoll = (isReported: boolean) =>
        isReported ? new Promise<void>(() => undefined) : setImmediate();
      progress = new ProjectionProgress({ ...still, waitForNextPoll, checkpoints: stored }, 10);
      await progress.applyGenerationPointer(1, null);
      for (const partition of [A, B]) {
        progress.recordHandledPosition(1, partition, '0001');
        progress.addPartitionOfFollowedProcess(1, partition);
      }
      progress.recordFullReportOfFollowedProcess();
    });

    it('ends the wait of a read without any poll', async () => {
      const wait = progress.waitUntilPositionReached('0002', LONG);
      progress.recordHandledPosition(1, A, '0002');
      progress.recordHandledPosition(1, B, '0003');
      expect(await wait).toBe(true);
      expect(await progress.waitUntilPositionReached('0003', NOW)).toBe(false);
      expect(await progress.readCurrentHandledPosition()).toBe('0002');
      expect(polls).toBe(0);
    });

    it('is polled again when the process can no longer be reached', async () => {
      progress.recordEndOfRemotePartitionProjection(1, B);
      const wait = progress.waitUntilPositionReached('0002', LONG);
      checkpoints = [checkpoint(1, A, '0002'), checkpoint(1, B, '0002')];
      expect(await wait).toBe(true);
      expect(polls).toBeGreaterThan(0);
    });

    it('is taken over from the end of its process until another process reports it', () => {
      expect(progress.isTakenOver).toBe(false);
      progress.recordEndOfRemotePartitionProjection(1, B);
      expect(progress.isTakenOver).toBe(true);
      progress.addPartitionOfFollowedProcess(1, B);
      expect(progress.isTakenOver).toBe(false);
    });

    it('is taken over if the reports began before the pointer was read', async () => {
      const starting = new ProjectionProgress({ ...still, checkpoints: () => Promise.resolve([]) }, 10);
      starting.addPartitionOfFollowedProcess(1, ALL);
      starting.recordFullReportOfFollowedProcess();
      await starting.applyGenerationPointer(1, null);
      expect(starting.isTakenOver).toBe(false);
      starting.recordEndOfRemotePartitionProjection(1, ALL);
      expect(starting.isTakenOver).toBe(true);
    });

    it('is not taken over before a process reported its partitions, and not by a rebuild', async () => {
      const starting = new ProjectionProgress({ ...still, checkpoints: () => Promise.resolve([]) }, 10);
      await starting.applyGenerationPointer(1, null);
      starting.addPartitionOfFollowedProcess(1, A);
      starting.recordEndOfRemotePartitionProjection(1, A);
      expect(starting.isTakenOver).toBe(false);
      await progress.applyGenerationPointer(2, 1);
      expect(progress.isTakenOver).toBe(false);
    });

    it('is not polled while another process reports the partition', async () => {
      progress.addPartitionOfFollowedProcess(1, B);
      progress.recordEndOfRemotePartitionProjection(1, B);
      expect(await progress.waitUntilPositionReached('0002', NOW)).toBe(false);
      expect(polls).toBe(0);
    });

    it('is polled during a rebuild whose partitions nobody reports', async () => {
      await progress.applyGenerationPointer(2, 1);
      polls = 0;
      expect(await progress.waitUntilPositionReached('0002', NOW)).toBe(false);
      expect(polls).toBe(1);
    });
  });

  it('refuses reads beyond the maximum number of waiters', async () => {
    const progress = local([ALL], [1], 2);
    await progress.applyGenerationPointer(1, null);
    const waits = [progress.waitUntilPositionReached('0001', LONG), progress.waitUntilPositionReached('0001', LONG)];
    await expect(progress.waitUntilPositionReached('0001', LONG)).rejects.toThrow(BusyError);
    progress.recordHandledPosition(1, ALL, '0001');
    expect(await Promise.all(waits)).toEqual([true, true]);
    expect(await progress.waitUntilPositionReached('0001', LONG)).toBe(true);
  });

  it('switches to the next generation only if it is as far as the queried one', async () => {
    const progress = local([A, B], [1, 2]);
    await progress.applyGenerationPointer(1, null);
    for (const each of [A, B]) progress.recordHandledPosition(1, each, '0009');
    progress.recordHandledPosition(2, A, '0009');
    progress.recordHandledPosition(2, B, '0008');

    await progress.applyGenerationPointer(2, 1);
    expect(progress.generation).toBe(1);
    // Reads use the old generation, which advances meanwhile.
    for (const each of [A, B]) progress.recordHandledPosition(1, each, '0010');
    expect(await progress.waitUntilPositionReached('0010', NOW)).toBe(true);
    const waiting = progress.waitUntilPositionReached('0011', LONG);

    progress.recordHandledPosition(2, B, '0009');
    expect(progress.generation).toBe(1);
    for (const each of [A, B]) progress.recordHandledPosition(2, each, '0010');
    expect(progress.generation).toBe(2);
    expect(progress.getHandledPosition()).toBe('0010');
    for (const each of [A, B]) progress.recordHandledPosition(2, each, '0011');
    expect(await waiting).toBe(true);
  });

  it('does not switch while rows of the queried generation are readable before their position is reported', async () => {
    const progress = local([ALL], [1, 2]);
    await progress.applyGenerationPointer(1, null);
    progress.recordHandledPosition(1, ALL, '0008');
    progress.recordHandledPosition(2, ALL, '0008');
    progress.recordPositionOfRowsBeingWritten(1, ALL, '0009');

    await progress.applyGenerationPointer(2, 1);
    expect(progress.generation).toBe(1);
    progress.recordHandledPosition(1, ALL, '0009');
    expect(progress.generation).toBe(1);
    progress.recordHandledPosition(2, ALL, '0009');
    expect(progress.generation).toBe(2);
  });

  it('ignores an outdated pointer', async () => {
    const progress = local([ALL], [1, 2]);
    await progress.applyGenerationPointer(2, 1);
    await progress.applyGenerationPointer(1, null);
    expect(progress.generation).toBe(2);
  });

  it('switches immediately if the queried generation is deleted', async () => {
    const progress = local([ALL], [1, 2]);
    await progress.applyGenerationPointer(1, null);
    progress.recordHandledPosition(1, ALL, '0009');
    await progress.applyGenerationPointer(2, null);
    expect(progress.generation).toBe(2);
  });

  it('of some slots is awaited without the others', async () => {
    const progress = local([A, B]);
    await progress.applyGenerationPointer(1, null);
    const [inA, inB] = ['shipment-a1', 'shipment-71'].map((stream) =>
      getLastPositionsOfSlots([{ stream, position: '0002' }]),
    );
    const waits = [progress.waitUntilPositionReached(inA!, LONG), progress.waitUntilPositionReached(inB!, LONG)];
    progress.recordHandledPosition(1, A, '0002');
    expect(await waits[0]).toBe(true);
    expect(await progress.waitUntilPositionReached(inA!, NOW)).toBe(true);
    expect(await progress.waitUntilPositionReached(inB!, NOW)).toBe(false);
    expect(await progress.waitUntilPositionReached('0002', NOW)).toBe(false);
    progress.recordHandledPosition(1, B, '0002');
    expect(await waits[1]).toBe(true);
  });

  it('remains when other partitions replace those that handled the events', async () => {
    const progress = local([A, B]);
    await progress.applyGenerationPointer(1, null);
    progress.recordHandledPosition(1, A, '0005');
    progress.recordHandledPosition(1, B, '0004');
    for (const partition of [A, B]) progress.removeLocalPartitionProgress(1, partition);
    const waiting = progress.waitUntilPositionReached('0006', LONG);
    // The new partition continues at the earliest position.
    progress.addLocalPartition(1, ALL, '0004');
    expect(await progress.waitUntilPositionReached('0004', NOW)).toBe(true);
    expect(await progress.waitUntilPositionReached('0005', NOW)).toBe(false);
    progress.recordHandledPosition(1, ALL, '0005');
    expect(progress.getHandledPosition()).toBe('0005');
    for (const four of ['v3.shipment-a-h', 'v3.shipment-i-p', 'v3.shipment-q-x', 'v3.shipment-y-7']) {
      expect(progress.getHandledPosition()).toBe('0005');
      progress.recordHandledPosition(1, four, '0006');
    }
    expect(await waiting).toBe(true);
  });

  it('switches to a generation with other partitions only when all slots are as far', async () => {
    const progress = local([A, B], [1]);
    progress.addLocalPartition(2, ALL, undefined);
    await progress.applyGenerationPointer(1, null);
    progress.recordHandledPosition(1, A, '0009');
    progress.recordHandledPosition(1, B, '0007');
    await progress.applyGenerationPointer(2, 1);
    progress.recordHandledPosition(2, ALL, '0007');
    expect(progress.generation).toBe(1);
    progress.recordHandledPosition(2, 'v1.shipment-a-p', '0009');
    expect(progress.generation).toBe(2);
    expect(progress.getHandledPosition()).toBe('0007');
  });

  describe('progress of runners in other processes', () => {
    it('is read from their checkpoints while a read waits', async () => {
      let position = '0001';
      let looks = 0;
      const checkpoints = () => {
        looks += 1;
        return Promise.resolve([checkpoint(1, ALL, position), checkpoint(1, 'unknown', '0000')]);
      };
      const progress = new ProjectionProgress({ ...still, checkpoints }, 10);
      await progress.applyGenerationPointer(1, null);
      expect(await progress.waitUntilPositionReached('0001', NOW)).toBe(true);
      const waiting = progress.waitUntilPositionReached('0002', LONG);
      position = '0002';
      expect(await waiting).toBe(true);
      const before = looks;
      expect(await progress.waitUntilPositionReached('0002', NOW)).toBe(true);
      expect(looks).toBe(before);
    });

    it('of the queried generation counts before the switch, whatever the order of the checkpoints', async () => {
      const stored = [checkpoint(2, ALL, '0008'), checkpoint(1, ALL, '0009')];
      const progress = new ProjectionProgress({ ...still, checkpoints: () => Promise.resolve(stored) }, 10);
      await progress.applyGenerationPointer(1, null);
      await progress.applyGenerationPointer(2, 1);
      expect(progress.generation).toBe(1);
      stored.push(checkpoint(2, ALL, '0009'));
      await progress.applyGenerationPointer(2, 1);
      expect(progress.generation).toBe(2);
    });

    it('rejects waiting reads when the store is unavailable, because they need it too', async () => {
      let isAway = false;
      const checkpoints = () =>
        isAway
          ? Promise.reject(new UnavailableError('document store', 'away'))
          : Promise.resolve([checkpoint(1, ALL, '0001')]);
      const progress = new ProjectionProgress({ ...still, checkpoints }, 10);
      await progress.applyGenerationPointer(1, null);
      const waiting = [
        progress.waitUntilPositionReached('0002', LONG),
        progress.waitUntilPositionReached('0003', LONG),
      ];
      isAway = true;
      for (const read of waiting) await expect(read).rejects.toThrow(UnavailableError);
      isAway = false;
      expect(await progress.waitUntilPositionReached('0001', LONG)).toBe(true);
    });

    it('survives a store that does not respond', async () => {
      let failures = 2;
      const checkpoints = () =>
        failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve([checkpoint(1, ALL, '0001')]);
      const progress = new ProjectionProgress({ ...still, checkpoints }, 10);
      await progress.applyGenerationPointer(1, null);
      expect(await progress.waitUntilPositionReached('0001', LONG)).toBe(true);
    });
  });
});
