import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import {
  type AdministrationApiStatus,
  DATA_FOLDER_IN_USE_EXIT_CODE,
  MAX_PAGE_SIZE,
  type Page,
} from '@tracking/contracts';
import { type CliConfig, CliError, RefusedError } from './config.ts';

/** Timeout of a request in milliseconds. It exceeds the duration of every operation of the service. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Error codes of a request when no service listens: the socket is missing, was left by a crash, or is closing. */
const NOT_LISTENING_CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/**
 * Statuses that do not show whether the service has executed the request: a proxy sent the response, or an engine was
 * unavailable.
 */
const UNKNOWN_OUTCOME_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);
/** Error codes of a request whose response is lost: a timeout, or a response that ends early. */
const LOST_RESPONSE_CODES: ReadonlySet<unknown> = new Set(['ECONNABORTED', 'ETIMEDOUT', 'ERR_BAD_RESPONSE']);
/** Error codes of a connection that broke after the request may have been sent. */
const BROKEN_CONNECTION_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** Milliseconds during which a write is sent again after its first response was lost. */
const WRITE_RETRY_TIMEOUT_MS = 30_000;
const FIRST_RETRY_PAUSE_MS = 200;
const MAX_RETRY_PAUSE_MS = 5_000;

/** Client of the administration API, over the service's socket or a gateway's management port. */
export class AdministrationClient {
  private readonly http: AxiosInstance;
  /**
   * Secret of this run of the command line. The idempotency key of a write derives from it and from the write's
   * content, so the write has the same key if the command starts over on another service.
   */
  private readonly runSecret = randomBytes(32);

  constructor(
    private readonly config: Pick<CliConfig, 'dataDir' | 'socketPath' | 'remote'>,
    private readonly signal: AbortSignal,
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
  async readServiceStatus(): Promise<AdministrationApiStatus | undefined> {
    if (!(await fileExists(this.config.socketPath))) return undefined;
    await this.requireOwnedSocketFolder();
    try {
      return await this.getJson<AdministrationApiStatus>('');
    } catch (error) {
      if (isNoServiceListening(error)) return undefined;
      throw error;
    }
  }

  async getJson<T>(path: string, params: Readonly<Record<string, string>> = {}): Promise<T> {
    return requireSuccessStatus(await this.http.get<T>(path, { params }));
  }

  /** Reads up to `maxItems` items of a list, page by page. @returns the last page, with the items of all pages */
  async readListItemsPageByPage<P extends Page<unknown>>(
    path: string,
    params: Readonly<Record<string, string>>,
    maxItems: number,
  ): Promise<P> {
    const items: unknown[] = [];
    for (let cursor: string | null = null; ;) {
      const limit = String(Math.min(maxItems - items.length, MAX_PAGE_SIZE));
      const page: P = await this.getJson<P>(path, { ...params, limit, ...(cursor !== null && { cursor }) });
      items.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null || items.length >= maxItems) return { ...page, data: items };
    }
  }

  /**
   * Sends a write, and sends it again if its response is lost. The service executes the write once, and returns the
   * first response again. Equal writes of one command are therefore executed only once.
   */
  async postJsonWithRetries<T>(path: string, body: object = {}): Promise<T> {
    const content = JSON.stringify([path, body]);
    const headers = { 'idempotency-key': createHmac('sha256', this.runSecret).update(content).digest('hex') };
    // Time when the first response was lost.
    let deadline: number | undefined;
    for (let pauseMs = FIRST_RETRY_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_PAUSE_MS)) {
      const isLast = deadline !== undefined && performance.now() > deadline;
      try {
        const response = await this.http.post<T>(path, body, { headers });
        if (isLast || !hasUnknownOutcome(response)) return requireSuccessStatus(response);
      } catch (error) {
        if (isLast || !this.shouldResendRequest(error, deadline !== undefined)) throw error;
      }
      deadline ??= performance.now() + WRITE_RETRY_TIMEOUT_MS;
      await pause(pauseMs, undefined, { signal: this.signal });
    }
  }

  /**
   * Returns true if the request should be sent again after an error of its connection. If a local service stops,
   * `runTaskOnRunningOrTemporaryService` starts over instead, possibly with its own service.
   * @param wasSent true if an earlier attempt may have reached the service, so a refused connection is temporary
   */
  private shouldResendRequest(error: unknown, wasSent: boolean): boolean {
    if (!axios.isAxiosError(error) || this.signal.aborted) return false;
    if (LOST_RESPONSE_CODES.has(error.code)) return true;
    return this.config.remote !== undefined && (wasSent || BROKEN_CONNECTION_CODES.has(error.code));
  }

  /** Checks the owner of a socket folder outside the data folder, where another user could have created a socket. */
  private async requireOwnedSocketFolder(): Promise<void> {
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
export function isNoServiceListening(error: unknown): boolean {
  return axios.isAxiosError(error) && NOT_LISTENING_CODES.has(error.code);
}

async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function hasUnknownOutcome({ status, data }: AxiosResponse): boolean {
  const { code } = (Object(data) as { readonly error?: { readonly code?: unknown } }).error ?? {};
  return UNKNOWN_OUTCOME_STATUSES.has(status) || code === 'idempotency_in_progress';
}

function requireSuccessStatus<T>({ status, data }: AxiosResponse<T>): T {
  if (status >= 200 && status < 300) return data;
  throw RefusedError.createRefusedErrorFromResponse(status, data, ({ details = [] }) =>
    details.map(({ param, message }) => `${param}: ${message}`).join(' '),
  );
}

const SOCKET_POLL_INTERVAL_MS = 50;
/** Maximum milliseconds to wait until a starting service opens its socket, or other runs of the command line finish. */
const RETRY_TIMEOUT_MS = 30_000;

/** @param isServing true if the service also delivers webhooks; false for one that was started for this command */
type ServiceTask<T> = (client: AdministrationClient, isServing: boolean) => Promise<T>;

/**
 * Calls `use` with a client of the configured remote service, or of the service on the data folder. If no service runs
 * there, starts one without HTTP and stops it afterwards. If the service stops during the call, for example because a
 * server takes over the data folder, starts over and calls `use` again. Fails if a service that it started fails a second
 * time.
 * @param note receives the path of the data folder
 */
export async function runTaskOnRunningOrTemporaryService<T>(
  config: CliConfig,
  signal: AbortSignal,
  note: (line: string) => void,
  use: ServiceTask<T>,
): Promise<T> {
  const client = new AdministrationClient(config, signal);
  if (config.remote) return use(client, true);
  note(`data folder: ${config.dataDir}${existsSync(config.dataDir) ? '' : ' (created)'}`);
  let ownServiceFailures = 0;
  for (
    let deadline = performance.now() + RETRY_TIMEOUT_MS;
    ;
    await pause(SOCKET_POLL_INTERVAL_MS, undefined, { signal })
  ) {
    const isLast = performance.now() > deadline;
    const isServing = (await client.readServiceStatus()) !== undefined;
    try {
      if (isServing) return await use(client, true);
      const outcome = await runOnTemporaryService({ config, client, signal, isLast, use });
      if (outcome === 'released') deadline = performance.now() + RETRY_TIMEOUT_MS;
      else if (outcome !== 'locked') return outcome.result;
    } catch (error) {
      ownServiceFailures += isServing ? 0 : 1;
      if (isLast || ownServiceFailures > 1 || !isNoServiceListening(error)) throw error;
    }
  }
}

interface ServiceCallAttemptOptions<T> {
  readonly config: CliConfig;
  readonly client: AdministrationClient;
  readonly signal: AbortSignal;
  /** True for the last attempt. Its error is thrown. */
  readonly isLast: boolean;
  readonly use: ServiceTask<T>;
}

/**
 * Runs the task on a service that this process starts and stops. Returns `locked` if another process locked the data
 * folder first, and `released` if the service ended during the task because a server takes over the folder.
 */
async function runOnTemporaryService<T>(
  attempt: ServiceCallAttemptOptions<T>,
): Promise<{ readonly result: T } | 'locked' | 'released'> {
  const { config, client, signal, isLast, use } = attempt;
  const ownService = new TemporaryServiceProcess(config);
  try {
    if (await ownService.waitUntilServiceResponds(client, signal)) return { result: await use(client, false) };
    if (isLast) throw ownService.createStartError();
    return 'locked';
  } catch (error) {
    if (isNoServiceListening(error) && (await ownService.waitForOrderlyExit())) return 'released';
    throw error;
  } finally {
    await ownService.terminateOrKillServiceProcess();
  }
}

const SERVICE_START_POLL_MS = 20;
/** Maximum milliseconds until a service of this process responds. Opening a large data folder after a crash is slow. */
const START_TIMEOUT_MS = 60_000;
/** Milliseconds before a service that does not stop is killed. The service itself waits up to 20 s for its work. */
const STOP_TIMEOUT_MS = 25_000;

/** A service without HTTP that this process started and must stop. */
class TemporaryServiceProcess {
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private hasEnded = false;
  private errorOutput = '';

  /** Starts the service. @throws CliError if the service is not built */
  constructor({ serviceMain, serviceEnvironment }: CliConfig) {
    if (!existsSync(serviceMain))
      throw new CliError('the service cannot start because it is not built: run npm run build first', 'unavailable');
    this.child = spawn(process.execPath, [serviceMain, '--administration'], {
      env: serviceEnvironment,
      // The pipe closes when this process ends for any reason, and then the service stops.
      stdio: ['pipe', 'ignore', 'pipe'],
      // Ctrl-C must not end the service in the middle of a request: `terminateOrKillServiceProcess` ends the service after that request.
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
  async waitUntilServiceResponds(client: AdministrationClient, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (; !this.hasEnded; await pause(SERVICE_START_POLL_MS, undefined, { signal })) {
      if ((await client.readServiceStatus())?.process_id === this.child.pid) return true;
      if (performance.now() > deadline) throw new CliError('the service did not start within 60 s', 'unavailable');
    }
    // A server may also have asked the service to end before it was used.
    if (this.child.exitCode === DATA_FOLDER_IN_USE_EXIT_CODE || this.child.exitCode === 0) return false;
    throw this.createStartError();
  }

  /** Waits until a service that no longer listens has ended. Returns true if it ended in order, without `terminateOrKillServiceProcess`. */
  async waitForOrderlyExit(): Promise<boolean> {
    await Promise.race([this.ended, pause(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    return this.hasEnded && this.child.exitCode === 0;
  }

  /** Terminates the service and waits until it has ended; kills it after a timeout. */
  async terminateOrKillServiceProcess(): Promise<void> {
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
  createStartError(): CliError {
    const lines = this.errorOutput.split('\n').filter((line) => line.trim() !== '');
    const reason = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
    const exitStatus = this.child.signalCode ?? `exit code ${String(this.child.exitCode)}`;
    return new CliError(reason ?? `the service could not be started (${exitStatus})`, 'unavailable');
  }
}
