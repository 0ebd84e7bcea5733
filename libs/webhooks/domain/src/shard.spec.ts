import { SHARD_COUNT, shardOf } from './shard.ts';

describe('shards', () => {
  test('never move: they name leases', () => {
    expect(['whe_a', 'whe_b', 'whe_0123456789abcdef'].map(shardOf)).toEqual([21, 28, 46]);
  });

  test('take endpoints evenly', () => {
    const counts = Array<number>(SHARD_COUNT).fill(0);
    for (let n = 0; n < 6_400; n += 1) counts[shardOf(`whe_${n.toString(16).padStart(32, '0')}`)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(Math.max(...counts)).toBeLessThan(150);
  });
});
