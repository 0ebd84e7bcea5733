import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shipment } from './api.ts';
import { drive, type Figures, type LoadRequest, formatRow, combineFigures } from './load.ts';
import { runCli, startEdge, startStandalone } from './server.ts';

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

/** Measures a POST without an `Idempotency-Key`, with one, and repeated with the same key, in the same run. */
export async function benchIdempotency(seconds: number): Promise<void> {
  await withDataFolder(async (dataDir) => {
    const server = await startStandalone(dataDir);
    const key = await runCli(
      dataDir,
      'keys',
      'create',
      '--name',
      'bench',
      '--environment',
      'live',
      '--role',
      'operator',
    );
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
