import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { shipment } from './api.ts';
import { driveEvenly } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { cli, startStandalone, type Server } from './server.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

const STREAMS_PER_KEY = 20;
/** Those that are read line by line; the others are read away. */
const SAMPLES = 50;
const WRITES_PER_SECOND = 20;
const SETTLE_MS = 3_000;

/** When each stream that is looked at had a line, by the shipment's `external_id`, in epoch milliseconds. */
type Arrivals = Map<string, number[]>;

async function open(server: Server, key: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}` };
  const outgoing = request(`${server.url}/v1/events/stream`, { headers, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
  return response.resume();
}

function note(stream: IncomingMessage, arrivals: Arrivals): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    const at = Date.now();
    for (const line of lines) {
      const id = /^data: .*?"external_id":"([^"]+)"/.exec(line)?.[1];
      if (id !== undefined) arrivals.set(id, [...(arrivals.get(id) ?? []), at]);
    }
  });
}

interface Opened {
  readonly server: Server;
  readonly keys: readonly string[];
  readonly streams: IncomingMessage[];
  readonly arrivals: Arrivals;
}

async function openMore(count: number, { server, keys, streams, arrivals }: Opened): Promise<void> {
  while (streams.length < count) {
    const stream = await open(server, keys[Math.floor(streams.length / STREAMS_PER_KEY)] ?? '');
    if (streams.length % (1_000 / SAMPLES) === 0) note(stream, arrivals);
    streams.push(stream);
  }
}

const quantile = (sorted: readonly number[], q: number) => sorted[Math.floor((sorted.length - 1) * q)] ?? NaN;

/** Writes for `seconds`, and says how long after each answer the streams that are looked at had its line. */
async function measure(server: Server, seconds: number, key: string, arrivals: Arrivals): Promise<string> {
  const cpuBefore = cpuSeconds(server.pid);
  const writes = await driveEvenly(server, { rate: WRITES_PER_SECOND, seconds, key }, shipment);
  const cpu = ((cpuSeconds(server.pid) - cpuBefore) / seconds) * 100;
  await pause(SETTLE_MS);
  const delays = writes.flatMap(({ request: { body = '' }, answeredAt }) => {
    const { external_id } = JSON.parse(body) as { external_id: string };
    return (arrivals.get(external_id) ?? []).map((at) => at - answeredAt);
  });
  delays.sort((a, b) => a - b);
  const answers = writes.map(({ ms }) => ms).sort((a, b) => a - b);
  const told =
    delays.length === 0
      ? ''
      : `  line after the answer p50 ${quantile(delays, 0.5)} ms  p99 ${quantile(delays, 0.99)} ms  most ${delays.at(-1)} ms`;
  const answered = `write p50 ${quantile(answers, 0.5).toFixed(1)} ms  p99 ${quantile(answers, 0.99).toFixed(1)} ms`;
  return `${answered}  server CPU ${cpu.toFixed(0)} % of a core${told}`;
}

/** Clients that follow all of a workspace, at 20 writes a second, beside none in the same run. */
export async function benchStreams(seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const server = await startStandalone(dataDir);
  try {
    const keys: string[] = [];
    for (let number = 0; number < 1_000 / STREAMS_PER_KEY; number += 1) {
      keys.push(await cli(dataDir, 'keys', 'create', '--name', 'b', '--environment', 'live', '--role', 'operator'));
    }
    const [key = ''] = keys;
    await driveEvenly(server, { rate: WRITES_PER_SECOND, seconds: 5, key }, shipment);
    const streams: IncomingMessage[] = [];
    const arrivals: Arrivals = new Map();
    let idleMiB = 0;
    for (const count of [0, 1, 1_000]) {
      await openMore(count, { server, keys, streams, arrivals });
      await pause(SETTLE_MS);
      const opened = residentMiB(server.pid);
      if (count === 0) idleMiB = opened;
      const figures = await measure(server, seconds, key, arrivals);
      const more = `${(opened - idleMiB).toFixed(0)} MiB more when open, ${(residentMiB(server.pid) - idleMiB).toFixed(0)} MiB after`;
      say(`${String(count).padStart(5)} streams  ${figures}`);
      say(`               memory ${opened.toFixed(0)} MiB, ${more}`);
    }
    const before = cpuSeconds(server.pid);
    await pause(seconds * 1_000);
    const idle = ((cpuSeconds(server.pid) - before) / seconds) * 100;
    say(` 1000 streams, no writes: server CPU ${idle.toFixed(1)} % of a core`);
    for (const stream of streams) stream.destroy();
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
