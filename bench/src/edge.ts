import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listIds, shipment } from './api.ts';
import { drive, type Figures, type LoadRequest, formatRow, combineFigures } from './load.ts';
import { runCliOf, startEdge, startStandalone } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const CONNECTIONS = 64;
/** Number of alternating turns, so that other load on the machine affects all cases alike. */
const TURNS = 4;

/** Measures each case in alternating turns. */
async function runInTurns(cases: Readonly<Record<string, () => Promise<Figures>>>): Promise<Record<string, Figures>> {
  const taken: Record<string, Figures[]> = {};
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [name, take] of Object.entries(cases)) (taken[name] ??= []).push(await take());
  }
  return Object.fromEntries(Object.entries(taken).map(([name, figures]) => [name, combineFigures(figures)]));
}

async function withDataFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Creates a key with the command line of a checkout, by default this one. */
const createKey = (dataDir: string, checkout = '.'): Promise<string> =>
  runCliOf(checkout, dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');

/** Measures a POST without an `Idempotency-Key`, with one, and repeated with the same key, in the same run. */
export async function benchIdempotency(seconds: number): Promise<void> {
  await withDataFolder(async (dataDir) => {
    const server = await startStandalone(dataDir);
    const key = await createKey(dataDir);
    const load = { connections: CONNECTIONS, seconds: Math.ceil(seconds / TURNS), key };
    const under = (name: string, request: LoadRequest) => ({ ...request, headers: { 'idempotency-key': name } });
    const [again, name] = [shipment(), randomUUID()];
    await drive(server, { ...load, seconds: 3 }, shipment);
    await drive(server, { ...load, connections: 1, amount: 2 }, () => under(name, again));
    const figures = await runInTurns({
      'POST shipment': () => drive(server, load, shipment),
      'with an Idempotency-Key': () => drive(server, load, () => under(randomUUID(), shipment())),
      'repeated with the same key': () => drive(server, load, () => under(name, again)),
      sequential: () => drive(server, { ...load, connections: 1 }, shipment),
      'sequential, with a key': () => drive(server, { ...load, connections: 1 }, () => under(randomUUID(), shipment())),
    });
    for (const [what, each] of Object.entries(figures)) print(formatRow(what, each));
    await server.stop();
  });
}

/** Measures the cost of authentication and the rate limit: one route of the edge with and without them. */
export async function benchEdge(seconds: number): Promise<void> {
  const cases = ['', 'limit', 'authentication,limit'];
  await withDataFolder(async (folder) => {
    const loadRequest: LoadRequest = { method: 'GET', path: '/v1/webhook_endpoints' };
    const taking = cases.map(async (without, index) => {
      const dataDir = join(folder, String(index));
      const server = await startEdge(dataDir, without);
      const key = await readFile(join(dataDir, 'key'), 'utf8');
      const load = { connections: CONNECTIONS, seconds: Math.ceil(seconds / TURNS), key };
      return { name: without === '' ? 'with both' : `without ${without}`, server, load };
    });
    const servers = await Promise.all(taking);
    for (const { server, load } of servers) await drive(server, { ...load, seconds: 3 }, () => loadRequest);
    const takes = servers.map(
      ({ name, server, load }) => [name, () => drive(server, load, () => loadRequest)] as const,
    );
    const figures = await runInTurns(Object.fromEntries(takes));
    for (const [what, each] of Object.entries(figures)) print(formatRow(what, each));
    for (const { server } of servers) await server.stop();
  });
}

/** Measures reads with and without compression, in alternating turns. */
export async function benchCompression(seconds: number): Promise<void> {
  await withDataFolder(async (dataDir) => {
    const server = await startStandalone(dataDir);
    const key = await createKey(dataDir);
    const load = { connections: CONNECTIONS, seconds: Math.ceil(seconds / TURNS), key };
    await drive(server, { ...load, seconds: 5 }, shipment);
    const headers = { 'accept-encoding': 'gzip' };
    const [id = ''] = await listIds(server, key, 1);
    const paths = { 'GET shipment': `/v1/shipments/${id}`, 'list of 20 shipments': '/v1/shipments?limit=20' };
    for (const [what, path] of Object.entries(paths)) {
      const request: LoadRequest = { method: 'GET', path };
      const figures = await runInTurns({
        [what]: () => drive(server, load, () => request),
        [`${what}, gzip`]: () => drive(server, load, () => ({ ...request, headers })),
      });
      for (const [name, each] of Object.entries(figures)) print(formatRow(name, each));
    }
    await server.stop();
  });
}

/**
 * Measures writes and reads of this version and of the one in the folder `BASELINE`, a built checkout of the project, in
 * alternating turns.
 */
export async function benchVersions(seconds: number): Promise<void> {
  const baseline = process.env['BASELINE'];
  if (baseline === undefined) throw new Error('Set BASELINE to the folder of a built checkout of the other version.');
  await withDataFolder(async (folder) => {
    const checkouts = { baseline, 'this version': '.' };
    const versions = [];
    for (const [name, checkout] of Object.entries(checkouts)) {
      const dataDir = join(folder, name.replace(' ', '-'));
      const server = await startStandalone(dataDir, {}, checkout);
      const key = await createKey(dataDir, checkout);
      const load = { connections: CONNECTIONS, seconds: Math.ceil(seconds / TURNS), key };
      await drive(server, { ...load, seconds: 5 }, shipment);
      const [id = ''] = await listIds(server, key, 1);
      versions.push({ name, server, load, id });
    }
    const requests: Readonly<Record<string, (id: string) => LoadRequest>> = {
      'POST shipment': () => shipment(),
      'GET shipment': (id) => ({ method: 'GET', path: `/v1/shipments/${id}` }),
      'list of 20 shipments': () => ({ method: 'GET', path: '/v1/shipments?limit=20' }),
    };
    for (const [what, request] of Object.entries(requests)) {
      const figures = await runInTurns(
        Object.fromEntries(
          versions.map(({ name, server, load, id }) => [name, () => drive(server, load, () => request(id))]),
        ),
      );
      for (const [name, each] of Object.entries(figures)) {
        const ratio = each.cpuMs / (figures['baseline']?.cpuMs ?? each.cpuMs);
        print(`${formatRow(`${what}, ${name}`, each)}  CPU ${ratio.toFixed(2)} of the baseline`);
      }
    }
    for (const { server } of versions) await server.stop();
  });
}
