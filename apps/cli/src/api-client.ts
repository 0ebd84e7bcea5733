import type { ErrorBody } from '@tracking/contracts';
import axios from 'axios';
import type { AxiosInstance } from 'axios';
import { CliError } from './cli-error.ts';

/** Longer than the service waits for an endpoint that is being verified. */
const TIMEOUT_MS = 60_000;

/** A request that the API refused. */
export class ApiError extends CliError {
  constructor(
    message: string,
    /** The faulty fields, if it is about fields. */
    readonly params: readonly string[],
  ) {
    super(message);
  }
}

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

  /** @throws ApiError, CliError */
  private async call<T>(method: string, path: string, body?: object): Promise<T> {
    const { status, data } = await this.http.request<T>({ method, url: path, data: body }).catch((error: Error) => {
      throw new CliError(`no answer from ${this.url}: ${error.message}`);
    });
    if (status >= 200 && status < 300) return data;
    const { error } = data as Partial<ErrorBody>;
    const details = error?.details ?? [];
    const message = details.map(({ message }) => message).join(' ') || error?.message || `status ${status}`;
    throw new ApiError(
      message,
      details.map(({ param }) => param),
    );
  }
}
