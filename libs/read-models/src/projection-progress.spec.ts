import { setImmediate } from 'node:timers/promises';
import { Busy } from '@tracking/ports';
import type { CheckpointDocument } from '@tracking/subscriptions';
import { ProjectionProgress } from './projection-progress.ts';

const NOW = 0;
const LONG = 5_000;

/** Stub of other processes in which only checkpoints change. */
const still = { refreshPointer: () => Promise.resolve(), waitForNextPoll: () => setImmediate() };

function local(
  partitions: readonly string[],
  generations: readonly number[] = [1],
  maxWaiters = 10,
): ProjectionProgress {
  const progress = new ProjectionProgress(partitions, { ...still, checkpoints: () => Promise.resolve([]) }, maxWaiters);
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
    const progress = local(['a', 'b']);
    await progress.setPointer(1, null);
    progress.recordHandledPosition(1, 'a', '0009');
    expect(progress.handledPosition()).toBeUndefined();
    progress.recordHandledPosition(1, 'b', '0005');
    expect(progress.handledPosition()).toBe('0005');
    expect(await progress.reached('0005', NOW)).toBe(true);
    expect(await progress.reached('0006', NOW)).toBe(false);
  });

  it('notifies each waiting read as soon as its position is reached', async () => {
    const progress = local(['a']);
    await progress.setPointer(1, null);
    const told: string[] = [];
    const waits = ['0003', '0001', '0002'].map((position) =>
      progress.reached(position, LONG).then((reached) => told.push(`${position} ${reached}`)),
    );
    progress.recordHandledPosition(1, 'a', '0002');
    await Promise.all([waits[1], waits[2]]);
    expect(told).toEqual(['0001 true', '0002 true']);
    progress.recordHandledPosition(1, 'a', '0003');
    await Promise.all(waits);
    expect(told).toHaveLength(3);
  });

  it('returns false after the timeout and on close', async () => {
    const progress = local(['a']);
    await progress.setPointer(1, null);
    const closed = progress.reached('0002', LONG);
    expect(await progress.reached('0001', 5)).toBe(false);
    progress.close();
    expect(await closed).toBe(false);
  });

  it('refuses reads beyond the maximum number of waiters', async () => {
    const progress = local(['a'], [1], 2);
    await progress.setPointer(1, null);
    const waits = [progress.reached('0001', LONG), progress.reached('0001', LONG)];
    await expect(progress.reached('0001', LONG)).rejects.toThrow(Busy);
    progress.recordHandledPosition(1, 'a', '0001');
    expect(await Promise.all(waits)).toEqual([true, true]);
    expect(await progress.reached('0001', LONG)).toBe(true);
  });

  it('switches to the next generation only if it is as far as the queried one', async () => {
    const progress = local(['a', 'b'], [1, 2]);
    await progress.setPointer(1, null);
    for (const each of ['a', 'b']) progress.recordHandledPosition(1, each, '0009');
    progress.recordHandledPosition(2, 'a', '0009');
    progress.recordHandledPosition(2, 'b', '0008');

    await progress.setPointer(2, 1);
    expect(progress.generation).toBe(1);
    // The old generation does not advance meanwhile; reads wait for the new one.
    for (const each of ['a', 'b']) progress.recordHandledPosition(1, each, '0010');
    expect(await progress.reached('0009', NOW)).toBe(true);
    expect(await progress.reached('0010', NOW)).toBe(false);
    const waiting = progress.reached('0010', LONG);

    progress.recordHandledPosition(2, 'b', '0009');
    expect(progress.generation).toBe(2);
    expect(progress.handledPosition()).toBe('0009');
    for (const each of ['a', 'b']) progress.recordHandledPosition(2, each, '0010');
    expect(await waiting).toBe(true);
  });

  it('ignores an outdated pointer', async () => {
    const progress = local(['a'], [1, 2]);
    await progress.setPointer(2, 1);
    await progress.setPointer(1, null);
    expect(progress.generation).toBe(2);
  });

  it('switches immediately if the queried generation is deleted', async () => {
    const progress = local(['a'], [1, 2]);
    await progress.setPointer(1, null);
    progress.recordHandledPosition(1, 'a', '0009');
    await progress.setPointer(2, null);
    expect(progress.generation).toBe(2);
  });

  describe('progress of runners in other processes', () => {
    it('is read from their checkpoints while a read waits', async () => {
      let position = '0001';
      let looks = 0;
      const checkpoints = () => {
        looks += 1;
        return Promise.resolve([checkpoint(1, 'a', position), checkpoint(1, 'unknown', '0000')]);
      };
      const progress = new ProjectionProgress(['a'], { ...still, checkpoints }, 10);
      await progress.setPointer(1, null);
      expect(await progress.reached('0001', NOW)).toBe(true);
      const waiting = progress.reached('0002', LONG);
      position = '0002';
      expect(await waiting).toBe(true);
      const before = looks;
      expect(await progress.reached('0002', NOW)).toBe(true);
      expect(looks).toBe(before);
    });

    it('survives a store that does not respond', async () => {
      let failures = 2;
      const checkpoints = () =>
        failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve([checkpoint(1, 'a', '0001')]);
      const progress = new ProjectionProgress(['a'], { ...still, checkpoints }, 10);
      await progress.setPointer(1, null);
      expect(await progress.reached('0001', LONG)).toBe(true);
    });
  });
});
