import { RoundRobin } from './round-robin.ts';

const next = (robin: RoundRobin<string>, room: Record<string, number> = {}, held: Record<string, number> = {}) =>
  robin.next(
    (group) => room[group] ?? 1,
    (member) => held[member] ?? 0,
  );

function drain(robin: RoundRobin<string>): string[] {
  const all: string[] = [];
  for (let one = next(robin); one !== undefined; one = next(robin)) all.push(one);
  return all;
}

describe('round robin', () => {
  test('lets groups take turns, and members within their group', () => {
    const robin = new RoundRobin<string>();
    for (const member of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) robin.add(member.charAt(0), member);
    expect(drain(robin)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  test('queues a member once', () => {
    const robin = new RoundRobin<string>();
    robin.add('a', 'a1');
    robin.add('a', 'a1');
    expect(drain(robin)).toEqual(['a1']);
  });

  test('forgets who leaves', () => {
    const robin = new RoundRobin<string>();
    robin.add('a', 'a1');
    robin.add('a', 'a2');
    robin.remove('a', 'a1');
    robin.remove('b', 'b1');
    expect(drain(robin)).toEqual(['a2']);
  });

  test('passes over whom its group has no room for, and keeps their turn', () => {
    const robin = new RoundRobin<string>();
    for (const member of ['a1', 'b1', 'b2', 'c1']) robin.add(member.charAt(0), member);
    expect(next(robin, { a: 0, b: 2 }, { b1: 2, b2: 1 })).toBe('b2');
    expect(next(robin, { a: 0, b: 0, c: 0 })).toBeUndefined();
    expect(drain(robin)).toEqual(['a1', 'c1', 'b1']);
  });
});
