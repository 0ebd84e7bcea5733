import { Rotation } from './rotation.ts';

function drain<T>(rotation: Rotation<T>): T[] {
  const all: T[] = [];
  for (let next = rotation.next(); next !== undefined; next = rotation.next()) all.push(next);
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
});
