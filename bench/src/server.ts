import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NODE_FLAGS } from '@tracking/system';
import { findFreePort } from '@tracking/testing';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A measured server in its own process. */
export interface Server {
  readonly url: string;
  readonly managementUrl: string;
  readonly pid: number;
  /** Milliseconds from spawn to the first 200 of the readiness check. */
  readonly startMs: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  // Maximum time of a start. A start on a store without read models builds them first, which takes minutes for a
  // million shipments.
  const began = Date.now();
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}`);
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    const waited = Date.now() - began;
    if (waited > 3_600_000) throw new Error('the server did not become ready');
    // Checks become less frequent over time, because each check takes CPU from the measurement.
    await new Promise((resolve) => setTimeout(resolve, Math.max(5, waited / 1_000)));
  }
}

/** Servers of this process, which are killed when it exits for any reason. */
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

async function start(script: string, readiness: string, env: Record<string, string>, checkout = root): Promise<Server> {
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const before = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, join(checkout, script)], {
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      // For example for a CPU profile of each thread: --cpu-prof --cpu-prof-dir=/tmp/profile
      NODE_OPTIONS: process.env['SERVER_NODE_OPTIONS'],
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const url = `http://127.0.0.1:${port}`;
  await ready(url + readiness, child);
  return {
    url,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    pid: child.pid ?? 0,
    startMs: performance.now() - before,
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}

/**
 * Starts the standalone server on this data folder, with a rate limit that no benchmark reaches.
 * @param checkout folder of the built project; another one than this measures another version
 */
export const startStandalone = (
  dataDir: string,
  env: Record<string, string> = {},
  checkout?: string,
): Promise<Server> =>
  start(
    'apps/standalone/dist/main.js',
    '/health/ready',
    { DATA_DIR: dataDir, RATE_LIMIT_PER_MINUTE: '1000000000', ...env },
    checkout,
  );

/** Starts the counting webhook receiver, or the baseline that only signs and sends. */
export const startReceiver = (): Promise<Server> => start('bench/dist/receiver-server.js', '/stats', {});
export const startSender = (): Promise<Server> => start('bench/dist/sender-server.js', '/', {});

/** Starts a bare Nest and Fastify route with the same request form and validation and no further work. */
export const startBaseline = (): Promise<Server> => start('bench/dist/baseline-server.js', '/ready', {});

/** Starts the edge alone, see `edge-server.ts`. */
export const startEdge = (dataDir: string, without: string): Promise<Server> =>
  start('bench/dist/edge-server.js', '/health/ready', { DATA_DIR: dataDir, WITHOUT: without });

/** Starts lists alone, see `lists-server.ts`. */
export const startLists = (dataDir: string, env: Record<string, string>): Promise<Server> =>
  start('bench/dist/lists-server.js', '/health/ready', { DATA_DIR: dataDir, ...env });

/** Starts the bare file server, see `files-server.ts`. */
export const startFiles = (dataDir: string): Promise<Server> =>
  start('bench/dist/files-server.js', '/ready', { DATA_DIR: dataDir });

/** Runs the command line with a data folder; returns its output. */
export const runCli = (dataDir: string, ...args: string[]): Promise<string> => runCliOf(root, dataDir, ...args);

/** Runs the command line of another built checkout of the project with a data folder; returns its output. */
export async function runCliOf(checkout: string, dataDir: string, ...args: string[]): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [join(checkout, 'apps/cli/dist/main.js'), ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.trim();
}

/** Runs the command line with the services. */
export async function runRemoteCli(
  administration: { readonly url: string; readonly token: string },
  args: readonly string[],
): Promise<string> {
  const env = { ADMINISTRATION_URL: administration.url, ADMINISTRATION_TOKEN: administration.token };
  const { stdout } = await promisify(execFile)(process.execPath, [`${root}apps/cli/dist/main.js`, ...args], { env });
  return stdout.trim();
}
