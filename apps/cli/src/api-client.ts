import axios from 'axios';
import type { AxiosInstance } from 'axios';
import { CliError, RefusedError } from './cli-error.ts';

/** Longer than the service waits for an endpoint that is being verified. */
const TIMEOUT_MS = 60_000;

/** The public API, as any client uses it. */
export class ApiClient {
  private readonly http: AxiosInstance;

  constructor(
    private readonly url: string,
    key: string,
  ) {
    this.http = axios.create({
      baseURL: url,
      headers: { authorization: `Bearer ${key}` },
      proxy: false,
      maxRedirects: 0,
      timeout: TIMEOUT_MS,
      validateStatus: () => true,
    });
  }

  post<T>(path: string, body?: object): Promise<T> {
    return this.call('POST', path, body);
  }

  async delete(path: string): Promise<void> {
    await this.call('DELETE', path);
  }

  /** @throws RefusedError, CliError */
  private async call<T>(method: string, path: string, body?: object): Promise<T> {
    const { status, data } = await this.http.request<T>({ method, url: path, data: body }).catch((error: Error) => {
      throw new CliError(`no answer from ${this.url}: ${error.message}`, 'unavailable');
    });
    if (status >= 200 && status < 300) return data;
    throw RefusedError.of(status, data, ({ details = [] }) => details.map(({ message }) => message).join(' '));
  }
}
