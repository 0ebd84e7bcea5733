import type { RequestOptions } from '../options.ts';

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
