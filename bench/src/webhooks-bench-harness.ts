import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMiB } from './machine.ts';
import { runCli, startReceiver, startStandalone, type Server } from './server.ts';

const ENV = { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8', WEBHOOKS_ALLOW_HTTP: 'true' };

export interface ReceiverStats {
  readonly deliveries: number;
  /** Number of different (endpoint, event) pairs. */
  readonly different: number;
  /** Milliseconds from the event's `created_at` to its arrival. */
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly greatest: number;
  /** Time of the last arrival in epoch milliseconds. */
  readonly last: number;
}

export async function receiverStats(receiver: Server): Promise<ReceiverStats> {
  return (await (await fetch(`${receiver.url}/stats`)).json()) as ReceiverStats;
}

/** A server with one or more workspaces, a key for each, and a receiver. */
export class WebhooksBenchHarness {
  private constructor(
    private readonly dataDir: string,
    readonly receiver: Server,
    public server: Server,
    /** API keys, one for each workspace. */
    readonly keys: readonly string[],
  ) {}

  static async withWorkspaces(
    workspaces: number,
    work: (harness: WebhooksBenchHarness) => Promise<void>,
  ): Promise<void> {
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
    const [receiver, server] = [await startReceiver(), await startStandalone(dataDir, ENV)];
    const keys: string[] = [];
    for (let number = 1; number <= workspaces; number += 1) {
      const name = `bench-${number}`;
      await runCli(dataDir, 'workspaces', 'create', '--name', name);
      const key = ['--name', 'bench', '--environment', 'test', '--role', 'developer', '--workspace', name];
      keys.push(await runCli(dataDir, 'keys', 'create', ...key));
    }
    const harness = new WebhooksBenchHarness(dataDir, receiver, server, keys);
    try {
      await work(harness);
    } finally {
      await harness.server.stop();
      await receiver.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  }

  async killAndRestart(): Promise<void> {
    await this.server.stop('SIGKILL');
    this.server = await startStandalone(this.dataDir, ENV);
  }

  async call<T>(method: string, path: string, body?: object, key = this.keys[0]): Promise<T> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Creates an enabled endpoint for new shipments at this path of the receiver; returns its id. */
  async createEndpoint(
    path: string,
    key = this.keys[0],
    fields: { readonly max_concurrency?: number; readonly url?: string } = {},
  ): Promise<string> {
    const body = { url: this.receiver.url + path, event_types: ['shipment.created'], ...fields };
    const { id } = await this.call<{ id: string }>('POST', '/v1/webhook_endpoints', body, key);
    await this.enable(id, key);
    return id;
  }

  /** Creates endpoints that are enabled and afterwards refuse each connection. */
  async createRefusing(count: number): Promise<readonly string[]> {
    const answering = createServer((request, response) => {
      void json(request).then((body) => response.end((body as { data: { challenge: string } }).data.challenge));
    });
    await once(answering.listen(0, '127.0.0.1'), 'listening');
    const { port } = answering.address() as AddressInfo;
    const made: string[] = [];
    for (let n = 0; n < count; n += 1) {
      made.push(await this.createEndpoint('', this.keys[0], { url: `http://127.0.0.1:${port}/refuse/${n}` }));
    }
    answering.closeAllConnections();
    answering.close();
    return made;
  }

  async enable(id: string, key = this.keys[0]): Promise<void> {
    await this.call('POST', `/v1/webhook_endpoints/${id}/verify`, {}, key);
    await this.call('POST', `/v1/webhook_endpoints/${id}/enable`, {}, key);
  }

  async disable(id: string, key = this.keys[0]): Promise<void> {
    await this.call('POST', `/v1/webhook_endpoints/${id}/disable`, {}, key);
  }

  /** Resets the counts. @param onlyNew true if older events do not count afterwards */
  async reset(onlyNew = false): Promise<void> {
    await fetch(`${this.receiver.url}/reset${onlyNew ? '?new' : ''}`);
  }

  /** Returns the current value of a metric without labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.server.managementUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  }

  /** Waits for this number of different deliveries, and observes the server's memory meanwhile. */
  async waitForDeliveries(count: number): Promise<{ readonly stats: ReceiverStats; readonly greatestMiB: number }> {
    let greatestMiB = 0;
    for (;;) {
      const different = Number(await (await fetch(`${this.receiver.url}/count`)).text());
      greatestMiB = Math.max(greatestMiB, residentMiB(this.server.pid));
      if (different >= count) return { stats: await receiverStats(this.receiver), greatestMiB };
      await pause(100);
    }
  }

  /** Counts the events of new shipments that can be read, over all pages. */
  async countPublished(): Promise<number> {
    let count = 0;
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await this.call<{ data: unknown[]; next_cursor: string | null }>(
        'GET',
        `/v1/events?type=shipment.created&limit=200${query}`,
      );
      count += page.data.length;
      cursor = page.next_cursor;
    } while (cursor !== null);
    return count;
  }
}
