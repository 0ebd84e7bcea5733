import { Rotation } from './rotation.ts';

const next = (rotation: Rotation<string>, room: Record<string, number> = {}, held: Record<string, number> = {}) =>
  rotation.next(
    (group) => room[group] ?? 1,
    (member) => held[member] ?? 0,
  );

function drain(rotation: Rotation<string>): string[] {
  const all: string[] = [];
  for (let one = next(rotation); one !== undefined; one = next(rotation)) all.push(one);
  return all;
}

describe('a rotation', () => {
  test('lets groups take turns, and members within their group', () => {
    const rotation = new Rotation<string>();
    for (const member of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) rotation.add(member.charAt(0), member);
    expect(drain(rotation)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  test('queues a member once', () => {
    const rotation = new Rotation<string>();
    rotation.add('a', 'a1');
    rotation.add('a', 'a1');
    expect(drain(rotation)).toEqual(['a1']);
  });

  test('forgets who leaves', () => {
    const rotation = new Rotation<string>();
    rotation.add('a', 'a1');
    rotation.add('a', 'a2');
    rotation.remove('a', 'a1');
    rotation.remove('b', 'b1');
    expect(drain(rotation)).toEqual(['a2']);
  });

  test('passes over whom its group has no room for, and keeps their turn', () => {
    const rotation = new Rotation<string>();
    for (const member of ['a1', 'b1', 'b2', 'c1']) rotation.add(member.charAt(0), member);
    expect(next(rotation, { a: 0, b: 2 }, { b1: 2, b2: 1 })).toBe('b2');
    expect(next(rotation, { a: 0, b: 0, c: 0 })).toBeUndefined();
    expect(drain(rotation)).toEqual(['a1', 'c1', 'b1']);
  });
});
