import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { container, shipment } from './api.ts';
import { drive, type Figures, type LoadRequest, formatRow, combineFigures } from './load.ts';
import { runCli, startStandalone } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const CONNECTIONS = 64;

/** Returns containers that no other shipment has; each call returns different ones. */
let given = 0;
function createOwnContainers(count: number): readonly string[] {
  given += count;
  return Array.from({ length: count }, (_, at) => container(given - at));
}

interface Case {
  readonly name: string;
  /** Number of containers of each shipment. */
  readonly containers: number;
  /** Number of shipments that share references. */
  readonly sharing: number;
}
const CASES: readonly Case[] = [
  { name: '1 container', containers: 1, sharing: 20_000 },
  { name: '100 containers', containers: 100, sharing: 3_000 },
];

/** Number of alternating turns, so that other load on the machine affects both cases alike. */
const TURNS = 4;

/**
 * Measures writes of shipments that share their house bill and containers with many shipments in transit, as in a
 * consolidation, beside writes of shipments that share nothing, in the same run.
 */
export async function benchSharing(seconds: number): Promise<void> {
  for (const { name, containers, sharing } of CASES) {
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
    try {
      const server = await startStandalone(dataDir);
      const key = await runCli(
        dataDir,
        ...['keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator'],
      );
      const load = { connections: CONNECTIONS, seconds, key };
      const own = (): LoadRequest => shipment({ container_numbers: createOwnContainers(containers) });
      const shared = { house_bill: `SHARED${containers}`, container_numbers: createOwnContainers(containers) };

      await drive(server, { ...load, seconds: 3 }, own);
      print(formatRow(`POST, ${name}, empty store`, await drive(server, load, own)));
      await drive(server, { ...load, amount: sharing }, () => shipment(shared));
      const turns: { readonly byNone: Figures; readonly byMany: Figures }[] = [];
      const turn = { ...load, seconds: Math.ceil(seconds / TURNS) };
      while (turns.length < TURNS) {
        const byNone = await drive(server, turn, own);
        turns.push({ byNone, byMany: await drive(server, turn, () => shipment(shared)) });
      }
      const [byNone, byMany] = [
        combineFigures(turns.map((each) => each.byNone)),
        combineFigures(turns.map((each) => each.byMany)),
      ];
      print(formatRow(`  shared by none`, byNone));
      print(
        `${formatRow(`  by ${sharing} and more`, byMany)}  ${(byMany.rate / byNone.rate).toFixed(2)} of the rate by none`,
      );
      await server.stop();
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}
