import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive, formatRow } from './load.ts';
import { startLists } from './server.ts';

const SHIPMENTS = 5_000;
const PAGES = 50;
const CONNECTIONS = [4, 8, 16, 64, 256, 1_000];

/**
 * Measures pages of ordinary shipments with an increasing number of concurrent clients of one workspace. The baseline
 * is the first row: few clients, whose pages always fit. No request may be refused.
 */
export async function benchListsAtOnce(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-lists-at-once-'));
  const dataDir = join(folder, 'data');
  const server = await startLists(dataDir, { COUNT: String(SHIPMENTS) });
  try {
    const key = await readFile(join(dataDir, 'key'), 'utf8');
    const list = () => ({ method: 'GET', path: `/v1/shipments?limit=${PAGES}` }) as const;
    await drive(server, { connections: 4, seconds: 2, key }, list);
    let few: Awaited<ReturnType<typeof drive>> | undefined;
    for (const connections of CONNECTIONS) {
      const figures = await drive(server, { connections, seconds, key }, list);
      few ??= figures;
      const ratio = `${(figures.rate / few.rate).toFixed(2)} of ${CONNECTIONS[0]} concurrently`;
      process.stdout.write(`${formatRow(`GET ${PAGES} shipments, ${connections} concurrently`, figures)}  ${ratio}\n`);
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
