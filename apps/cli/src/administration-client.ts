import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MAX_PAGE_SIZE } from '@tracking/contracts';
import type { AdministrationStatus, Page } from '@tracking/contracts';
import axios from 'axios';
import type { AxiosInstance, AxiosResponse } from 'axios';
import type { CliConfig } from './config.ts';
import { CliError, RefusedError } from './cli-error.ts';

/** Longer than anything that the service does while a client waits. */
const TIMEOUT_MS = 30_000;

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
      timeout: TIMEOUT_MS,
      signal,
      validateStatus: () => true,
    });
  }

  /** The service that answers; undefined where nothing listens. */
  async status(): Promise<AdministrationStatus | undefined> {
    if (!(await exists(this.config.socketPath))) return undefined;
    await this.refuseForeignSocket();
    try {
      return await this.get<AdministrationStatus>('');
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async get<T>(path: string, params: Readonly<Record<string, string>> = {}): Promise<T> {
    return accepted(await this.http.get<T>(path, { params }));
  }

  /** The first of a list, page by page. @returns the last page asked for, with the data of all of them */
  async list<P extends Page<unknown>>(
    path: string,
    params: Readonly<Record<string, string>>,
    most: number,
  ): Promise<P> {
    const found: unknown[] = [];
    for (let cursor: string | null = null; ;) {
      const limit = String(Math.min(most - found.length, MAX_PAGE_SIZE));
      const page: P = await this.get<P>(path, { ...params, limit, ...(cursor !== null && { cursor }) });
      found.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null || found.length >= most) return { ...page, data: found };
    }
  }

  async post<T>(path: string, body: object = {}): Promise<T> {
    return accepted(await this.http.post<T>(path, body));
  }

  /** Outside the data folder, anybody could have put a socket where ours would be. */
  private async refuseForeignSocket(): Promise<void> {
    const folder = dirname(this.config.socketPath);
    if (folder === this.config.dataDir) return;
    const [socket, data] = await Promise.all([stat(folder), stat(this.config.dataDir)]);
    if (socket.uid !== data.uid || (socket.mode & 0o077) !== 0) {
      throw new CliError(`${folder} does not belong to whoever owns ${this.config.dataDir}`);
    }
  }
}

/** What a request fails with where no service listens (any more): no socket, one that a crash left, one that closes. */
const GONE: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** Of a request alone: a file that is not there is another thing, with the same code. */
export function isGone(error: unknown): boolean {
  return axios.isAxiosError(error) && GONE.has(error.code);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function accepted<T>({ status, data }: AxiosResponse<T>): T {
  if (status >= 200 && status < 300) return data;
  throw RefusedError.of(status, data, ({ details = [] }) =>
    details.map(({ param, message }) => `${param}: ${message}`).join(' '),
  );
}
