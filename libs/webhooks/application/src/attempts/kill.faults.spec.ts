import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import {
  type HttpTestReceiver,
  type TempFolder,
  eventually,
  hostileReceiverBehaviours,
  startReceiver,
  waitForSimulatedDelay,
  createTempFolder,
} from '@tracking/testing';

jest.setTimeout(120_000);

const CYCLES = 6;
/** Longest time after a kill in which earlier requests are still read here. */
const LATE_MS = 300;
const SCRIPT = fileURLToPath(new URL('../../test/delivering-process.ts', import.meta.url));
const NODE = ['--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];

let folder: TempFolder;
let receiver: HttpTestReceiver;
let children: ChildProcess[];
let published: Set<string>;
/** Arrival times, by event id. */
let arrived: Map<string, number[]>;

beforeEach(async () => {
  folder = await createTempFolder();
  children = [];
  published = new Set();
  arrived = new Map();
  let count = 0;
  receiver = await startReceiver((socket, request) => {
    const id = request.headers['service-event-id'] ?? '';
    if (request.headers['service-event-type'] === 'endpoint.verification') {
      const { data } = JSON.parse(request.body.toString()) as { data: { challenge: string } };
      return hostileReceiverBehaviours.answers(200, data.challenge)(socket, request);
    }
    count += 1;
    if (count % 10 === 0) return hostileReceiverBehaviours.answers(500)(socket, request);
    arrived.set(id, [...(arrived.get(id) ?? []), Date.now()]);
    return hostileReceiverBehaviours.answers(200)(socket, request);
  });
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await receiver.close();
  await folder.remove();
});

interface KillRun {
  readonly child: ChildProcess;
  readonly said: Set<string>;
  readonly ended: Promise<unknown>;
}
function run(task: 'publish' | 'drain'): KillRun {
  const child = spawn(process.execPath, [...NODE, SCRIPT, folder.path, `${receiver.origin}/hook`, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const said = new Set<string>();
  const ended = new Promise((resolve) => child.on('close', resolve));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word = '', id] = line.split(' ');
    if (word === 'published' && id !== undefined) published.add(id);
    else said.add(word);
  });
  return { child, said, ended };
}

test('kill -9 under load, again and again: nothing published is lost, and little is repeated', async () => {
  const kills: number[] = [];
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const { child, said, ended } = run('publish');
    await eventually(() => expect(said.has('ready')).toBe(true), { deadlineMs: 20_000 });
    const before = arrived.size;
    await eventually(() => expect(arrived.size).toBeGreaterThan(before + 20), { deadlineMs: 20_000 });
    await waitForSimulatedDelay(50 * (cycle % 4));
    kills.push(Date.now());
    child.kill('SIGKILL');
    await ended;
  }
  const { said, ended } = run('drain');
  await eventually(() => expect(said.has('idle')).toBe(true), { deadlineMs: 30_000 });
  await ended;

  expect(published.size).toBeGreaterThan(20 * CYCLES);
  expect([...published].filter((id) => !arrived.has(id))).toEqual([]);
  // Events that arrived twice were in progress when a process was killed: they arrived around that time, and again
  // later.
  const repeated = [...arrived.values()].filter(({ length }) => length > 1);
  const explains = (first: number, again: number) => (kill: number) => first <= kill + LATE_MS && again >= kill;
  const unexplained = repeated.filter(
    (times) => !times.slice(1).every((again, n) => kills.some(explains(times[n] ?? 0, again))),
  );
  expect(unexplained).toEqual([]);
  expect(repeated.length).toBeLessThan(published.size / 2);
});
