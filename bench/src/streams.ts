import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { shipment } from './api.ts';
import { driveEvenly } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { runCli, startStandalone, type Server } from './server.ts';
import { STREAMS_PER_KEY, type StreamOrder, type StreamReport } from './stream-clients.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

const WRITES_PER_SECOND = 20;
const SETTLE_MS = 3_000;

/** Clients in their own thread, so that reading does not delay the measured writes. */
class StreamClients {
  private readonly worker = new Worker(new URL('./stream-clients.js', import.meta.url));

  async open(server: Server, keys: readonly string[], count: number): Promise<void> {
    await this.ask({ url: server.url, keys, count });
  }

  async report(): Promise<StreamReport> {
    return (await this.ask({ report: true })) as StreamReport;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private async ask(order: StreamOrder): Promise<unknown> {
    const answered = once(this.worker, 'message');
    this.worker.postMessage(order);
    const [answer] = (await answered) as [unknown];
    return answer;
  }
}

function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (q: number) => (sorted[Math.floor((sorted.length - 1) * q)] ?? NaN).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

/** Writes for `seconds`, and measures the time from each response to the line on the observed streams. */
async function measureArrivalTimes(
  server: Server,
  seconds: number,
  key: string,
  clients: StreamClients,
): Promise<string> {
  await clients.report();
  const [cpuBefore, began] = [cpuSeconds(server.pid), performance.now()];
  const writes = await driveEvenly(server, { rate: WRITES_PER_SECOND, seconds, key }, shipment);
  const cpu = (cpuSeconds(server.pid) - cpuBefore) / ((performance.now() - began) / 1_000);
  await pause(SETTLE_MS);
  const { arrivals, bytes } = await clients.report();
  const delays = writes.flatMap(({ request: { body = '' }, answeredAt }) => {
    const { external_id } = JSON.parse(body) as { external_id: string };
    return (arrivals.get(external_id) ?? []).map((at) => at - answeredAt);
  });
  const told = delays.length === 0 ? '' : `; line after the response ${quantiles(delays)}`;
  const read = `${(bytes / 2 ** 20 / seconds).toFixed(1)} MiB/s read`;
  return `write response ${quantiles(writes.map(({ ms }) => ms))}${told}; server CPU ${(cpu * 100).toFixed(0)} % of a core; ${read}`;
}

/** Measures clients that follow a whole workspace at 20 writes a second, beside a run without clients. */
export async function benchStreams(seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const server = await startStandalone(dataDir, { MAX_EVENT_STREAMS_PER_WORKSPACE: '1000' });
  const clients = new StreamClients();
  try {
    const keys: string[] = [];
    for (let number = 0; number < 1_000 / STREAMS_PER_KEY; number += 1) {
      keys.push(await runCli(dataDir, 'keys', 'create', '--name', 'b', '--environment', 'live', '--role', 'operator'));
    }
    const [key = ''] = keys;
    await driveEvenly(server, { rate: WRITES_PER_SECOND, seconds: 10, key }, shipment);
    let without = 0;
    for (const count of [0, 1, 100, 1_000]) {
      await pause(SETTLE_MS);
      const before = residentMiB(server.pid);
      await clients.open(server, keys, count);
      await pause(SETTLE_MS);
      const opened = residentMiB(server.pid);
      if (count === 0) without = opened;
      print(`${String(count).padStart(5)} streams: ${await measureArrivalTimes(server, seconds, key, clients)}`);
      const more = `${(opened - before).toFixed(0)} MiB for opening them, ${(residentMiB(server.pid) - without).toFixed(0)} MiB more than without after the writes`;
      print(`               memory ${opened.toFixed(0)} MiB, ${more}`);
    }
    const before = cpuSeconds(server.pid);
    await pause(seconds * 1_000);
    const idle = ((cpuSeconds(server.pid) - before) / seconds) * 100;
    print(` 1000 streams, no writes: server CPU ${idle.toFixed(1)} % of a core`);
  } finally {
    await clients.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
