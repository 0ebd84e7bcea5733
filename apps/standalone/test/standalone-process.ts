import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import axios, { type AxiosInstance } from 'axios';

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url));
const execFileAsync = promisify(execFile);
/** Environment variables that tested processes inherit. A shared compile cache lets them start faster. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
export const INHERITED_ENVIRONMENT = { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };

/** Process of the built server, started like a user starts it. */
export interface StandaloneProcess {
  readonly url: string;
  readonly managementUrl: string;
  readonly child: ChildProcess;
  /** Returns everything that the process has printed so far. */
  output(): string;
  /** Sends the signal and waits until the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface EndedProcess {
  readonly code: number | null;
  readonly output: string;
}

/** Starts the server without waiting for it. */
export function spawnStandaloneProcess(
  dataDir: string,
  env: Record<string, string> = {},
  wrapper: readonly string[] = [],
): ChildProcess {
  const [command = '', ...args] = [...wrapper, process.execPath, `${repositoryRoot}apps/standalone/dist/main.js`];
  return spawn(command, args, {
    cwd: repositoryRoot,
    env: {
      ...INHERITED_ENVIRONMENT,
      DATA_DIR: dataDir,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      SHUTDOWN_DRAIN: '1ms',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Returns `NODE_OPTIONS` for a process that throws an uncaught error with this message on this signal. */
export function createNodeOptionsToThrowOnSignal(signal: NodeJS.Signals, message: string): string {
  const code = `process.on('${signal}', () => { throw new Error('${message}') })`;
  return `--import=data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;
}

/** Starts the server and waits for its "listening" line. */
export async function startStandaloneProcess(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<StandaloneProcess> {
  const child = spawnStandaloneProcess(dataDir, env);
  const lines: string[] = [];
  child.stderr?.on('data', (chunk) => lines.push(String(chunk)));
  // Waits until all output of the process was received.
  const ended = once(child, 'close');
  const addresses = await new Promise<{ url: string; management_url: string }>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('{') && line.includes('"msg":"listening"')) resolve(JSON.parse(line));
    });
    void ended.then(() => reject(new Error(`the standalone process ended before it listened:\n${lines.join('\n')}`)));
  });
  return {
    url: addresses.url,
    managementUrl: addresses.management_url,
    child,
    output: () => lines.join('\n'),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
}

/**
 * Starts the server, which must exit on its own, and returns its exit code and output.
 * @param wrapper command that runs its remaining arguments as a command
 */
export async function runServerUntilExit(
  dataDir: string,
  env: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<EndedProcess> {
  const child = spawnStandaloneProcess(dataDir, env, wrapper);
  let output = '';
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Starts the server with an invalid configuration and returns the one line that reports it. */
export async function runServerUntilStartFails(...args: Parameters<typeof runServerUntilExit>): Promise<string> {
  const { code, output } = await runServerUntilExit(...args);
  expect([code, output.trim().split('\n').length]).toEqual([1, 1]);
  return output.trim();
}

/** Runs the command line with a data folder and returns its standard output. */
export async function runCliProcessForOutput(dataDir: string, ...args: string[]): Promise<string> {
  const { stdout } = await execFileAsync(process.execPath, [`${repositoryRoot}apps/cli/dist/main.js`, ...args], {
    cwd: repositoryRoot,
    env: { ...INHERITED_ENVIRONMENT, DATA_DIR: dataDir },
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.trim();
}

/** Creates an API key, whether or not the server is running. */
export function createKey(
  dataDir: string,
  environment = 'live',
  role = 'operator',
  workspace = 'default',
): Promise<string> {
  const options = { name: 'e2e', environment, role, workspace };
  return runCliProcessForOutput(
    dataDir,
    'keys',
    'create',
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  );
}

/** Creates a temporary folder for the duration of the work. */
export async function withTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'standalone-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates a client of the API that does not throw on error statuses. */
export const createTestApiClient = (url: string, key: string): AxiosInstance =>
  axios.create({
    baseURL: url,
    headers: { authorization: `Bearer ${key}` },
    validateStatus: () => true,
    timeout: 30_000,
    proxy: false,
  });

/** Reads all items of a list, page by page. */
export async function listAllItems<T>(api: AxiosInstance, path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const response: { status: number; data: { data: T[]; next_cursor: string | null } } = await api.get<{
      data: T[];
      next_cursor: string | null;
    }>(path, {
      params: { limit: 200, ...(cursor !== null && { cursor }) },
    });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.data)}`);
    items.push(...response.data.data);
    cursor = response.data.next_cursor;
  } while (cursor !== null);
  return items;
}
