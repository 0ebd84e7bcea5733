import type { Lane } from './lane.ts';
import { Turns } from './turns.ts';

interface Stand {
  readonly workspace: string;
  readonly pace: { proven: boolean };
  attempting: number;
}
const lane = (proven = false): Stand & Lane => {
  const stand: Stand = { workspace: 'wsp_1', pace: { proven }, attempting: 0 };
  return stand as Stand & Lane;
};

/** Begins attempts at lanes that want as many as they can get; answers how many each has. */
function serve(turns: Turns, ...lanes: readonly (Stand & Lane)[]): number[] {
  for (const one of lanes) turns.add(one);
  for (let next = turns.next(); next !== undefined; next = turns.next()) {
    turns.begin(next);
    next.attempting += 1;
    turns.add(next);
  }
  return lanes.map(({ attempting }) => attempting);
}

describe('the turns of endpoints', () => {
  test('leave room for a first attempt, whoever came before and hangs', () => {
    const turns = new Turns(16);
    const [first, second, third] = [lane(), lane(), lane()];
    expect(serve(turns, first)).toEqual([6]);
    expect(serve(turns, second)).toEqual([1]);
    expect(serve(turns, ...Array.from({ length: 8 }, () => lane()))).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
    expect(serve(turns, third)).toEqual([0]);
    expect(turns.inFlight).toBe(12);
  });

  test('leave room for those that answer', () => {
    const turns = new Turns(16);
    serve(turns, ...Array.from({ length: 20 }, () => lane()));
    expect(turns.inFlight).toBe(12);
    expect(serve(turns, lane(true))).toEqual([4]);
  });

  test('go on with those that hang when attempts at them end', () => {
    const turns = new Turns(4);
    const [one, other] = [lane(), lane()];
    turns.add(one);
    turns.add(other);
    const ends = [turns.next(), turns.next()].map((next) => {
      if (next === undefined) throw new Error('there are turns left');
      next.attempting += 1;
      return turns.begin(next);
    });
    turns.add(one);
    expect(turns.next()).toBeUndefined();
    expect(ends.map((end) => end())).toEqual([true, true]);
    expect(turns.next()).toBe(one);
  });
});
