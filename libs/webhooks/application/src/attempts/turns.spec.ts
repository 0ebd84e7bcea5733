import type { Lane } from './lane.ts';
import { Turns } from './turns.ts';

interface Stand {
  readonly workspace: string;
  readonly pace: { proven: boolean };
  attempting: number;
}
type StandIn = Stand & Lane;
const lane = (proven = false, workspace = 'wsp_1'): StandIn => {
  const stand: Stand = { workspace, pace: { proven }, attempting: 0 };
  return stand as StandIn;
};
const lanes = (count: number, ...like: Parameters<typeof lane>) => Array.from({ length: count }, () => lane(...like));
const attemptsAt = (some: readonly Stand[]) => some.reduce((sum, { attempting }) => sum + attempting, 0);

/** Attempts under way, and how each is ended. */
class Field {
  private readonly underWay: { readonly of: StandIn; readonly end: () => void }[] = [];

  constructor(readonly turns: Turns) {}

  /** Begins attempts at lanes that want as many as they can get, or these; answers how many each has. */
  serve(some: readonly StandIn[], most = Infinity): number[] {
    for (const one of some) if (one.attempting < most) this.turns.add(one);
    for (let next = this.turns.next(); next !== undefined; next = this.turns.next()) {
      const of = next as StandIn;
      const end = this.turns.begin(of);
      this.underWay.push({ of, end });
      of.attempting += 1;
      if (of.attempting < most) this.turns.add(of);
    }
    return some.map(({ attempting }) => attempting);
  }

  /** Ends the attempt that has been under way for longest. */
  endOldest(): void {
    const oldest = this.underWay.shift();
    oldest?.end();
    if (oldest !== undefined) oldest.of.attempting -= 1;
  }
}
const field = (most: number) => new Field(new Turns(most));

describe('the turns of workspaces', () => {
  test.each([
    ['answer slowly', true],
    ['hang', false],
  ])('leave room for one that comes after another whose receivers %s', (_name, proven) => {
    const all = field(1_000);
    all.serve(lanes(50, proven, 'wsp_1'));
    expect(all.serve([lane(true, 'wsp_2')], 90)).toEqual([90]);
  });

  test('give one alone three quarters of all', () => {
    const [all, slow] = [field(1_000), lanes(12, true)];
    const each = all.serve(slow, 100);
    expect(attemptsAt(slow)).toBeGreaterThan(650);
    expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    const many = lanes(100, true, 'wsp_1');
    all.serve(many);
    expect(attemptsAt([...slow, ...many])).toBe(750);
  });

  test('leave room for the next when several come at once that keep all they get', () => {
    const all = field(1_000);
    for (let n = 0; n < 6; n += 1) all.serve(lanes(12, true, `wsp_${n}`), 100);
    expect(all.serve([lane(true, 'wsp_new')], 16)).toEqual([4]);
  });

  test('give those that take all they can get the same in the end, whoever came first', () => {
    const all = field(1_000);
    const [first, second] = [lanes(30, true, 'wsp_1'), lanes(30, true, 'wsp_2')];
    all.serve(first);
    expect(attemptsAt(first)).toBeGreaterThan(700);
    all.serve(second);
    for (let n = 0; n < 4_000; n += 1) {
      all.endOldest();
      all.serve([...first, ...second]);
    }
    const [one, other] = [attemptsAt(first), attemptsAt(second)];
    expect(Math.abs(one - other)).toBeLessThanOrEqual(10);
    expect(one + other).toBeGreaterThan(750);
  });

  test('let one go on with what others leave', () => {
    const all = field(1_000);
    const modest = Array.from({ length: 50 }, (_, n) => lane(true, `wsp_modest_${n}`));
    expect(all.serve(modest, 2)).toEqual(modest.map(() => 2));
    const busy = lanes(50, true, 'wsp_busy');
    all.serve(busy);
    expect(attemptsAt(busy)).toBeGreaterThan(600);
  });

  test('leave one attempt at least for one that has none under way, however many there are', () => {
    const all = field(1_000);
    const slow = Array.from({ length: 900 }, (_, n) => lane(true, `wsp_${n}`));
    all.serve(slow);
    expect(all.serve([lane(true, 'wsp_new')])).toEqual([1]);
  });
});

describe('the turns of endpoints', () => {
  test('leave room for one that comes after others of its workspace that answer slowly', () => {
    const all = field(1_000);
    const slow = lanes(12, true);
    all.serve(slow, 100);
    for (let n = 0; n < 4_000; n += 1) {
      all.endOldest();
      all.serve(slow, 100);
    }
    expect(attemptsAt(slow)).toBeGreaterThan(650);
    expect(all.serve([lane(true)], 16)).toEqual([16]);
  });

  test('leave some for one that comes when those of its workspace have just taken all they can get', () => {
    const all = field(1_000);
    for (let n = 0; n < 12; n += 1) all.serve([lane(true)], 100);
    expect(all.serve([lane(true)], 16)).toEqual([2]);
  });

  test('leave room for a first attempt, whoever came before and hangs', () => {
    const all = field(16);
    expect(all.serve([lane()])).toEqual([5]);
    expect(all.serve([lane()])).toEqual([1]);
    // Three quarters of the three quarters that their workspace may have.
    expect(all.serve(lanes(8)).toSorted()).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect(all.serve([lane()])).toEqual([0]);
    expect(all.serve(lanes(8, false, 'wsp_2')).toSorted()).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect(all.turns.inFlight).toBe(12);
  });

  test('leave room for those that answer, in their workspace and in others', () => {
    const all = field(16);
    all.serve(lanes(20));
    expect(all.turns.inFlight).toBe(9);
    expect(all.serve([lane(true)])).toEqual([2]);
    expect(all.serve([lane(true, 'wsp_2')])).toEqual([2]);
  });

  test('leave room for those that answer when those of very many workspaces hang', () => {
    const all = field(1_000);
    const hung = Array.from({ length: 2_000 }, (_, n) => lane(false, `wsp_${n}`));
    all.serve(hung, 2);
    expect(attemptsAt(hung)).toBe(750);
    expect(all.serve([lane(true, 'wsp_new')], 50)).toEqual([50]);
  });

  test('leave room for first attempts when those of many workspaces hang', () => {
    const all = field(1_000);
    const hung = Array.from({ length: 300 }, (_, n) => lane(false, `wsp_${n}`));
    all.serve(hung, 4);
    expect(attemptsAt(hung)).toBeLessThan(400);
    const first = Array.from({ length: 200 }, (_, n) => lane(false, `wsp_new_${n}`));
    expect(all.serve(first, 4)).toEqual(first.map(() => 1));
  });

  test('go on with those that hang when attempts at them end', () => {
    const all = field(4);
    const [one, other] = [lane(), lane()];
    expect(all.serve([one, other])).toEqual([1, 1]);
    all.endOldest();
    all.endOldest();
    expect(all.serve([one, other])).toEqual([1, 1]);
  });

  test('end once', () => {
    const turns = new Turns(4);
    const end = turns.begin(lane());
    expect([end(), end()]).toEqual([true, false]);
    expect(turns.inFlight).toBe(0);
  });
});
