import type { RequestOptions } from '../call.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How far an upload or download is. */
export interface Progress {
  readonly loaded: number;
  /** Undefined where nobody told. */
  readonly total: number | undefined;
}

/** One request of the API, as it is sent each time. */
export interface ApiRequest extends RequestOptions {
  readonly method: Method;
  /** Below the address of the API; or a whole URL, which is asked without credentials. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  /** JSON, or what is uploaded. */
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly strict?: boolean;
  readonly idempotencyKey?: string;
  /** The answer of a DELETE whose repeat finds nothing, because an attempt whose outcome is unknown may have deleted it. */
  readonly gone?: unknown;
  /** The repeat of a sign-out finds no session: it is answered 401 instead of 404. */
  readonly endsOwnSession?: boolean;
  /** `stream`: a `ReadableStream` of the bytes. */
  readonly answer?: 'json' | 'stream';
  readonly onUpload?: (progress: Progress) => void;
}

/** A request as it is sent once. */
export interface Outgoing {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a browser sends its cookies to another origin too. */
  readonly withCredentials: boolean;
  readonly signal: AbortSignal;
  /** An object is sent as JSON; undefined: no body. */
  readonly body: unknown;
  readonly onUpload: ((progress: Progress) => void) | undefined;
  /** Whether the answer is taken as a `ReadableStream` of its bytes, as they come. */
  readonly isStream: boolean;
}

export interface Answered {
  /** Whatever it is: none is an error here. */
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** JSON as what it says, anything else as text; null where a stream has no body. */
  readonly data: unknown;
}

/** @throws Unanswered */
export type Send = (request: Outgoing) => Promise<Answered>;

/** No answer came, or the signal ended it. */
export class Unanswered extends Error {
  /** @param code of Node, as `ECONNREFUSED`; undefined where nobody tells */
  constructor(
    message: string,
    readonly code: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}
