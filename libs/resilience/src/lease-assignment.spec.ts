import type { LeaseMember } from '@tracking/ports';
import { assignLeases } from './lease-assignment.ts';

const GROUP = 'work';
const SHARDS = Array.from({ length: 64 }, (_, shard) => `shard-${shard}`);

function createMembers(count: number, names: readonly string[] = SHARDS): readonly LeaseMember[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `member-${at}`,
    name: `host-${at}`,
    wanted: { [GROUP]: names, others: ['x'] },
  }));
}

/** Returns the number of leases of each member that has some. */
function countShares(assigned: ReadonlyMap<string, string>): readonly number[] {
  return [...Map.groupBy(assigned, ([, member]) => member).values()].map((leases) => leases.length);
}

function countMoved(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  return [...after].filter(([name, member]) => before.get(name) !== member).length;
}

describe('the assignment of leases', () => {
  test.each([1, 2, 3, 4, 5, 7, 12, 63, 64, 65, 100])('gives each of %d members an even share', (count) => {
    const assigned = assignLeases(GROUP, createMembers(count));
    expect([...assigned.keys()].sort()).toEqual([...SHARDS].sort());
    const shares = countShares(assigned);
    expect(shares).toHaveLength(Math.min(count, SHARDS.length));
    expect(Math.max(...shares)).toBe(Math.ceil(SHARDS.length / count));
    expect(Math.min(...shares)).toBe(Math.max(1, Math.floor(SHARDS.length / count)));
  });

  test('does not depend on the order of the members', () => {
    const members = createMembers(5);
    expect(assignLeases(GROUP, members.toReversed())).toEqual(assignLeases(GROUP, members));
  });

  test.each([1, 2, 3, 4, 8, 16])('moves few leases when a member joins %d others or leaves them', (count) => {
    const fewer = assignLeases(GROUP, createMembers(count));
    const more = assignLeases(GROUP, createMembers(count + 1));
    // The smallest possible number is the share of the member that joins or leaves.
    const smallest = Math.ceil(SHARDS.length / (count + 1));
    expect(countMoved(fewer, more)).toBeLessThanOrEqual(2 * smallest);
  });

  test('assigns a lease only to members that want it', () => {
    const [all, few] = [createMembers(1), createMembers(2, SHARDS.slice(0, 3)).slice(1)];
    const assigned = assignLeases(GROUP, [...all, ...few]);
    expect(assigned.size).toBe(SHARDS.length);
    const ofFew = [...assigned].filter(([, member]) => member === 'member-1').map(([name]) => name);
    expect(SHARDS.slice(0, 3)).toEqual(expect.arrayContaining(ofFew));
  });

  test('assigns nothing if no member wants a lease', () => {
    expect(assignLeases(GROUP, []).size).toBe(0);
    expect(assignLeases('unknown', createMembers(2)).size).toBe(0);
  });
});
