import { setTimeout as pause } from 'node:timers/promises';
import { shipment } from './api.ts';
import { drive } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { startReceiver, startSender } from './server.ts';
import {
  deletePart,
  formatCpu,
  failingPart,
  fullRatePart,
  hostilePart,
  formatLatency,
  neighboursPart,
  measurePaced,
  type PartOptions,
  PER_SECOND,
  replayPart,
  say,
  warmUp,
} from './webhooks-parts.ts';
import { WebhooksBenchHarness, receiverStats } from './webhooks-bench-harness.ts';

const BASELINE = 20_000;
const HUNG_ENDPOINT_COUNT = 20;
/** Maximum number of endpoints of one environment of a workspace. */
const MAX_ENDPOINTS = 50;

interface WebhooksPartOptions extends PartOptions {
  /** Deliveries per second of the baseline. */
  readonly bare: number;
}

/**
 * The baseline of every part: a process that only signs and POSTs, at full speed and at the rate of the paced parts.
 */
async function baseline(): Promise<number> {
  const [receiver, sender] = [await startReceiver(), await startSender()];
  const path = `/send?url=${encodeURIComponent(`${receiver.url}/ok/1`)}&concurrency=16`;
  await fetch(`${sender.url}${path}&count=3000`);
  const [started, cpu] = [performance.now(), cpuSeconds(sender.pid)];
  await fetch(`${sender.url}${path}&count=${BASELINE}`);
  const rate = BASELINE / ((performance.now() - started) / 1_000);
  say('only signing and POSTing', `${rate.toFixed(0)}/s  ${formatCpu(cpuSeconds(sender.pid) - cpu, BASELINE)}`);
  await fetch(`${receiver.url}/reset`);
  await fetch(`${sender.url}${path}&count=${10 * PER_SECOND}&rate=${PER_SECOND}`);
  say(`the same at ${PER_SECOND}/s`, formatLatency(await receiverStats(receiver)));
  await Promise.all([sender.stop(), receiver.stop()]);
  return rate;
}

async function latencyPart({ seconds = 30 }: WebhooksPartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    await harness.createEndpoint('/ok/1');
    await warmUp(harness);
    await measurePaced(harness, `created to delivered, ${PER_SECOND}/s, ${seconds} s`, seconds);
  });
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    const [rate, endpoints] = [30, 10];
    for (let n = 0; n < endpoints; n += 1) await harness.createEndpoint(`/ok/${n}`);
    await warmUp(harness);
    await measurePaced(harness, `the same, ${rate}/s to ${endpoints} endpoints each`, seconds, { rate, endpoints });
  });
}

/**
 * By default long enough for retries of the hung endpoints to start, all on the same server. A run beside healthy
 * endpoints shows the cost of recording deliveries for that many endpoints. The final run without others shows the
 * effect of the server's age and its stored data.
 */
async function hungPart({ seconds = 150 }: WebhooksPartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    await harness.createEndpoint('/ok/1');
    await warmUp(harness);
    await measurePaced(harness, `created to delivered, ${PER_SECOND}/s, 30 s`, 30);
    const others: string[] = [];
    for (let n = 0; n < HUNG_ENDPOINT_COUNT; n += 1) others.push(await harness.createEndpoint(`/also/${n}`));
    await measurePaced(harness, `the same beside ${HUNG_ENDPOINT_COUNT} healthy endpoints, 30 s`, 30);
    for (const id of others) await harness.disable(id);
    const hung: string[] = [];
    for (let n = 0; n < HUNG_ENDPOINT_COUNT; n += 1) hung.push(await harness.createEndpoint(`/hang/${n}`));
    await measurePaced(harness, `the same beside ${HUNG_ENDPOINT_COUNT} hung endpoints, ${seconds} s`, seconds);
    for (const id of hung) await harness.disable(id);
    await measurePaced(harness, 'the same without others again, 30 s', 30);
  });
}

/**
 * Writes are sent as fast as they are accepted. The rate is that of deliveries, from the first write to the last
 * delivery. The first run uses a fresh server; the sustained rate is that of a server after some load.
 */
async function measureSustained(endpoints: number, shipments: number, bare: number): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(Math.ceil(endpoints / MAX_ENDPOINTS), async (harness) => {
    const { keys, server } = harness;
    const perKey = endpoints / keys.length;
    for (const [index, key] of keys.entries()) {
      for (let n = 0; n < perKey; n += 1) await harness.createEndpoint(`/ok/${index}-${n}`, key);
    }
    const amount = shipments / keys.length;
    for (const name of [`POST to receiver, ${endpoints} endpoint(s), fresh`, '  once more']) {
      await harness.reset();
      const [started, cpu] = [Date.now(), cpuSeconds(server.pid)];
      const posted = Promise.all(
        keys.map((key) => drive(server, { connections: 32 / keys.length, seconds: 0, amount, key }, shipment)),
      );
      const { stats, greatestMiB } = await harness.waitForDeliveries(amount * endpoints);
      await posted;
      const rate = stats.different / ((stats.last - started) / 1_000);
      const used = formatCpu(cpuSeconds(server.pid) - cpu, stats.different);
      const repeated = stats.deliveries - stats.different;
      say(
        name,
        `${rate.toFixed(0)}/s  ${used}, writes included  ${(rate / bare).toFixed(2)} of only sending  ` +
          `${repeated} repeated  max ${greatestMiB.toFixed(0)} MiB`,
      );
      await pause(5_000);
      say('  5 s later', `${residentMiB(server.pid).toFixed(0)} MiB`);
    }
  });
}

async function ratePart({ bare }: WebhooksPartOptions): Promise<void> {
  await measureSustained(1, 20_000, bare);
  await measureSustained(10, 3_000, bare);
  await measureSustained(100, 1_600, bare);
}

async function drainPart({ bare }: WebhooksPartOptions): Promise<void> {
  const pending = 100_000;
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    const { server } = harness;
    const id = await harness.createEndpoint('/ok/before');
    // An endpoint whose URL was changed continues to record until it is verified again.
    await harness.call('PATCH', `/v1/webhook_endpoints/${id}`, { url: `${harness.receiver.url}/ok/after` });
    await drive(server, { connections: 64, seconds: 0, amount: pending, key: harness.keys[0] ?? '' }, shipment);
    await harness.reset();
    await pause(2_000);
    const [started, cpu] = [Date.now(), cpuSeconds(server.pid)];
    await harness.enable(id);
    const { stats, greatestMiB } = await harness.waitForDeliveries(pending);
    const rate = stats.different / ((stats.last - started) / 1_000);
    const used = formatCpu(cpuSeconds(server.pid) - cpu, pending);
    const ratio = (rate / bare).toFixed(2);
    say(
      `drain of ${pending} pending`,
      `${rate.toFixed(0)}/s  ${used}  ${ratio} of only sending  max ${greatestMiB.toFixed(0)} MiB`,
    );
  });
}

async function killPart(): Promise<void> {
  const cycles = 20;
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    await harness.createEndpoint('/ok/1');
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const load = { connections: 16, seconds: 2, key: harness.keys[0] ?? '' };
      const driven = drive(harness.server, load, shipment).catch(() => undefined);
      await pause(500 + cycle * 60);
      await harness.server.stop('SIGKILL');
      await driven;
      await harness.killAndRestart();
    }
    const events = await harness.countPublished();
    // Waiting for a lost delivery would never end.
    const delivered = await Promise.race([harness.waitForDeliveries(events), pause(60_000, undefined, { ref: false })]);
    const stats = delivered?.stats ?? (await receiverStats(harness.receiver));
    const [lost, repeated] = [events - stats.different, stats.deliveries - stats.different];
    say(`${cycles} kill -9 under load`, `${events} events, ${lost} lost, ${repeated} repeated`);
  });
}

const PARTS: Readonly<Record<string, (run: WebhooksPartOptions) => Promise<void>>> = {
  latency: latencyPart,
  rate: ratePart,
  hung: hungPart,
  neighbours: neighboursPart,
  failing: failingPart,
  'failing-full': fullRatePart,
  replay: replayPart,
  hostile: hostilePart,
  drain: drainPart,
  delete: deletePart,
  kill: killPart,
};
export const WEBHOOK_PARTS = Object.keys(PARTS);

/**
 * Measures webhooks: publisher, broker, records and attempts, each part in the same run as the baseline that only signs
 * and sends.
 */
export async function benchWebhooks(seconds: number | undefined, part: string | undefined): Promise<void> {
  const bare = await baseline();
  for (const [name, run] of Object.entries(PARTS)) {
    if (part === undefined || part === name) await run({ seconds, bare });
  }
}
