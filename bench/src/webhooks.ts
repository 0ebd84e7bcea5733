import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shipment } from './api.ts';
import { drive } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { cli, startReceiver, startSender, startStandalone, type Server } from './server.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ENV = { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8', WEBHOOKS_ALLOW_HTTP: 'true' };
const BASELINE = 20_000;

interface Stats {
  readonly deliveries: number;
  readonly different: number;
  readonly p50: number;
  readonly p99: number;
  /** When the last one came, in epoch milliseconds. */
  readonly last: number;
}

/** A server with a key, and a receiver beside it. */
class Stage {
  private constructor(
    readonly dataDir: string,
    readonly receiver: Server,
    public server: Server,
    readonly key: string,
  ) {}

  static async open(): Promise<Stage> {
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
    const [receiver, server] = [await startReceiver(), await startStandalone(dataDir, ENV)];
    const key = await cli(dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'test', '--role', 'developer');
    return new Stage(dataDir, receiver, server, key);
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.receiver.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.server.stop(signal);
    this.server = await startStandalone(this.dataDir, ENV);
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** An enabled endpoint for new shipments on this path of the receiver; answers its id. */
  async endpoint(path: string): Promise<string> {
    const url = this.receiver.url + path;
    const { id } = await this.call<{ id: string }>('POST', '/v1/webhook_endpoints', {
      url,
      event_types: ['shipment.created'],
    });
    await this.enable(id);
    return id;
  }

  async enable(id: string): Promise<void> {
    await this.call('POST', `/v1/webhook_endpoints/${id}/verify`, {});
    await this.call('POST', `/v1/webhook_endpoints/${id}/enable`, {});
  }

  async stats(): Promise<Stats> {
    return (await (await fetch(`${this.receiver.url}/stats`)).json()) as Stats;
  }

  async reset(): Promise<void> {
    await fetch(`${this.receiver.url}/reset`);
  }

  /** Waits until so many different deliveries have come, watching the server's memory meanwhile. */
  async delivered(count: number): Promise<{ stats: Stats; greatestMiB: number }> {
    let greatestMiB = 0;
    for (;;) {
      const stats = await this.stats();
      greatestMiB = Math.max(greatestMiB, residentMiB(this.server.pid));
      if (stats.different >= count) return { stats, greatestMiB };
      await pause(100);
    }
  }
}

async function withStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await Stage.open();
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

const each = (cpu: number, count: number) => `${((cpu * 1_000) / count).toFixed(2)} CPU s per 1,000`;

async function baseline(): Promise<number> {
  const [receiver, sender] = [await startReceiver(), await startSender()];
  const path = `/send?url=${encodeURIComponent(`${receiver.url}/ok/1`)}&concurrency=16`;
  await fetch(`${sender.url}${path}&count=3000`);
  const [started, cpu] = [performance.now(), cpuSeconds(sender.pid)];
  await fetch(`${sender.url}${path}&count=${BASELINE}`);
  const rate = BASELINE / ((performance.now() - started) / 1_000);
  say(`only signing and POSTing             ${rate.toFixed(0)}/s  ${each(cpuSeconds(sender.pid) - cpu, BASELINE)}`);
  await Promise.all([sender.stop(), receiver.stop()]);
  return rate;
}

/** Writes come as fast as they are accepted; the rate is of deliveries, from the first write to the last delivery. */
async function sustained(endpoints: number, shipments: number, bare: number): Promise<void> {
  await withStage(async (stage) => {
    for (let n = 0; n < endpoints; n += 1) await stage.endpoint(`/ok/${n}`);
    await drive(stage.server, { connections: 32, seconds: 0, amount: 200, key: stage.key }, shipment);
    await stage.delivered(200 * endpoints);
    await stage.reset();
    const [started, cpu] = [Date.now(), cpuSeconds(stage.server.pid)];
    const posted = drive(stage.server, { connections: 32, seconds: 0, amount: shipments, key: stage.key }, shipment);
    const { stats } = await stage.delivered(shipments * endpoints);
    await posted;
    const rate = stats.different / ((stats.last - started) / 1_000);
    const used = cpuSeconds(stage.server.pid) - cpu;
    say(
      `POST to receiver, ${String(endpoints).padStart(3)} endpoint(s)     ${rate.toFixed(0)}/s  ${each(used, stats.different)}, writes included  ` +
        `${(rate / bare).toFixed(2)} of only sending  ${stats.deliveries - stats.different} repeated`,
    );
  });
}

async function paced(stage: Stage, seconds: number, name: string): Promise<void> {
  await stage.reset();
  const cpu = cpuSeconds(stage.server.pid);
  const load = { connections: 10, seconds, rate: 100, key: stage.key };
  const { requests } = await drive(stage.server, load, shipment);
  const { stats } = await stage.delivered(requests);
  const used = cpuSeconds(stage.server.pid) - cpu;
  say(`${name} p50 ${stats.p50} ms  p99 ${stats.p99} ms  ${each(used, requests)}  (${requests} events)`);
}

async function drain(pending: number): Promise<void> {
  await withStage(async (stage) => {
    const id = await stage.endpoint('/ok/before');
    // An endpoint whose URL was changed goes on recording until it is verified again.
    await stage.call('PATCH', `/v1/webhook_endpoints/${id}`, { url: `${stage.receiver.url}/ok/after` });
    await drive(stage.server, { connections: 64, seconds: 0, amount: pending, key: stage.key }, shipment);
    await stage.reset();
    await pause(2_000);
    const [started, cpu] = [Date.now(), cpuSeconds(stage.server.pid)];
    await stage.enable(id);
    const { stats, greatestMiB } = await stage.delivered(pending);
    const rate = stats.different / ((stats.last - started) / 1_000);
    const used = cpuSeconds(stage.server.pid) - cpu;
    say(
      `drain of ${pending} pending            ${rate.toFixed(0)}/s  ${each(used, pending)}  at most ${greatestMiB.toFixed(0)} MiB`,
    );
  });
}

async function kills(cycles: number): Promise<void> {
  await withStage(async (stage) => {
    await stage.endpoint('/ok/1');
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const load = drive(stage.server, { connections: 16, seconds: 2, key: stage.key }, shipment).catch(
        () => undefined,
      );
      await pause(500 + cycle * 60);
      await stage.server.stop('SIGKILL');
      await load;
      await stage.restart('SIGKILL');
    }
    let published = 0;
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await stage.call<{ data: unknown[]; next_cursor: string | null }>(
        'GET',
        `/v1/events?type=shipment.created&limit=200${query}`,
      );
      published += page.data.length;
      cursor = page.next_cursor;
    } while (cursor !== null);
    const { stats } = await stage.delivered(published);
    say(
      `${cycles} kill -9 under load               ${published} events, ${published - stats.different} lost, ` +
        `${stats.deliveries - stats.different} repeated`,
    );
  });
}

/** The way out: publisher, broker, records, attempts, beside a process that only signs and sends, in the same run. */
export async function benchWebhooks(seconds: number): Promise<void> {
  const bare = await baseline();
  await withStage(async (stage) => {
    await stage.endpoint('/ok/1');
    await drive(stage.server, { connections: 16, seconds: 3, key: stage.key }, shipment);
    await paced(stage, Math.min(seconds, 30), 'created to delivered, 100/s         ');
    for (let n = 0; n < 20; n += 1) await stage.endpoint(`/hang/${n}`);
    await paced(stage, Math.max(seconds, 150), 'the same beside 20 hung endpoints   ');
  });
  await sustained(1, 20_000, bare);
  await sustained(10, 3_000, bare);
  // Fifty is the most that one environment may have.
  await sustained(50, 800, bare);
  await drain(100_000);
  await kills(20);
}
