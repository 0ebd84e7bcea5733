import type { RequestOptions } from '../call.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Progress of an upload or download. */
export interface Progress {
  readonly loaded: number;
  /** Total number of bytes; undefined if unknown. */
  readonly total: number | undefined;
}

/** A request to the API. All its attempts are equal. */
export interface ApiRequest extends RequestOptions {
  readonly method: Method;
  /** Path below the API's base URL, or an absolute URL, which is requested without credentials. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  /** Request body: a JSON value or an upload. */
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly strict?: boolean;
  readonly idempotencyKey?: string;
  /**
   * Result of a DELETE whose retry returns 404. An earlier attempt with an unknown outcome may have deleted the
   * resource.
   */
  readonly resultIfDeleted?: unknown;
  /** True for a sign-out. If the session has already ended, a retry gets 401, where other deletions get 404. */
  readonly endsOwnSession?: boolean;
  /** Response format; `stream` returns a `ReadableStream` of the bytes. */
  readonly answer?: 'json' | 'stream';
  readonly onUpload?: (progress: Progress) => void;
}

/** One attempt of a request. */
export interface OutgoingRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True if a browser also sends its cookies to another origin. */
  readonly withCredentials: boolean;
  readonly signal: AbortSignal;
  /** Request body. An object is sent as JSON; undefined sends no body. */
  readonly body: unknown;
  readonly onUpload: ((progress: Progress) => void) | undefined;
  /** True if the response is a `ReadableStream` of its bytes. */
  readonly isStream: boolean;
}

export interface HttpResponse {
  /** HTTP status of the response. At this level, no status is an error. */
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Response body: a parsed JSON value, or text; null for a stream without a body. */
  readonly data: unknown;
}

/** Sends one attempt. @throws NoResponseError */
export type Send = (request: OutgoingRequest) => Promise<HttpResponse>;

/** The server did not respond, or the signal aborted the request before a response. */
export class NoResponseError extends Error {
  /** @param code error code of Node, for example `ECONNREFUSED`; undefined if unknown */
  constructor(
    message: string,
    readonly code: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}
