import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDatabaseAndBrokerProcesses } from '@tracking/system';
import { shipment } from './api.ts';
import { drive, type LoadRequest, formatRow } from './load.ts';
import { CONCURRENCY, QUERIES, measureDeepPages, get, measureQuery, formatMeasured } from './list-queries.ts';
import { residentMiB } from './machine.ts';
import { runCli, startLists, startStandalone, type Server } from './server.ts';
import { buildStore, workspaceOf, otherWorkspaceIds } from './shipment-store.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Measures lists over many shipments of 20 workspaces, beside writes to such a store and to an empty one, and the time
 * to build, start and rebuild the store. A store in the folder `BENCH_DATA_DIR` is built once and kept, because
 * building a million shipments takes long.
 * @param count number of shipments
 */
export async function benchLists(count: number): Promise<void> {
  const { BENCH_DATA_DIR: kept } = process.env;
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'bench-lists-')));
  const emptyDir = await mkdtemp(join(tmpdir(), 'bench-lists-empty-'));
  try {
    const own = await runCli(
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
    const workspaces = otherWorkspaceIds(await readWorkspaceId(dataDir));
    const built = await buildStore(dataDir, count, workspaces);
    print(
      built === undefined
        ? `built earlier, ${await mebibytes(dataDir)} MiB`
        : `built by commands alone: ${built.shipments} shipments, ${built.milestones} milestones in ${built.seconds.toFixed(0)} s, ${await mebibytes(dataDir)} MiB`,
    );

    let server = await startStandalone(dataDir);
    print(
      `read models made of them: ${(server.startMs / 1_000).toFixed(0)} s, ${describeServer(server)}, ${await mebibytes(dataDir)} MiB`,
    );
    await server.stop();
    server = await startStandalone(dataDir);
    print(`start again: ${server.startMs.toFixed(0)} ms, ${describeServer(server)}`);
    await server.stop();
    // Lists are measured alone: after a store was filled, many events are still to be published, and many shipments to
    // be checked.
    const lists = await startLists(dataDir, { COUNT: '0' });
    const asked = await readFile(join(dataDir, 'key'), 'utf8');
    const largest = Array.from({ length: count }, (_, n) => n).filter(
      (n) => workspaceOf(n, workspaces) === workspaces[0],
    );
    print(`lists of the workspace with ${largest.length} of them, 50 a page, ${CONCURRENCY} concurrently:`);
    for (const { name, query, deep } of QUERIES) {
      print(
        `  ${name.padEnd(32)} ${formatMeasured(await measureQuery(lists, asked, query))}${deep ? await measureDeepPages(lists, asked, query) : ''}`,
      );
    }
    print(`after the lists: ${describeServer(lists)}`);
    await lists.stop();
    server = await startStandalone(dataDir);
    print(`published and checked: ${(await waitUntilCaughtUp(server)).toFixed(0)} s`);
    await measureWrites(server, own, dataDir, emptyDir);
    const began = performance.now();
    await runCli(dataDir, 'read-models', 'rebuild', 'shipments');
    const seconds = (performance.now() - began) / 1_000;
    print(
      `read model "shipments" rebuilt in ${seconds.toFixed(0)} s, ${describeServer(server)}, ${await mebibytes(dataDir)} MiB`,
    );
    await server.stop();
  } finally {
    if (kept === undefined) await rm(dataDir, { recursive: true, force: true });
    await rm(emptyDir, { recursive: true, force: true });
  }
}

/**
 * Measures writes to the large store and to an empty one, in turns, so that other load on the machine affects both
 * alike.
 */
async function measureWrites(large: Server, key: string, dataDir: string, emptyDir: string): Promise<void> {
  const empty = await startStandalone(emptyDir);
  const other = await runCli(
    emptyDir,
    'keys',
    'create',
    '--name',
    'bench',
    '--environment',
    'live',
    '--role',
    'operator',
  );
  const load = { connections: 32, seconds: 10 };
  for (const [server, its] of [
    [empty, other],
    [large, key],
  ] as const) {
    await drive(server, { ...load, seconds: 3, key: its }, shipment);
  }
  for (let turn = 0; turn < 2; turn += 1) {
    const beside = await drive(empty, { ...load, key: other }, shipment);
    print(formatRow('POST shipment, empty store', beside));
    print(formatRow(`POST shipment, large store`, await drive(large, { ...load, key }, shipment), beside));
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
  print(formatRow('POST milestone, empty store', beside));
  print(
    formatRow(
      'POST milestone, large store',
      await drive(large, { ...load, key }, await milestonesOf(large, key)),
      beside,
    ),
  );
  print(
    `after the writes: large ${describeServer(large)}, ${await mebibytes(dataDir)} MiB; empty ${describeServer(empty)}`,
  );
  await empty.stop();
}

/** Waits until nothing is left to publish or check. @returns seconds */
async function waitUntilCaughtUp({ managementUrl }: Server): Promise<number> {
  const began = performance.now();
  for (;;) {
    const metrics = await (await fetch(`${managementUrl}/metrics`)).text();
    const lags = [...metrics.matchAll(/^(?:publisher|clock)_lag_seconds\S* (\S+)$/gm)].map(([, lag]) => Number(lag));
    if (lags.length > 0 && lags.every((lag) => lag < 1)) return (performance.now() - began) / 1_000;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

function describeServer(server: Server): string {
  return `${residentMiB(server.pid).toFixed(0)} MiB in memory`;
}

/** The first event in the store. */
export async function readWorkspaceId(dataDir: string): Promise<string> {
  const listed = await runCli(dataDir, 'workspaces', 'list');
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

/**
 * Measures the same lists with read models in the embedded document store and in MongoDB: `MONGODB_URL`, or the engine
 * that `ENGINES_DIR` starts.
 * @param count number of shipments
 */
export async function benchListEngines(count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-list-engines-'));
  const { MONGODB_URL, ENGINES_DIR = '../shared/engines' } = process.env;
  const elsewhere = { eventStoreDbUrl: 'none', kafkaBrokers: 'none' };
  const engines = await startDatabaseAndBrokerProcesses({
    folder,
    enginesDir: ENGINES_DIR,
    ...elsewhere,
    mongoUrl: MONGODB_URL,
  });
  const start = async (name: string, env: Record<string, string>) => {
    const dataDir = join(folder, `${name}-rows`);
    const server = await startLists(dataDir, { COUNT: String(count), ...env });
    const seconds = await readFile(join(dataDir, 'rows-seconds'), 'utf8');
    print(`${name}: read models of ${count} shipments built in ${seconds} s`);
    return { server, key: await readFile(join(dataDir, 'key'), 'utf8') };
  };
  try {
    const embedded = await start('embedded', {});
    const mongo = await start('mongodb', { MONGODB_URL: engines.mongoUrl });
    print(`${''.padEnd(32)} ${'embedded'.padEnd(48)} mongodb`);
    for (const { name, query } of QUERIES) {
      const near = await measureQuery(embedded.server, embedded.key, query);
      const far = await measureQuery(mongo.server, mongo.key, query);
      print(`${name.padEnd(32)} ${formatMeasured(near).padEnd(48)} ${formatMeasured(far)}`);
    }
    await Promise.all([embedded.server.stop(), mongo.server.stop()]);
  } finally {
    await engines.mongo?.stopProcess();
    await rm(folder, { recursive: true, force: true });
  }
}
