import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import axios, { type AxiosInstance } from 'axios';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
/** Of this process, what those under test get: they start faster where another has compiled their modules. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
export const inherited = { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };

/** The built product in a process of its own, as a user starts it. */
export interface StandaloneProcess {
  readonly url: string;
  readonly managementUrl: string;
  readonly child: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Ends it and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface EndedProcess {
  readonly code: number | null;
  readonly output: string;
}

function launch(dataDir: string, env: Record<string, string>, wrapper: readonly string[] = []): ChildProcess {
  const [command = '', ...args] = [...wrapper, process.execPath, `${root}apps/standalone/dist/main.js`];
  return spawn(command, args, {
    cwd: root,
    env: { ...inherited, DATA_DIR: dataDir, PORT: '0', MANAGEMENT_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** `NODE_OPTIONS` of a process in which an error of this message is thrown, where nobody catches it, on this signal. */
export function throwOnSignal(signal: NodeJS.Signals, message: string): string {
  const code = `process.on('${signal}', () => { throw new Error('${message}') })`;
  return `--import=data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;
}

/** Starts it and waits for its "listening" line. */
export async function startStandalone(dataDir: string, env: Record<string, string> = {}): Promise<StandaloneProcess> {
  const child = launch(dataDir, env);
  const lines: string[] = [];
  child.stderr?.on('data', (chunk) => lines.push(String(chunk)));
  // With everything that it printed.
  const ended = once(child, 'close');
  const addresses = await new Promise<{ url: string; management_url: string }>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('{') && line.includes('"msg":"listening"')) resolve(JSON.parse(line));
    });
    void ended.then(() => reject(new Error(`it ended before it listened:\n${lines.join('\n')}`)));
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
 * Starts it where it is expected to give up; answers how it ended.
 * @param wrapper a command that runs the rest of its arguments as a command
 */
export async function runToEnd(
  dataDir: string,
  env: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<EndedProcess> {
  const child = launch(dataDir, env, wrapper);
  let output = '';
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Starts it where something is wrong that an operator can put right; answers the one line that says so. */
export async function runRefused(...args: Parameters<typeof runToEnd>): Promise<string> {
  const { code, output } = await runToEnd(...args);
  expect([code, output.trim().split('\n').length]).toEqual([1, 1]);
  return output.trim();
}

/** Runs the command line against a data folder; answers what it printed on standard output. */
export async function runCli(dataDir: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [`${root}apps/cli/dist/main.js`, ...args], {
    cwd: root,
    env: { ...inherited, DATA_DIR: dataDir },
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.trim();
}

/** Makes a key, with the server running or not. */
export function createKey(
  dataDir: string,
  environment = 'live',
  role = 'operator',
  workspace = 'default',
): Promise<string> {
  const options = { name: 'e2e', environment, role, workspace };
  return runCli(dataDir, 'keys', 'create', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]));
}

/** Hands out a folder that is there for as long as the work takes. */
export async function withTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'standalone-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A client of the API that never throws on a status. */
export const createClient = (url: string, key: string): AxiosInstance =>
  axios.create({
    baseURL: url,
    headers: { authorization: `Bearer ${key}` },
    validateStatus: () => true,
    timeout: 30_000,
    proxy: false,
  });

/** Every item of a list, page by page. */
export async function listAll<T>(api: AxiosInstance, path: string): Promise<T[]> {
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
