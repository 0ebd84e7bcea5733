import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive, type Figures, type LoadRequest, formatRow } from './load.ts';
import { startEdge, type Server } from './server.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
/** Number of concurrent sign-ins, below the maximum that may wait for a hash. */
const SIGN_IN_CONCURRENCY = 16;

interface Delay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Measures sign-ins per second and other requests meanwhile. The throttle is disabled, but the hashing is not. */
export async function benchSignIn(seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const server = await startEdge(dataDir, 'limit');
    const key = await readFile(join(dataDir, 'key'), 'utf8');
    const read = { connections: 1, seconds, key };
    const asked: LoadRequest = { method: 'GET', path: '/v1/webhook_endpoints' };
    await drive(server, { ...read, seconds: 3 }, () => asked);
    const quiet = await measureMeanwhile(server, dataDir, () => drive(server, read, () => asked));
    print(`${formatRow('GET, sequential, alone', quiet.figures)}${formatDelay(quiet.delay)}`);
    const cases = { 'right password': 'bench@example.com', 'unknown e-mail': 'nobody@example.com' };
    for (const [name, email] of Object.entries(cases)) {
      const load = { connections: SIGN_IN_CONCURRENCY, seconds };
      const reading = async () => {
        const [signingIn, reads] = await Promise.all([
          drive(server, load, () => signIn(email)),
          drive(server, read, () => asked),
        ]);
        print(formatRow(`sign-in, ${name}`, signingIn));
        return reads;
      };
      const { figures, delay } = await measureMeanwhile(server, dataDir, reading);
      print(`${formatRow('  GET, sequential, meanwhile', figures)}${formatDelay(delay)}`);
    }
    await server.stop();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A refused sign-in counts as failed, which is expected. */
function signIn(email: string): LoadRequest {
  const body = JSON.stringify({ email, password: 'violet harbour crane' });
  return { method: 'POST', path: '/v1/session', body, headers: { 'x-requested-with': 'bench' } };
}

/** Measures the delay of the server's event loop during some work. */
async function measureMeanwhile(
  server: Server,
  dataDir: string,
  work: () => Promise<Figures>,
): Promise<{ readonly figures: Figures; readonly delay: Delay }> {
  await delayOf(server, dataDir);
  const figures = await work();
  return { figures, delay: await delayOf(server, dataDir) };
}

/** Resets the delay to the time of this request. */
async function delayOf({ pid }: Server, dataDir: string): Promise<Delay> {
  const file = join(dataDir, 'event-loop-delay');
  const before = await readModifiedTime(file);
  process.kill(pid, 'SIGUSR2');
  while ((await readModifiedTime(file)) === before) await new Promise((resolve) => setTimeout(resolve, 10));
  return JSON.parse(await readFile(file, 'utf8')) as Delay;
}

async function readModifiedTime(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function formatDelay({ p50, p99, max }: Delay): string {
  return `  event loop late by p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  max ${max.toFixed(1)} ms`;
}
