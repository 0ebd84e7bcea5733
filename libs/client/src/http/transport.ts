import type { ClientOptions } from '../call.ts';
import { createApiError, ConnectionError, TimeoutError } from '../errors.ts';
import { type HttpResponse, type ApiRequest, type Send, NoResponseError } from './request.ts';
import { createSender } from './sender.ts';

/** Error codes of connections that failed before anything was sent. */
const NOT_SENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
]);

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** Sends single attempts of requests. */
export class Transport {
  private readonly sendOnce: Send;
  private readonly credentials: Readonly<Record<string, string>>;
  private readonly cookie: SessionCookie | undefined;
  private readonly base: string;

  constructor({ baseUrl, apiKey, session, environment, headers, transport }: ClientOptions) {
    if (apiKey !== undefined && session) throw new TypeError('Specify either apiKey or session, not both.');
    if (!/^https?:\/\//.test(baseUrl)) throw new TypeError('baseUrl must start with https:// or http://.');
    this.base = new URL(baseUrl).href.replace(/\/$/, '');
    this.cookie = session ? new SessionCookie(session === true ? undefined : session.cookie) : undefined;
    this.credentials = {
      ...headers,
      ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
      // Pages of other sites cannot send this header, so it protects against cross-site requests.
      ...(session && { 'X-Requested-With': '@tracking/client', Environment: environment ?? 'live' }),
    };
    this.sendOnce = createSender(transport);
  }

  /**
   * Sends one attempt.
   * @param headers headers of this request
   * @param timeout milliseconds until the response is complete, or until a stream starts; 0 for no limit
   * @throws ApiError for a status of 4xx or 5xx, ConnectionError, TimeoutError, and the signal's reason
   */
  async send(
    request: ApiRequest,
    headers: Record<string, string>,
    limits: HttpAttemptTimeoutAndSignal,
  ): Promise<RawResponse> {
    const { status, headers: answered, data } = await this.sendWithTimeout(request, headers, limits);
    const responseHeaders = convertHeadersToRecord(answered);
    if (request.answer === 'stream') {
      if (status < 300) return { status, headers: responseHeaders, data };
      throw createApiError(status, responseHeaders, await readErrorBody(data as ReadableStream<Uint8Array> | null));
    }
    const isApiResponse =
      status === 204 || status === 304 || (status >= 200 && status < 300 && typeof data === 'object');
    if (isApiResponse) {
      this.cookie?.updateCookie(answered['set-cookie'] as readonly string[] | undefined);
      return { status, headers: responseHeaders, data };
    }
    throw createApiError(status, responseHeaders, data);
  }

  private async sendWithTimeout(
    request: ApiRequest,
    headers: Record<string, string>,
    { timeout, signal }: HttpAttemptTimeoutAndSignal,
  ): Promise<HttpResponse> {
    const timeoutController = new AbortController();
    const timer = timeout > 0 ? setTimeout(() => timeoutController.abort(), timeout) : undefined;
    try {
      return await this.sendOnce(
        this.buildRequest(request, headers, AbortSignal.any([signal, timeoutController.signal])),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const options = { cause: error, outcomeUnknown: true };
      if (timeoutController.signal.aborted)
        throw new TimeoutError(`No response arrived within ${timeout} ms.`, options);
      if (!(error instanceof NoResponseError)) throw error;
      const outcomeUnknown = !NOT_SENT_CODES.has(error.code ?? '');
      throw new ConnectionError(`No response arrived: ${error.message}`, { ...options, outcomeUnknown });
    } finally {
      clearTimeout(timer);
    }
  }

  private buildRequest(
    { method, path, query, body, answer, onUpload }: ApiRequest,
    requestHeaders: object,
    signal: AbortSignal,
  ) {
    const isOurs = path.startsWith('/');
    const headers = {
      Accept: answer === 'stream' ? '*/*' : 'application/json',
      ...(isOurs && this.credentials),
      ...requestHeaders,
    };
    return {
      method,
      url: `${isOurs ? this.base : ''}${path}${formatQueryString(query)}`,
      headers: { ...headers, ...(isOurs && this.cookie?.header) },
      withCredentials: isOurs && this.cookie !== undefined,
      signal,
      body,
      onUpload,
      isStream: answer === 'stream',
    };
  }
}

interface HttpAttemptTimeoutAndSignal {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

function formatQueryString(query: ApiRequest['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  // `String()` joins the values of an array with commas.
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString()}`;
}

function convertHeadersToRecord(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name.toLowerCase(), String(value)]],
    ),
  );
}

/** Reads the body of an error, which is always JSON. */
async function readErrorBody(stream: ReadableStream<Uint8Array> | null): Promise<unknown> {
  try {
    return await new Response(stream).json();
  } catch {
    return undefined;
  }
}

/** Stores the session cookie outside browsers. Browsers store the cookie themselves, and scripts cannot read it. */
class SessionCookie {
  constructor(private cookie: string | undefined) {}

  get header(): { readonly Cookie: string } | undefined {
    return this.cookie === undefined ? undefined : { Cookie: this.cookie };
  }

  /**
   * Stores the cookie of a response. @param lines `Set-Cookie` headers of the response; an empty value deletes the
   * cookie
   */
  updateCookie(lines: readonly string[] | undefined): void {
    for (const line of lines ?? []) {
      const [, pair = '', value = ''] = /^\s*((?:__Host-)?session=([^;]*))/.exec(line) ?? [];
      if (pair !== '') this.cookie = value === '' ? undefined : pair;
    }
  }
}
