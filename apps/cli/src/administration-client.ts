import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { type AdministrationStatus, DATA_FOLDER_IN_USE_EXIT_CODE, MAX_PAGE_SIZE, type Page } from '@tracking/contracts';
import { type CliConfig, CliError, RefusedError } from './config.ts';

/** Timeout of a request, longer than any operation of the service takes. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Error codes of a request when no service listens: the socket is missing, was left by a crash, or is closing. */
const NOT_LISTENING_CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** The administration API, over its socket or a gateway's management port. */
export class AdministrationClient {
  private readonly http: AxiosInstance;

  constructor(
    private readonly config: Pick<CliConfig, 'dataDir' | 'socketPath' | 'remote'>,
    signal: AbortSignal,
  ) {
    const { remote, socketPath } = config;
    this.http = axios.create({
      ...(remote
        ? { baseURL: `${remote.url}/administration`, headers: { authorization: `Bearer ${remote.token}` } }
        : { baseURL: 'http://administration/administration', socketPath }),
      proxy: false,
      maxRedirects: 0,
      timeout: REQUEST_TIMEOUT_MS,
      signal,
      validateStatus: () => true,
    });
  }

  /** Returns the status of the running service; undefined if none listens. */
  async status(): Promise<AdministrationStatus | undefined> {
    if (!(await exists(this.config.socketPath))) return undefined;
    await this.requireOwnedFolder();
    try {
      return await this.get<AdministrationStatus>('');
    } catch (error) {
      if (isNotListening(error)) return undefined;
      throw error;
    }
  }

  async get<T>(path: string, params: Readonly<Record<string, string>> = {}): Promise<T> {
    return requireSuccess(await this.http.get<T>(path, { params }));
  }

  /** Reads up to `maxItems` items of a list, page by page. @returns the last page, with the items of all pages */
  async list<P extends Page<unknown>>(
    path: string,
    params: Readonly<Record<string, string>>,
    maxItems: number,
  ): Promise<P> {
    const items: unknown[] = [];
    for (let cursor: string | null = null; ;) {
      const limit = String(Math.min(maxItems - items.length, MAX_PAGE_SIZE));
      const page: P = await this.get<P>(path, { ...params, limit, ...(cursor !== null && { cursor }) });
      items.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null || items.length >= maxItems) return { ...page, data: items };
    }
  }

  async post<T>(path: string, body: object = {}): Promise<T> {
    return requireSuccess(await this.http.post<T>(path, body));
  }

  /** Checks the owner of a socket folder outside the data folder, where another user could have created a socket. */
  private async requireOwnedFolder(): Promise<void> {
    const folder = dirname(this.config.socketPath);
    if (folder === this.config.dataDir) return;
    const [socket, data] = await Promise.all([stat(folder), stat(this.config.dataDir)]);
    if (socket.uid !== data.uid || (socket.mode & 0o077) !== 0) {
      throw new CliError(`${folder} and ${this.config.dataDir} have different owners`);
    }
  }
}

/**
 * Returns true if the request failed because no service listens. File errors share these codes, so do not use this
 * function for them.
 */
export function isNotListening(error: unknown): boolean {
  return axios.isAxiosError(error) && NOT_LISTENING_CODES.has(error.code);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function requireSuccess<T>({ status, data }: AxiosResponse<T>): T {
  if (status >= 200 && status < 300) return data;
  throw RefusedError.of(status, data, ({ details = [] }) =>
    details.map(({ param, message }) => `${param}: ${message}`).join(' '),
  );
}

const POLL_MS = 50;
/** Maximum wait for a starting service to open its socket, or for other runs of the command line to finish. */
const RETRY_TIMEOUT_MS = 30_000;

/** @param isServing true if the service also delivers webhooks; false for one that was started for this command */
type ServiceTask<T> = (client: AdministrationClient, isServing: boolean) => Promise<T>;

/**
 * Calls `use` with a client of the configured remote service, or of the service on the data folder. If no service runs
 * there, starts one without HTTP and stops it afterwards. If the running service stops during the call, starts over and
 * calls `use` again.
 * @param note receives the path of the data folder
 */
export async function withService<T>(
  config: CliConfig,
  signal: AbortSignal,
  note: (line: string) => void,
  use: ServiceTask<T>,
): Promise<T> {
  const client = new AdministrationClient(config, signal);
  if (config.remote) return use(client, true);
  note(`data folder: ${config.dataDir}${existsSync(config.dataDir) ? '' : ' (created)'}`);
  for (const deadline = performance.now() + RETRY_TIMEOUT_MS; ; await pause(POLL_MS, undefined, { signal })) {
    const isLast = performance.now() > deadline;
    const attempt = (await client.status()) ? useRunningService : useOwnService;
    const done = await attempt({ config, client, signal, isLast, use });
    if (done) return done.result;
  }
}

interface Attempt<T> {
  readonly config: CliConfig;
  readonly client: AdministrationClient;
  readonly signal: AbortSignal;
  /** True for the last attempt, whose error is thrown. */
  readonly isLast: boolean;
  readonly use: ServiceTask<T>;
}

/** Runs the task on the running service. @returns undefined if the service stopped during the task */
async function useRunningService<T>({ client, isLast, use }: Attempt<T>): Promise<{ readonly result: T } | undefined> {
  try {
    return { result: await use(client, true) };
  } catch (error) {
    if (isLast || !isNotListening(error)) throw error;
    return undefined;
  }
}

/**
 * Runs the task on a service that this process starts and stops. @returns undefined if another process locked the data
 * folder first
 */
async function useOwnService<T>(attempt: Attempt<T>): Promise<{ readonly result: T } | undefined> {
  const { config, client, signal, isLast, use } = attempt;
  const ownService = new OwnService(config);
  try {
    if (await ownService.isReady(client, signal)) return { result: await use(client, false) };
    if (isLast) throw ownService.startError();
    return undefined;
  } finally {
    await ownService.stop();
  }
}

const SERVICE_START_POLL_MS = 20;
/** Maximum time until an own service responds. Opening a large data folder after a crash is slow. */
const START_TIMEOUT_MS = 60_000;
/** Time before a service that does not stop is killed. The service itself waits up to 20 s for its work. */
const STOP_TIMEOUT_MS = 25_000;

/** A service without HTTP that this process started and must stop. */
class OwnService {
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private hasEnded = false;
  private errorOutput = '';

  /** @throws CliError if the service is not built */
  constructor({ serviceMain, serviceEnvironment }: CliConfig) {
    if (!existsSync(serviceMain))
      throw new CliError('the service is not built: run npm run build first', 'unavailable');
    this.child = spawn(process.execPath, [serviceMain, '--administration'], {
      env: serviceEnvironment,
      // When this process ends for any reason, the pipe closes and the service stops.
      stdio: ['pipe', 'ignore', 'pipe'],
      // Ctrl-C must not reach the service: `stop` ends it after its request.
      detached: true,
    });
    this.child.stdin?.on('error', () => undefined);
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errorOutput = (this.errorOutput + text).slice(-4_000);
    });
    this.ended = new Promise((resolve) => {
      const handleEnd = () => {
        this.hasEnded = true;
        resolve();
      };
      this.child.once('error', handleEnd).once('close', handleEnd);
    });
  }

  /**
   * Waits until the service responds. Returns false if another process has locked the data folder.
   * @throws CliError if the service cannot start for any other reason
   */
  async isReady(client: AdministrationClient, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (; !this.hasEnded; await pause(SERVICE_START_POLL_MS, undefined, { signal })) {
      if ((await client.status())?.process_id === this.child.pid) return true;
      if (performance.now() > deadline) throw new CliError('the service did not start within 60 s', 'unavailable');
    }
    if (this.child.exitCode === DATA_FOLDER_IN_USE_EXIT_CODE) return false;
    throw this.startError();
  }

  /** Terminates the service and waits until it has ended; kills it after a timeout. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.child.kill('SIGTERM');
    const killTimer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(killTimer);
  }

  /**
   * Returns an error with the most informative line of the service's error output: the first line of its last error, or
   * else the last line.
   */
  startError(): CliError {
    const lines = this.errorOutput.split('\n').filter((line) => line.trim() !== '');
    const reason = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
    const exitStatus = this.child.signalCode ?? `exit code ${String(this.child.exitCode)}`;
    return new CliError(reason ?? `the service could not be started (${exitStatus})`, 'unavailable');
  }
}
