import { jest } from '@jest/globals';
import type { Document } from '@tracking/ports';
import { type VirtualCluster, VirtualProcess, VirtualTestClock } from '../../test/mongodb/virtual-cluster.ts';

const FIRST_NAME = 'work-0';
const NAMES = Array.from({ length: 13 }, (_, at) => `work-${at}`);
/** Maximum milliseconds until a lease of an ended process is held again. */
const TAKEOVER_MS = 9_000;
/** Maximum milliseconds until all shares are even after the last change of the processes. */
const EVEN_MS = 15_000;
const SEEDS = [1, 2, 3];

/** Random numbers from 0 (inclusive) to 1 (exclusive) that are equal for equal seeds. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe.each(SEEDS)('processes that share leases, seed %d', (seed) => {
  let cluster: VirtualCluster;
  let processes: VirtualProcess[];
  let stopping: Promise<void>[];
  /** Highest epoch that each lease had so far. */
  let epochs: Map<string, number>;

  beforeEach(() => {
    cluster = { time: new VirtualTestClock(), documents: new Map(), random: createRandom(seed), names: NAMES };
    processes = [];
    stopping = [];
    epochs = new Map();
  });

  function start(rate?: number): VirtualProcess {
    const process = new VirtualProcess(cluster, `process-${processes.length}`, rate);
    processes.push(process);
    return process;
  }

  /** Checks that each lease has at most one holder, with the highest epoch so far. */
  function checkOwners(): void {
    const owners = new Map<string, VirtualProcess>();
    for (const process of processes) {
      for (const [name, lease] of process.held) {
        if (!lease.isLeaseHeld() || !process.isAlive) continue;
        if (owners.has(name)) throw new Error(`${name} has two owners at ${cluster.time.now} ms`);
        owners.set(name, process);
        if (lease.epoch < (epochs.get(name) ?? 0))
          throw new Error(`${name} has an old epoch at ${cluster.time.now} ms`);
        epochs.set(name, lease.epoch);
      }
    }
  }

  const advance = (ms: number) => cluster.time.advanceTime(ms, checkOwners);
  const readShares = () => processes.filter(({ isAlive }) => isAlive).map(({ held }) => held.size);

  function expectEvenLeaseShares(): void {
    const shares = readShares();
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(NAMES.length);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
  }

  test('one process holds all leases within a second', async () => {
    start();
    await advance(1_000);
    expect(readShares()).toEqual([NAMES.length]);
  });

  test('a joining process gets its share within seconds, and the others keep most of theirs', async () => {
    const [first, second] = [start(), start()];
    await advance(EVEN_MS);
    const before = [...first.held.keys(), ...second.held.keys()].length;
    const firstNames = new Set(first.held.keys());
    start();
    await advance(5_000);
    expect(before).toBe(NAMES.length);
    expectEvenLeaseShares();
    const kept = [...first.held.keys()].filter((name) => firstNames.has(name));
    expect(kept.length).toBeGreaterThanOrEqual(first.held.size - 2);
  });

  test('the others take over the leases of a process that stops, within seconds', async () => {
    const [first] = [start(), start(), start()];
    await advance(EVEN_MS);
    stopping.push(first.stopProcess());
    await advance(3_000);
    expect(first.held.size).toBe(0);
    expectEvenLeaseShares();
    expect(cluster.documents.get('lease_members')?.size).toBe(2);
  });

  test('the others take over the leases of a killed process within its time to live', async () => {
    const [first] = [start(), start(), start()];
    await advance(EVEN_MS + cluster.random() * 3_000);
    expect(first.held.size).toBeGreaterThan(0);
    first.simulateProcessKill();
    await advance(TAKEOVER_MS);
    expectEvenLeaseShares();
    await advance(70_000);
    expect(cluster.documents.get('lease_members')?.size).toBe(2);
  });

  test('a pause of another process delays the takeover from a killed one only by its length', async () => {
    const [first, second] = [start(), start(), start()];
    await advance(EVEN_MS + cluster.random() * 3_000);
    first.simulateProcessKill();
    const pauseMs = 3_000;
    await advance(4_000);
    second.suspendProcess();
    await advance(pauseMs);
    second.resumeProcess();
    await advance(TAKEOVER_MS - 4_000);
    expectEvenLeaseShares();
  });

  test('a process without leases, of which the store refuses three beats of four, counts as alive', async () => {
    cluster = { ...cluster, names: [FIRST_NAME] };
    start();
    start();
    await advance(EVEN_MS);
    const [idle, other] = processes.toSorted((one, another) => one.held.size - another.held.size);
    expect(idle?.held.size).toBe(0);
    let beats = 0;
    idle!.losesBeat = () => (beats += 1) % 4 !== 0;
    const seen = new Set<number | undefined>();
    other!.shares.followMembersOfGroup('work', (members) => seen.add(members.length));
    await advance(60_000);
    expect(beats).toBeGreaterThan(20);
    expect([...seen]).toEqual([2]);
  });

  test('a process that starts half a minute after another was killed gets its share within seconds', async () => {
    const [, second] = [start(), start()];
    await advance(EVEN_MS);
    second.simulateProcessKill();
    await advance(30_000);
    start();
    await advance(5_000);
    expectEvenLeaseShares();
  });

  test('a suspended process loses its leases before others hold them, and gets its share back', async () => {
    const [first] = [start(), start()];
    await advance(EVEN_MS);
    first.suspendProcess();
    await advance(TAKEOVER_MS + 1_000);
    expect(processes[1]?.held.size).toBe(NAMES.length);
    first.resumeProcess();
    await advance(EVEN_MS);
    expectEvenLeaseShares();
  });

  test('leases are held again soon after the store was away, and nobody mistakes the outage for an end', async () => {
    start();
    start();
    await advance(EVEN_MS);
    const namesOf = () => processes.map(({ held }) => [...held.keys()].sort());
    const before = namesOf();
    for (const process of processes) process.isStoreAway = true;
    await advance(20_000);
    expect(readShares()).toEqual([0, 0]);
    for (const process of processes) process.isStoreAway = false;
    await advance(2_000);
    expect(namesOf()).toEqual(before);
  });

  test('a process waits for a lease that an older version holds, without signals that accumulate', async () => {
    const leases = new Map<string, Document>();
    cluster.documents.set('leases', leases);
    const holdByOlderVersion = async (seconds: number) => {
      for (let beat = 1; beat <= seconds; beat += 1) {
        leases.set(FIRST_NAME, { id: FIRST_NAME, epoch: 1, holder: 'older version', beat } as Document);
        await advance(1_000);
      }
    };
    const process = start();
    await holdByOlderVersion(5);
    const compose = jest.spyOn(AbortSignal, 'any');
    await holdByOlderVersion(60);
    const composed = compose.mock.calls.length;
    compose.mockRestore();
    expect(composed).toBe(0);
    expect(process.held.size).toBe(NAMES.length - 1);
    await advance(TAKEOVER_MS);
    expect(process.held.has(FIRST_NAME)).toBe(true);
  });

  test('one owner at a time and even shares, while processes with fast and slow clocks join, stop, hang and die', async () => {
    const ratesOfClocks = [0.9, 1, 1.1];
    const startOne = () => start(ratesOfClocks[processes.length % ratesOfClocks.length]);
    for (let at = 0; at < 4; at += 1) startOne();
    for (let round = 0; round < 12; round += 1) {
      await advance(cluster.random() * 6_000);
      const alive = processes.filter(({ isAlive }) => isAlive);
      const chosen = alive[Math.floor(cluster.random() * alive.length)];
      const event = cluster.random();
      if (alive.length < 2 || event < 0.3) startOne();
      else if (event < 0.55) chosen?.simulateProcessKill();
      else if (event < 0.75 && chosen !== undefined) stopping.push(chosen.stopProcess());
      else if (event < 0.9) {
        chosen?.suspendProcess();
        cluster.time.scheduleTimer(cluster.random() * 12_000, () => chosen?.resumeProcess());
      } else if (chosen !== undefined) {
        chosen.isStoreAway = true;
        cluster.time.scheduleTimer(cluster.random() * 8_000, () => (chosen.isStoreAway = false));
      }
    }
    await advance(12_000 + EVEN_MS);
    expectEvenLeaseShares();
    for (const name of NAMES) {
      const acquired = processes.flatMap((process) => process.acquired.filter((one) => one.name === name));
      const distinct = new Set(acquired.map(({ epoch }) => epoch));
      expect(distinct.size).toBe(acquired.length);
    }
  });
});
