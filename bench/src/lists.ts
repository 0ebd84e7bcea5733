import { readdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { shipment } from './api.ts';
import { drive, row, type LoadRequest } from './load.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { cli, startStandalone, type Server } from './server.ts';
import { buildStore, workspaceOf } from './shipment-store.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const WORKSPACES = 20;
const REQUESTS = 200;
const AT_ONCE = 2;
const DEEP = 1_000;

/** What is asked of the largest workspace; `deep`: also page 1,000. */
const QUERIES: readonly { readonly name: string; readonly query: string; readonly deep?: true }[] = [
  { name: 'all', query: '', deep: true },
  { name: 'all, oldest first', query: 'sort=created_at', deep: true },
  { name: 'all, by updated_at', query: 'sort=-updated_at', deep: true },
  { name: 'all, by eta', query: 'sort=eta', deep: true },
  { name: 'all, by eta, latest first', query: 'sort=-eta', deep: true },
  { name: 'status, common', query: 'status=in_transit', deep: true },
  { name: 'status, rare', query: 'status=completed' },
  { name: 'status, three', query: 'status=booked,at_origin,arrived', deep: true },
  { name: 'status, common, by eta', query: 'status=in_transit&sort=eta', deep: true },
  { name: 'active', query: 'active=true', deep: true },
  { name: 'mode, rare', query: 'mode=rail' },
  { name: 'external_id', query: 'external_id=TMS-2026-0000001' },
  { name: 'house_bill, of none', query: 'house_bill=NOBODY' },
  { name: 'reference', query: 'reference=4500000010' },
  { name: 'container_number', query: 'container_number=MSKU0000059' },
  { name: 'shipper, of many', query: 'shipper=C-3' },
  { name: 'carrier', query: 'carrier_scac=MAEU', deep: true },
  { name: 'origin and destination', query: 'origin_port=CNSHA&destination_port=NLRTM' },
  { name: 'two common ones, by eta', query: 'carrier_scac=MAEU&mode=ocean&sort=eta' },
  { name: 'two that never meet', query: 'mode=air&carrier_scac=MAEU' },
  { name: 'two that never meet, by eta', query: 'mode=air&carrier_scac=MAEU&sort=eta' },
  { name: 'open exceptions', query: 'has_open_exceptions=true' },
  { name: 'created in a week', query: `created_from=${daysAgo(60)}&created_to=${daysAgo(53)}` },
  { name: 'eta in a week', query: `eta_from=${daysAgo(60)}&eta_to=${daysAgo(53)}` },
  { name: 'eta in a week, newest first', query: `eta_from=${daysAgo(60)}&eta_to=${daysAgo(53)}&status=in_transit` },
  { name: 'updated since yesterday', query: `updated_since=${daysAgo(2)}&sort=updated_at` },
  { name: 'q, a common word', query: 'q=acme', deep: true },
  { name: 'q, a common word, by eta', query: 'q=acme&sort=-eta' },
  { name: 'q, one letter', query: 'q=m' },
  { name: 'q, a rare word', query: 'q=hbl7919' },
  { name: 'q, of none', query: 'q=nobodyhasthis' },
  { name: 'q, two common words', query: 'q=acme+trading' },
  { name: 'q, a common and a rare word', query: 'q=acme+tms+0000001' },
];

/**
 * Lists over very many shipments of 20 workspaces, beside writes to such a store and to an empty one; what it takes to
 * build, start and rebuild it.
 * @param count shipments
 */
export async function benchLists(count: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-lists-'));
  const emptyDir = await mkdtemp(join(tmpdir(), 'bench-lists-empty-'));
  try {
    const own = await cli(dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');
    const workspaces = [
      await onlyWorkspace(dataDir),
      ...Array.from({ length: WORKSPACES - 1 }, (_, k) => `wsp_bench${k}`),
    ];
    const built = await buildStore(dataDir, count, workspaces);
    const events = `${built.shipments} shipments, ${built.milestones} milestones`;
    say(`built by commands alone: ${events} in ${built.seconds.toFixed(0)} s, ${await mebibytes(dataDir)} MiB`);

    let server = await startStandalone(dataDir);
    say(
      `read models made of them: ${(server.startMs / 1_000).toFixed(0)} s, ${facts(server)}, ${await mebibytes(dataDir)} MiB`,
    );
    await server.stop();
    server = await startStandalone(dataDir);
    say(`start again: ${server.startMs.toFixed(0)} ms, ${facts(server)}`);
    const largest = Array.from({ length: count }, (_, n) => n).filter(
      (n) => workspaceOf(n, workspaces) === workspaces[0],
    );
    say(`lists of the workspace with ${largest.length} of them, 50 a page, ${AT_ONCE} at once:`);
    for (const { name, query, deep } of QUERIES) {
      say(
        `  ${name.padEnd(32)} ${await measured(server, own, query)}${deep ? await deepPages(server, own, query) : ''}`,
      );
    }
    say(`after the lists: ${facts(server)}`);
    await writes(server, own, dataDir, emptyDir);
    const began = performance.now();
    await cli(dataDir, 'read-models', 'rebuild', 'shipments');
    const seconds = (performance.now() - began) / 1_000;
    say(`read model "shipments" rebuilt in ${seconds.toFixed(0)} s, ${facts(server)}, ${await mebibytes(dataDir)} MiB`);
    await server.stop();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await rm(emptyDir, { recursive: true, force: true });
  }
}

/** Writes on the large store and on an empty one, by turns, so that whatever else the machine does concerns both. */
async function writes(large: Server, key: string, dataDir: string, emptyDir: string): Promise<void> {
  const empty = await startStandalone(emptyDir);
  const other = await cli(emptyDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');
  const load = { connections: 32, seconds: 10 };
  for (const [server, its] of [
    [empty, other],
    [large, key],
  ] as const) {
    await drive(server, { ...load, seconds: 3, key: its }, shipment);
  }
  for (let turn = 0; turn < 2; turn += 1) {
    const beside = await drive(empty, { ...load, key: other }, shipment);
    say(row('POST shipment, empty store', beside));
    say(row(`POST shipment, large store`, await drive(large, { ...load, key }, shipment), beside));
  }
  const milestonesOf = async (server: Server, its: string): Promise<() => LoadRequest> => {
    const { data } = await get(server, its, '/v1/shipments?limit=200');
    let n = 0;
    return () => {
      n += 1;
      const occurred_at = new Date(Date.UTC(2026, 8, 1) + n * 1_000).toISOString();
      const body = JSON.stringify({ code: 'in_transit_checkpoint', occurred_at, location: 'SGSIN' });
      return { method: 'POST', path: `/v1/shipments/${data[n % data.length]?.id}/milestones`, body };
    };
  };
  const beside = await drive(empty, { ...load, key: other }, await milestonesOf(empty, other));
  say(row('POST milestone, empty store', beside));
  say(row('POST milestone, large store', await drive(large, { ...load, key }, await milestonesOf(large, key)), beside));
  say(`after the writes: large ${facts(large)}, ${await mebibytes(dataDir)} MiB; empty ${facts(empty)}`);
  await empty.stop();
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

const agent = new Agent({ keepAlive: true });
async function get(server: Server, key: string, path: string): Promise<Page> {
  const outgoing = httpRequest(server.url + path, { headers: { authorization: `Bearer ${key}` }, agent }).end();
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  outgoing.once('error', reject);
  outgoing.once('response', (response) => {
    json(response).then((body) => {
      if (response.statusCode === 200) resolve(body as Page);
      else reject(new Error(`${path}: ${response.statusCode} ${JSON.stringify(body)}`));
    }, reject);
  });
  return promise;
}

/** The first page, many times. */
async function measured(server: Server, key: string, query: string): Promise<string> {
  const path = `/v1/shipments?limit=50&${query}`;
  const first = await get(server, key, path);
  const times: number[] = [];
  const before = cpuSeconds(server.pid);
  const ask = async () => {
    while (times.length < REQUESTS) {
      const began = performance.now();
      await get(server, key, path);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const cpu = ((cpuSeconds(server.pid) - before) * 1_000) / times.length;
  const more = first.next_cursor === null ? '' : '+';
  return `${quantiles(times)}  ${cpu.toFixed(1).padStart(5)} ms CPU  ${`${first.data.length}${more}`.padStart(3)} found`;
}

/** Pages 901 to 1,000. */
async function deepPages(server: Server, key: string, query: string): Promise<string> {
  const times: number[] = [];
  let cursor: string | null = '';
  for (let page = 1; page <= DEEP && cursor !== null; page += 1) {
    const began = performance.now();
    const path: string = `/v1/shipments?limit=50&${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    cursor = (await get(server, key, path)).next_cursor;
    times.push(performance.now() - began);
  }
  return `  page ${times.length}: ${quantiles(times.slice(-100))}`;
}

function quantiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN).toFixed(1);
  return `p50 ${at(0.5).padStart(5)}  p99 ${at(0.99).padStart(5)} ms`;
}

function facts(server: Server): string {
  return `${residentMiB(server.pid).toFixed(0)} MiB in memory`;
}

async function onlyWorkspace(dataDir: string): Promise<string> {
  const listed = await cli(dataDir, 'workspaces', 'list');
  const id = /wsp_[A-Za-z0-9]+/.exec(listed)?.[0];
  if (id === undefined) throw new Error(`no workspace in ${listed}`);
  return id;
}

async function mebibytes(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return (sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20).toFixed(0);
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
