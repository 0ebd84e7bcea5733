import type { AxiosRequestConfig } from 'axios';

/** How a client reaches the API, and as whom. */
export interface ClientOptions {
  /** Address of the API, as `https://tracking.example.com`. */
  readonly baseUrl: string;
  /** `sk_live_…` or `sk_test_…`. Never give one to a browser. */
  readonly apiKey?: string;
  /**
   * Instead of a key, the session of somebody who signs in: in a browser the cookie is the browser's matter; elsewhere the
   * client keeps the one of its own `session.signIn`, or the one given here.
   */
  readonly session?: boolean | { readonly cookie: string };
  /** Of a session: where it works, `live` unless told. A key has an environment of its own. */
  readonly environment?: 'live' | 'test';
  /** Milliseconds for one attempt, 30,000 unless told. Uploads, downloads and event streams have none. */
  readonly timeout?: number;
  /** Milliseconds for a call with all its attempts and waits, 120,000 unless told; of uploads and downloads none. */
  readonly deadline?: number;
  /** How often a request that may be repeated is, at most; 4 unless told. */
  readonly retries?: number;
  /** Milliseconds before the first repetition and the most before a later one, where the API names no time: 250, 10,000. */
  readonly backoff?: { readonly first: number; readonly most: number };
  /** What the client must see: the `consistencyToken` of another one. */
  readonly consistencyToken?: string;
  /** Headers for every request, as a `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Handed to axios: a proxy, agents with certificates, an adapter. */
  readonly transport?: Pick<AxiosRequestConfig, 'proxy' | 'httpAgent' | 'httpsAgent' | 'adapter'>;
}

/** What holds for one call. */
export interface RequestOptions extends Pick<ClientOptions, 'timeout' | 'deadline' | 'retries' | 'headers'> {
  /** Ends the call, its attempts and its waits; the call throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Read nothing older than this. Unless told, what the client wrote itself. */
  readonly consistencyToken?: string;
}

export interface ReadOptions extends RequestOptions {
  /** ETag of what you have: throws `NotModifiedError` where that is still so. */
  readonly ifNoneMatch?: string;
}

export interface WriteOptions extends RequestOptions {
  /** Write only if the resource still has this ETag: else `ConflictError`, `precondition_failed`. */
  readonly ifMatch?: string;
  /** Refuse unknown fields and wrong check digits, instead of warning. */
  readonly strict?: boolean;
}

/** Of a POST. */
export interface PostOptions extends WriteOptions {
  /** Names what you want done, so that it is done once though another process asks again. Made anew unless told. */
  readonly idempotencyKey?: string;
}

export interface UpsertOptions extends PostOptions {
  /** `*`: only if there is none yet; else `ConflictError`, `precondition_failed`. */
  readonly ifNoneMatch?: '*';
}
