import type { RequestOptions } from '../call.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Progress of an upload or download. */
export interface Progress {
  readonly loaded: number;
  /** Undefined if unknown. */
  readonly total: number | undefined;
}

/** A request to the API, equal for all attempts. */
export interface ApiRequest extends RequestOptions {
  readonly method: Method;
  /** Path below the address of the API, or a whole URL, which is requested without credentials. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  /** A JSON value or an upload. */
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly strict?: boolean;
  readonly idempotencyKey?: string;
  /**
   * Result of a DELETE whose retry finds nothing, because an earlier attempt with unknown outcome may have deleted it.
   */
  readonly resultIfDeleted?: unknown;
  /** The retry of a sign-out finds no session, so it gets 401 instead of 404. */
  readonly endsOwnSession?: boolean;
  /** `stream`: a `ReadableStream` of the bytes. */
  readonly answer?: 'json' | 'stream';
  readonly onUpload?: (progress: Progress) => void;
}

/** One attempt of a request. */
export interface Outgoing {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True if a browser also sends its cookies to another origin. */
  readonly withCredentials: boolean;
  readonly signal: AbortSignal;
  /** An object is sent as JSON; undefined sends no body. */
  readonly body: unknown;
  readonly onUpload: ((progress: Progress) => void) | undefined;
  /** True if the response is a `ReadableStream` of its bytes. */
  readonly isStream: boolean;
}

export interface HttpResponse {
  /** Any status. None is an error at this level. */
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** A parsed JSON value, or text; null for a stream without a body. */
  readonly data: unknown;
}

/** @throws Unanswered */
export type Send = (request: Outgoing) => Promise<HttpResponse>;

/** There was no response, or the signal aborted the request. */
export class NoResponseError extends Error {
  /** @param code of Node, for example `ECONNREFUSED`; undefined if unknown */
  constructor(
    message: string,
    readonly code: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}
