import { setTimeout as pause } from 'node:timers/promises';
import { shipment } from './api.ts';
import { drive, driveEvenly } from './load.ts';
import { cpuSeconds } from './machine.ts';
import { type ReceiverStats, WebhooksBenchHarness } from './webhooks-bench-harness.ts';

export const PER_SECOND = 100;

export interface PartOptions {
  /**
   * Duration in seconds of the parts that have one; each part has its own default. For the replay, the number of
   * events.
   */
  readonly seconds: number | undefined;
}

export const say = (name: string, figures: string) => process.stdout.write(`${name.padEnd(42)} ${figures}\n`);
export const formatCpu = (cpu: number, count: number) => `${((cpu * 1_000) / count).toFixed(2)} CPU s per 1,000`;
export const formatLatency = ({ p50, p99, greatest }: ReceiverStats) =>
  `p50 ${p50} ms  p99 ${p99} ms  max ${greatest} ms`.padEnd(44);

/**
 * Measures the latency from an event's creation to its arrival, which includes the write, the read models and the
 * publisher, and from the response to the write, when the event may not be published yet.
 */
export async function measurePaced(
  harness: WebhooksBenchHarness,
  name: string,
  seconds: number,
  { rate = PER_SECOND, endpoints = 1 } = {},
): Promise<void> {
  await harness.reset(true);
  const cpu = cpuSeconds(harness.server.pid);
  const sent = await driveEvenly(harness.server, { rate, seconds, key: harness.keys[0] ?? '' }, shipment);
  const { stats } = await harness.waitForDeliveries(sent.length * endpoints);
  say(
    name,
    `${formatLatency(stats)}${formatCpu(cpuSeconds(harness.server.pid) - cpu, sent.length)}  (${sent.length} events)`,
  );
  // With several endpoints, the first arrival counts.
  const arrivals = (await (await fetch(`${harness.receiver.url}/arrivals`)).json()) as Record<string, number>;
  const waits = sent
    .map(({ request: { body = '{}' }, answeredAt }) => {
      const { external_id } = JSON.parse(body) as { external_id: string };
      return Math.max(0, (arrivals[external_id] ?? NaN) - answeredAt);
    })
    .sort((a, b) => a - b);
  const at = (share: number) => waits[Math.floor(waits.length * share)] ?? NaN;
  say('  from the response to the write', `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`);
}

/** Runs the server for a while and waits until all is delivered. */
export async function warmUp(harness: WebhooksBenchHarness): Promise<void> {
  await drive(harness.server, { connections: 16, seconds: 3, key: harness.keys[0] ?? '' }, shipment);
  await pause(1_000);
}

const SLOW_ENDPOINT_COUNT = 12;
/** By then, each slow endpoint has had as many successes as it may have concurrent attempts. */
const GROWN_MS = 60_000;
const PENDING = 2_000;

/**
 * Measures one workspace beside another whose receivers respond with success after 9 s and use all the capacity they
 * can get.
 */
export async function neighboursPart({ seconds = 30 }: PartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(2, async (harness) => {
    const [, neighbour = ''] = harness.keys;
    await harness.createEndpoint('/ok/1');
    await warmUp(harness);
    await measurePaced(harness, 'created to delivered, alone', seconds);
    for (let n = 0; n < SLOW_ENDPOINT_COUNT; n += 1)
      await harness.createEndpoint(`/slow/${n}`, neighbour, { max_concurrency: 100 });
    await drive(harness.server, { connections: 16, seconds: 0, amount: PENDING, key: neighbour }, shipment);
    await pause(GROWN_MS);
    const underWay = await harness.metric('webhook_attempts_in_flight');
    await measurePaced(harness, `beside ${SLOW_ENDPOINT_COUNT} that respond after 9 s`, seconds);
    say(
      '  attempts in progress of those',
      `${underWay} before, ${await harness.metric('webhook_attempts_in_flight')} after`,
    );
  });
}

const POSTS_PER_SECOND = 50;

/** Measures the API beside an endpoint whose responses never end, beside one that fails, and beside none. */
export async function hostilePart({ seconds = 20 }: PartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    const { server, keys } = harness;
    const measure = async (name: string) => {
      const cpu = cpuSeconds(server.pid);
      const sent = await driveEvenly(server, { rate: POSTS_PER_SECOND, seconds, key: keys[0] ?? '' }, shipment);
      const sorted = sent.map(({ ms }) => ms).sort((a, b) => a - b);
      const at = (share: number) => `${(sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(1)} ms`;
      const used = formatCpu(cpuSeconds(server.pid) - cpu, sent.length);
      say(`POST, ${POSTS_PER_SECOND}/s, beside ${name}`, `p50 ${at(0.5)}  p99 ${at(0.99)}  max ${at(0.9999)}  ${used}`);
    };
    await warmUp(harness);
    await measure('none');
    const kinds = ['information103', 'chunkExtension', 'headers', 'chunks'].map((name) => `endless/${name}`);
    for (const path of ['fail/1', ...kinds]) {
      const id = await harness.createEndpoint(`/${path}`);
      await measure(path);
      await harness.disable(id);
    }
  });
}

const FAILING = 20;

type MakeEndpoints = (harness: WebhooksBenchHarness, count: number) => Promise<readonly string[]>;

const at =
  (kind: string): MakeEndpoints =>
  async (harness, count) => {
    const made: string[] = [];
    for (let n = 0; n < count; n += 1) made.push(await harness.createEndpoint(`/${kind}/${n}`));
    return made;
  };

const KINDS: Readonly<Record<string, MakeEndpoints>> = {
  'respond 500 immediately': at('fail'),
  'respond after 9 s': at('slow'),
  'accept and reset': at('reset'),
  'refuse the connection': (harness, count) => harness.createRefusing(count),
  'flap every second': at('flap'),
};

/**
 * Measures a healthy endpoint beside 20 of each failing kind in turn, each kind on its own server, because the state
 * left by one kind would affect the next. A run beside 20 healthy endpoints shows the cost of that many deliveries
 * without failures. Runs without other endpoints before and after show the effect of the server's age and its stored
 * data.
 */
export async function failingPart({ seconds = 30 }: PartOptions): Promise<void> {
  for (const [name, make] of Object.entries({ 'respond successfully': at('also'), ...KINDS })) {
    await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
      await harness.createEndpoint('/ok/1');
      await warmUp(harness);
      await measurePaced(harness, 'alone', seconds);
      const made = await make(harness, FAILING);
      await measurePaced(harness, `beside ${FAILING} that ${name}`, seconds);
      for (const id of made) await harness.disable(id);
      await measurePaced(harness, 'without others again', seconds);
    });
  }
}

const TURNS = 3;
const EVENTS = 6_000;

/** Measures how much a failing endpoint slows a healthy one at full rate, in turns on one server for each kind. */
export async function fullRatePart(): Promise<void> {
  for (const [name, make] of Object.entries({ 'responds successfully': at('also'), ...KINDS })) {
    await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
      await harness.createEndpoint('/ok/1');
      await drive(
        harness.server,
        { connections: 32, seconds: 0, amount: EVENTS, key: harness.keys[0] ?? '' },
        shipment,
      );
      await harness.waitForDeliveries(EVENTS);
      for (let turn = 0; turn < TURNS; turn += 1) {
        await fullRate(harness, 'full rate, without others');
        const made = await make(harness, 1);
        await fullRate(harness, `full rate beside one that ${toSingular(name)}`);
        for (const id of made) await harness.disable(id);
      }
    });
  }
}

const toSingular = (name: string) =>
  name.replace(/^(answer|accept|refuse|flap)\b/, '$1s').replace('and reset', 'and resets');

async function fullRate(harness: WebhooksBenchHarness, name: string): Promise<void> {
  await harness.reset();
  const [started, cpu] = [Date.now(), cpuSeconds(harness.server.pid)];
  const load = { connections: 32, seconds: 0, amount: EVENTS, key: harness.keys[0] ?? '' };
  const posted = drive(harness.server, load, shipment);
  const { stats } = await harness.waitForDeliveries(EVENTS);
  await posted;
  const rate = EVENTS / ((stats.last - started) / 1_000);
  say(name, `${rate.toFixed(0)}/s  ${formatCpu(cpuSeconds(harness.server.pid) - cpu, EVENTS)}, writes included`);
}

/** Number of live events per turn. */
const SECONDS = 20;

interface Replay {
  readonly id: string;
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

/**
 * Measures live events beside a replay of all events that an endpoint missed. The part's number is that of missed
 * events.
 */
export async function replayPart({ seconds: missed = 100_000 }: PartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(1, async (harness) => {
    const key = harness.keys[0] ?? '';
    await drive(harness.server, { connections: 32, seconds: 0, amount: missed, key }, shipment);
    const endpoint = await harness.createEndpoint('/ok/1');
    await warmUp(harness);
    await measurePaced(harness, `created to delivered, ${PER_SECOND}/s`, SECONDS);
    const asked = { statuses: ['missed'] };
    let replay = await harness.call<Replay>('POST', `/v1/webhook_endpoints/${endpoint}/replay`, asked);
    while (replay.status === 'running') {
      const [done, began] = [replay.done, Date.now()];
      await measurePaced(harness, `the same beside a replay of ${missed}`, SECONDS);
      replay = await harness.call<Replay>('GET', `/v1/webhook_replays/${replay.id}`);
      const rate = ((replay.done - done) * 1_000) / (Date.now() - began);
      const { status, matched, failed } = replay;
      say('  replayed', `${rate.toFixed(0)}/s, ${replay.done} of ${matched} taken, ${failed} failed, ${status}`);
    }
    await measurePaced(harness, 'the same alone again', SECONDS);
  });
}

/**
 * Measures live events of one workspace while another deletes an endpoint with many pending deliveries. The part's
 * number is that of pending deliveries.
 */
export async function deletePart({ seconds: waiting = 100_000 }: PartOptions): Promise<void> {
  await WebhooksBenchHarness.withWorkspaces(2, async (harness) => {
    const [, neighbour = ''] = harness.keys;
    await harness.createEndpoint('/ok/1');
    const id = await harness.createEndpoint('/ok/before', neighbour);
    // An endpoint with a changed URL continues to record deliveries until it is verified again.
    await harness.call('PATCH', `/v1/webhook_endpoints/${id}`, { url: `${harness.receiver.url}/ok/after` }, neighbour);
    await drive(harness.server, { connections: 64, seconds: 0, amount: waiting, key: neighbour }, shipment);
    await warmUp(harness);
    await measurePaced(harness, `created to delivered, ${PER_SECOND}/s`, SECONDS);
    const beside = measurePaced(harness, `the same while ${waiting} are discarded`, SECONDS);
    await pause(1_000);
    const began = performance.now();
    await harness.call('DELETE', `/v1/webhook_endpoints/${id}`, undefined, neighbour);
    const took = performance.now() - began;
    await beside;
    say('  DELETE of the endpoint', `${took.toFixed(0)} ms`);
    await measurePaced(harness, 'the same afterwards', SECONDS);
  });
}
