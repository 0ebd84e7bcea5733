import { FairScheduler, RoundRobin } from './fair-scheduler.ts';

interface Stand {
  readonly workspace: string;
  readonly isProven: boolean;
  attempting: number;
}
const owned = (isProven = false, workspace = 'wsp_1'): Stand => ({ workspace, isProven, attempting: 0 });
const endpoints = (count: number, ...like: Parameters<typeof owned>) =>
  Array.from({ length: count }, () => owned(...like));
const attemptsAt = (some: readonly Stand[]) => some.reduce((sum, { attempting }) => sum + attempting, 0);

/** Attempts in progress, with functions that end them. */
class Field {
  private readonly underWay: { readonly of: Stand; readonly end: () => void }[] = [];

  constructor(readonly scheduler: FairScheduler<Stand>) {}

  /** Starts attempts at endpoints that want as many as they can get, or this many; returns the number of each. */
  serve(some: readonly Stand[], most = Infinity): number[] {
    for (const one of some) if (one.attempting < most) this.scheduler.addEndpoint(one);
    for (let of = this.scheduler.takeNextEndpoint(); of !== undefined; of = this.scheduler.takeNextEndpoint()) {
      const end = this.scheduler.countRunningAttemptOfWorkspace(of);
      this.underWay.push({ of, end });
      of.attempting += 1;
      if (of.attempting < most) this.scheduler.addEndpoint(of);
    }
    return some.map(({ attempting }) => attempting);
  }

  /** Ends the oldest attempt in progress. */
  endOldest(): void {
    const oldest = this.underWay.shift();
    oldest?.end();
    if (oldest !== undefined) oldest.of.attempting -= 1;
  }
}
const field = (most: number) => new Field(new FairScheduler(most));

describe('the fair scheduler', () => {
  test.each([
    ['answer slowly', true],
    ['hang', false],
  ])('leaves capacity for a workspace after another one whose receivers %s', (_name, proven) => {
    const all = field(1_000);
    all.serve(endpoints(50, proven, 'wsp_1'));
    expect(all.serve([owned(true, 'wsp_2')], 90)).toEqual([90]);
  });

  test('gives a single workspace three quarters of all attempts', () => {
    const [all, slow] = [field(1_000), endpoints(12, true)];
    const each = all.serve(slow, 100);
    expect(attemptsAt(slow)).toBeGreaterThan(650);
    expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    const many = endpoints(100, true, 'wsp_1');
    all.serve(many);
    expect(attemptsAt([...slow, ...many])).toBe(750);
  });

  test('leaves capacity for the next workspace after several keep all they get', () => {
    const all = field(1_000);
    for (let n = 0; n < 6; n += 1) all.serve(endpoints(12, true, `wsp_${n}`), 100);
    expect(all.serve([owned(true, 'wsp_new')], 16)).toEqual([4]);
  });

  test('gives workspaces that take all they can get equal shares in the end, in any order', () => {
    const all = field(1_000);
    const [first, second] = [endpoints(30, true, 'wsp_1'), endpoints(30, true, 'wsp_2')];
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

  test('lets a workspace use what others leave', () => {
    const all = field(1_000);
    const modest = Array.from({ length: 50 }, (_, n) => owned(true, `wsp_modest_${n}`));
    expect(all.serve(modest, 2)).toEqual(modest.map(() => 2));
    const busy = endpoints(50, true, 'wsp_busy');
    all.serve(busy);
    expect(attemptsAt(busy)).toBeGreaterThan(600);
  });

  test('leaves at least one attempt for a workspace that has none in progress, however many there are', () => {
    const all = field(1_000);
    const slow = Array.from({ length: 900 }, (_, n) => owned(true, `wsp_${n}`));
    all.serve(slow);
    expect(all.serve([owned(true, 'wsp_new')])).toEqual([1]);
  });
});

describe('the fair scheduler, among endpoints', () => {
  test('leaves capacity for an endpoint after others of its workspace that answer slowly', () => {
    const all = field(1_000);
    const slow = endpoints(12, true);
    all.serve(slow, 100);
    for (let n = 0; n < 4_000; n += 1) {
      all.endOldest();
      all.serve(slow, 100);
    }
    expect(attemptsAt(slow)).toBeGreaterThan(650);
    expect(all.serve([owned(true)], 16)).toEqual([16]);
  });

  test('leaves some attempts for an endpoint right after others of its workspace took all they can get', () => {
    const all = field(1_000);
    for (let n = 0; n < 12; n += 1) all.serve([owned(true)], 100);
    expect(all.serve([owned(true)], 16)).toEqual([2]);
  });

  test('leaves capacity for a first attempt, whichever endpoints came before and hang', () => {
    const all = field(16);
    expect(all.serve([owned()])).toEqual([5]);
    expect(all.serve([owned()])).toEqual([1]);
    // Three quarters of the three quarters that their workspace may have.
    expect(all.serve(endpoints(8)).toSorted()).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect(all.serve([owned()])).toEqual([0]);
    expect(all.serve(endpoints(8, false, 'wsp_2')).toSorted()).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect(all.scheduler.inFlight).toBe(12);
  });

  test('leaves capacity for endpoints that answer, in their workspace and in others', () => {
    const all = field(16);
    all.serve(endpoints(20));
    expect(all.scheduler.inFlight).toBe(9);
    expect(all.serve([owned(true)])).toEqual([2]);
    expect(all.serve([owned(true, 'wsp_2')])).toEqual([2]);
  });

  test('leaves capacity for endpoints that answer if those of many workspaces hang', () => {
    const all = field(1_000);
    const hung = Array.from({ length: 2_000 }, (_, n) => owned(false, `wsp_${n}`));
    all.serve(hung, 2);
    expect(attemptsAt(hung)).toBe(750);
    expect(all.serve([owned(true, 'wsp_new')], 50)).toEqual([50]);
  });

  test('leaves capacity for first attempts if endpoints of many workspaces hang', () => {
    const all = field(1_000);
    const hung = Array.from({ length: 300 }, (_, n) => owned(false, `wsp_${n}`));
    all.serve(hung, 4);
    expect(attemptsAt(hung)).toBeLessThan(400);
    const first = Array.from({ length: 200 }, (_, n) => owned(false, `wsp_new_${n}`));
    expect(all.serve(first, 4)).toEqual(first.map(() => 1));
  });

  test('continues with endpoints that hang once attempts at them end', () => {
    const all = field(4);
    const [one, other] = [owned(), owned()];
    expect(all.serve([one, other])).toEqual([1, 1]);
    all.endOldest();
    all.endOldest();
    expect(all.serve([one, other])).toEqual([1, 1]);
  });

  test('ends an attempt once', () => {
    const scheduler = new FairScheduler(4);
    const end = scheduler.countRunningAttemptOfWorkspace(owned());
    expect([end(), end()]).toEqual([true, false]);
    expect(scheduler.inFlight).toBe(0);
  });
});

const next = (robin: RoundRobin<string>, room: Record<string, number> = {}, held: Record<string, number> = {}) =>
  robin.takeNextMember(
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
    for (const member of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) robin.enqueueGroupMember(member.charAt(0), member);
    expect(drain(robin)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  test('queues a member once', () => {
    const robin = new RoundRobin<string>();
    robin.enqueueGroupMember('a', 'a1');
    robin.enqueueGroupMember('a', 'a1');
    expect(drain(robin)).toEqual(['a1']);
  });

  test('forgets a member that is removed', () => {
    const robin = new RoundRobin<string>();
    robin.enqueueGroupMember('a', 'a1');
    robin.enqueueGroupMember('a', 'a2');
    robin.removeRoundRobinMember('a', 'a1');
    robin.removeRoundRobinMember('b', 'b1');
    expect(drain(robin)).toEqual(['a2']);
  });

  test('skips members whose group has no capacity for them, and keeps their turn', () => {
    const robin = new RoundRobin<string>();
    for (const member of ['a1', 'b1', 'b2', 'c1']) robin.enqueueGroupMember(member.charAt(0), member);
    expect(next(robin, { a: 0, b: 2 }, { b1: 2, b2: 1 })).toBe('b2');
    expect(next(robin, { a: 0, b: 0, c: 0 })).toBeUndefined();
    expect(drain(robin)).toEqual(['a1', 'c1', 'b1']);
  });
});
