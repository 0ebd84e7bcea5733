import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AUTOMATIC_EXCEPTION_TYPES, DEFAULT_EXCEPTION_SETTINGS } from '@tracking/contracts';
import { shipment } from './api.ts';
import { OVERDUE_MS, buildWaiting } from './exceptions-store.ts';
import { computeQuantile, drive, driveEvenly, type LoadRequest, formatRow } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { runCli, startReceiver, startStandalone, type Server } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const DAY_MS = 86_400_000;
/** Number of shipments that are due at the same time, or whose settings change. */
const DUE_COUNT = 100_000;
const DELIVERY_COUNT = 500;
const ENV = { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8', WEBHOOKS_ALLOW_HTTP: 'true' };

/** A data folder with a workspace, and the actions on it. */
interface Harness {
  readonly dataDir: string;
  readonly workspaceId: string;
  /** Key of an admin, for live shipments. */
  readonly key: string;
}

const PARTS = {
  /** Measures writes with and without deadlines. */
  cost: () => withBenchHarness(measureWrites),
  /** Measures the clock while many shipments wait, and the time from a deadline to the delivery of its event. */
  rest: (count: number) =>
    withBenchHarness(async (harness) => {
      await buildStore(harness, count);
      const server = await startStandalone(harness.dataDir, ENV);
      await measureIdle(server);
      await measureDelivery(server, harness);
      await server.stop();
    }),
  /** Measures many shipments that are due at once beside those that wait, and then checks all with changed settings. */
  due: (count: number) =>
    withBenchHarness(async (harness) => {
      await buildStore(harness, count);
      const many = Math.min(count, DUE_COUNT);
      const due = Date.now() - 3_600_000;
      const { dataDir, workspaceId: workspace_id } = harness;
      await buildWaiting(dataDir, { count: many, workspace_id, prefix: 'due', dueAt: () => due });
      const server = await startStandalone(dataDir, ENV);
      await waitUntilDrained(server, harness, many);
      await measureRecheck(server, harness);
      await server.stop();
    }),
} as const;
export const EXCEPTION_PARTS: readonly string[] = Object.keys(PARTS);

/**
 * Measures the cost of exceptions that open by time alone.
 * @param count number of shipments that wait for their deadline; at most 100,000 of those that are due at once
 * @param part name of the only part to run
 */
export async function benchExceptions(count: number, part?: string): Promise<void> {
  for (const [name, run] of Object.entries(PARTS)) if (part === undefined || part === name) await run(count);
}

/** Shipments of another workspace that become due at intervals of a second, a month from now. */
async function buildStore({ dataDir }: Harness, count: number): Promise<void> {
  const far = Date.now() + 30 * DAY_MS;
  const dueAt = (n: number) => far + n * 1_000;
  const others = { workspace_id: 'wsp_waiting', prefix: 'waiting' };
  const seconds = await buildWaiting(dataDir, { ...others, count, dueAt });
  print(`${count} waiting shipments: built by commands in ${seconds.toFixed(0)} s`);
}

async function withBenchHarness(work: (harness: Harness) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-exceptions-'));
  try {
    const key = await newKey(dataDir, 'default');
    const [{ id: workspaceId }] = (
      JSON.parse(await runCli(dataDir, 'workspaces', 'list', '--json')) as { data: [{ id: string }] }
    ).data;
    await work({ dataDir, workspaceId, key });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

function newKey(dataDir: string, workspace: string): Promise<string> {
  const options = { name: 'bench', environment: 'live', role: 'admin', workspace };
  return runCli(dataDir, 'keys', 'create', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]));
}

async function call<T>(server: Server, key: string, request: string, body?: object): Promise<T> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${request}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Returns the value of a metric, summed over its labels. */
async function metric(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`${server.managementUrl}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Measures writes of a workspace whose shipments have deadlines, beside a workspace without deadlines, in turns. */
async function measureWrites({ dataDir, key }: Harness): Promise<void> {
  await runCli(dataDir, 'workspaces', 'create', '--name', 'timeless');
  const timeless = await newKey(dataDir, 'timeless');
  const server = await startStandalone(dataDir);
  const ofTime = AUTOMATIC_EXCEPTION_TYPES.filter((type) => {
    const { after_hours, before_hours } = DEFAULT_EXCEPTION_SETTINGS[type];
    return after_hours !== null || before_hours !== null;
  });
  const exceptions = Object.fromEntries(ofTime.map((type) => [type, { enabled: false }]));
  await call(server, timeless, 'PATCH /v1/settings', { exceptions });
  // The cached settings have expired by then.
  await pause(6_000);
  const soon = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  const create = () => shipment({ etd: soon(3), eta: soon(30) });
  const load = { connections: 32, seconds: 10 };
  await drive(server, { ...load, seconds: 3, key }, create);
  for (let turn = 0; turn < 2; turn += 1) {
    const without = await drive(server, { ...load, key: timeless }, create);
    const first = await createMilestoneRequests(server, timeless);
    print(formatRow('POST shipment, no deadlines', without));
    const its = await drive(server, { ...load, key }, create);
    print(
      `${formatRow('POST shipment, with deadlines', its)}  ${(its.rate / without.rate).toFixed(2)} of that without`,
    );
    const beside = await drive(server, { ...load, key: timeless }, first);
    print(formatRow('POST milestone, no deadlines', beside));
    const recorded = await drive(server, { ...load, key }, await createMilestoneRequests(server, key));
    print(
      `${formatRow('POST milestone, with deadlines', recorded)}  ${(recorded.rate / beside.rate).toFixed(2)} of that without`,
    );
  }
  await server.stop();
}

/** Records milestones of the workspace's newest shipments. Each milestone moves the deadline for missing updates. */
async function createMilestoneRequests(server: Server, key: string): Promise<() => LoadRequest> {
  const { data } = await call<{ data: { id: string }[] }>(server, key, 'GET /v1/shipments?limit=200');
  let n = 0;
  return () => {
    n += 1;
    const occurred_at = new Date(Date.now() - DAY_MS + n).toISOString();
    const body = JSON.stringify({ code: 'in_transit_checkpoint', occurred_at, location: 'SGSIN' });
    return { method: 'POST', path: `/v1/shipments/${data[n % data.length]?.id}/milestones`, body };
  };
}

async function measureIdle(server: Server): Promise<void> {
  await pause(5_000);
  const [cpu, looks, checks] = [cpuSeconds(server.pid), ...(await clockMetrics(server))];
  const began = performance.now();
  await pause(20_000);
  const seconds = (performance.now() - began) / 1_000;
  const [looksAfter, checksAfter] = await clockMetrics(server);
  const share = ((cpuSeconds(server.pid) - cpu) / seconds) * 100;
  print(
    `idle: ${share.toFixed(2)} % of a core for the whole process, ${((looksAfter - looks) / seconds).toFixed(1)} reads a second, ` +
      `${checksAfter - checks} checks, ${residentMiB(server.pid).toFixed(0)} MiB in memory`,
  );
}

async function clockMetrics(server: Server): Promise<[number, number]> {
  return [await metric(server, 'clock_looks_total'), await metric(server, 'clock_checks_total')];
}

/**
 * Measures the time from a shipment's deadline to the arrival of the opened exception; deadlines are spread over 20 s.
 */
async function measureDelivery(server: Server, { key }: Harness): Promise<void> {
  const receiver = await startReceiver();
  const body = { url: `${receiver.url}/ok/opened`, event_types: ['exception.opened'] };
  const { id } = await call<{ id: string }>(server, key, 'POST /v1/webhook_endpoints', body);
  for (const step of ['verify', 'enable']) await call(server, key, `POST /v1/webhook_endpoints/${id}/${step}`, {});
  const from = Date.now() + 20_000;
  const due = new Map(
    Array.from({ length: DELIVERY_COUNT }, (_, n) => [`delivered-${n}`, from + (n * 20_000) / DELIVERY_COUNT]),
  );
  let late = 0;
  const unsent = due.entries();
  const send = async () => {
    for (const [external_id, dueAt] of unsent) {
      const etd = new Date(dueAt - OVERDUE_MS).toISOString();
      await call(server, key, 'POST /v1/shipments', { external_id, mode: 'ocean', etd });
      if (Date.now() > dueAt) late += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
  let arrivals: Record<string, number> = {};
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && Object.keys(arrivals).length < DELIVERY_COUNT;) {
    await pause(500);
    arrivals = (await (await fetch(`${receiver.url}/arrivals`)).json()) as Record<string, number>;
  }
  const times = [...due].map(([name, at]) => (arrivals[name] ?? Infinity) - at).toSorted((one, other) => one - other);
  print(
    `deadline to delivered webhook, ${DELIVERY_COUNT} in 20 s: ${quantiles(times)}` +
      (late > 0 ? `, ${late} of them stored too late` : ''),
  );
  await call(server, key, `POST /v1/webhook_endpoints/${id}/disable`, {});
  await receiver.stop();
}

/** Measures other requests while many shipments are due, and again afterwards. */
async function waitUntilDrained(server: Server, { key }: Harness, many: number): Promise<void> {
  const began = performance.now();
  const before = await metric(server, 'clock_checks_total');
  const busy: LoadTurn[] = [];
  do busy.push(await others(server, key));
  while ((await metric(server, 'clock_checks_total')) < many);
  const seconds = (performance.now() - began) / 1_000;
  const rate = (many - before) / seconds;
  print(`${many} due at once: drained in ${seconds.toFixed(0)} s, ${rate.toFixed(0)} a second`);
  const quiet: LoadTurn[] = [];
  // The consequences of the checks are still being processed.
  while ((await metric(server, 'publisher_lag_seconds')) > 0) await pause(1_000);
  while (quiet.length < Math.min(busy.length, 6)) quiet.push(await others(server, key));
  for (const kind of ['writes', 'reads'] as const) {
    const [beside, alone] = [busy, quiet].map((turns) => turns.flatMap((turn) => turn[kind]).toSorted((a, b) => a - b));
    const ratio = computeQuantile(beside ?? [], 0.99) / computeQuantile(alone ?? [], 0.99);
    print(
      `  others' ${kind} beside: ${quantiles(beside ?? [])}; after: ${quantiles(alone ?? [])}; p99 ${ratio.toFixed(2)}`,
    );
  }
}

interface LoadTurn {
  readonly writes: readonly number[];
  readonly reads: readonly number[];
}

/** Half writes and half reads, 100 a second for 5 s. */
async function others(server: Server, key: string): Promise<LoadTurn> {
  let n = 0;
  const read: LoadRequest = { method: 'GET', path: '/v1/shipments?limit=20&sort=-updated_at' };
  const answers = await driveEvenly(server, { rate: 100, seconds: 5, key }, () => (n++ % 2 === 0 ? shipment() : read));
  const of = (method: string) => answers.filter(({ request }) => request.method === method).map(({ ms }) => ms);
  return { writes: of('POST'), reads: of('GET') };
}

/** Measures the time from the change of a threshold until every open shipment of the workspace was checked. */
async function measureRecheck(server: Server, { key }: Harness): Promise<void> {
  interface Settings {
    readonly recheck: { readonly state: string; readonly checked: number } | null;
  }
  const began = performance.now();
  await call(server, key, 'PATCH /v1/settings', { exceptions: { departure_overdue: { after_hours: 14 } } });
  for (;;) {
    await pause(250);
    const { recheck } = await call<Settings>(server, key, 'GET /v1/settings');
    if (recheck?.state !== 'done') continue;
    const seconds = (performance.now() - began) / 1_000;
    print(`changed settings: ${recheck.checked} open shipments checked ${seconds.toFixed(0)} s after the change`);
    return;
  }
}

function quantiles(sorted: readonly number[]): string {
  return `p50 ${computeQuantile(sorted, 0.5).toFixed(1)}  p99 ${computeQuantile(sorted, 0.99).toFixed(1)} ms`;
}
