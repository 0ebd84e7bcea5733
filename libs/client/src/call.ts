import type { AxiosRequestConfig } from 'axios';

/** A response with its body, status and headers. */
export interface ApiResponse<T> {
  readonly data: T;
  /** HTTP status: 200, or 201 if the request created a resource. */
  readonly status: number;
  /** Response headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** ID of the request. Include it in questions to the operator. */
  readonly requestId: string | undefined;
  /** ETag of the resource, for `ifMatch`. */
  readonly etag: string | undefined;
  /** Consistency token of the write, for reads that must include the write. */
  readonly consistencyToken: string | undefined;
  /** True if this is the stored response to an earlier request with the same `Idempotency-Key`. */
  readonly replayed: boolean;
}

/** A request in progress. It resolves to the response body; `withResponse` also returns status and headers. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';

  constructor(private readonly response: Promise<ApiResponse<T>>) {}

  /** Returns the response with its status, headers and ids. */
  withResponse(): Promise<ApiResponse<T>> {
    return this.response;
  }

  then<Result = T, Refusal = never>(
    onFulfilled?: ((value: T) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Refusal | PromiseLike<Refusal>) | null,
  ): Promise<Result | Refusal> {
    return this.response.then(({ data }) => data).then(onFulfilled, onRejected);
  }

  catch<Refusal = never>(
    onRejected?: ((reason: unknown) => Refusal | PromiseLike<Refusal>) | null,
  ): Promise<T | Refusal> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}

/** A page of a list. */
export interface Page<Item> {
  readonly data: Item[];
  /** Value of `cursor` for the next page; null on the last page. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/**
 * A list. Iteration yields all items, starting with the first page, and requests each page when it is needed. A page
 * may have fewer items than `limit`, even none, although other pages follow.
 */
export class List<Item> implements AsyncIterable<Item> {
  constructor(private readonly requestPage: (cursor: string | undefined) => Call<Page<Item>>) {}

  /** Reads one page: the first page, or the page at the cursor. */
  page(cursor?: string): Call<Page<Item>> {
    return this.requestPage(cursor);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.requestPage(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** Reads all items into memory. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const { data } of this.pages()) items.push(...data);
    return items;
  }
}

/** Address, credentials and defaults of a client. */
export interface ClientOptions {
  /** Address of the API, for example `https://tracking.example.com`. */
  readonly baseUrl: string;
  /** API key, `sk_live_…` or `sk_test_…`. Never send an API key to a browser. */
  readonly apiKey?: string;
  /**
   * True to use the session of a signed-in user instead of an API key. A browser keeps the session cookie itself.
   * Elsewhere, the client keeps the cookie that `session.signIn` returns, or the cookie given here.
   */
  readonly session?: boolean | { readonly cookie: string };
  /** Environment in which a session acts, `live` by default. A key always has its own environment. */
  readonly environment?: 'live' | 'test';
  /**
   * Timeout of one attempt in milliseconds. Defaults to 30,000. Uploads, downloads and event streams have no timeout.
   */
  readonly timeout?: number;
  /**
   * Timeout of a call in milliseconds, including all attempts and waits. Defaults to 120,000. Uploads and downloads
   * have no timeout.
   */
  readonly deadline?: number;
  /** Maximum number of retries of a request that is safe to repeat, 4 by default. */
  readonly retries?: number;
  /**
   * Milliseconds before the first retry, and the maximum before a later retry. A wait time in the API's response takes
   * precedence. Defaults to 250 and 10,000.
   */
  readonly backoff?: { readonly first: number; readonly most: number };
  /** The `consistencyToken` of another client. Reads of this client then include the other client's writes. */
  readonly consistencyToken?: string;
  /** Headers of every request, for example `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Axios options: a proxy, agents with certificates, or an adapter. */
  readonly transport?: Pick<AxiosRequestConfig, 'proxy' | 'httpAgent' | 'httpsAgent' | 'adapter'>;
}

/** Options of one call. */
export interface RequestOptions extends Pick<ClientOptions, 'timeout' | 'deadline' | 'retries' | 'headers'> {
  /** Signal that cancels the call, its attempts and its waits. The call then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Consistency token of the writes that reads must include. By default, reads include the client's own writes. */
  readonly consistencyToken?: string;
}

export interface ReadOptions extends RequestOptions {
  /** ETag of your copy of the resource. The call throws `NotModifiedError` if the resource still has this ETag. */
  readonly ifNoneMatch?: string;
}

export interface WriteOptions extends RequestOptions {
  /**
   * ETag that the resource must still have for the write. Otherwise the call throws `ConflictError` with the code
   * `precondition_failed`.
   */
  readonly ifMatch?: string;
  /** True to reject unknown fields and wrong check digits. By default, the response contains warnings instead. */
  readonly strict?: boolean;
}

/** Options of a POST. */
export interface PostOptions extends WriteOptions {
  /**
   * Key that identifies the operation, so that it is carried out once even if another process repeats the request.
   * Random by default.
   */
  readonly idempotencyKey?: string;
}

export interface UpsertOptions extends PostOptions {
  /**
   * `*` allows the write only if the resource does not exist. Otherwise the call throws `ConflictError` with the code
   * `precondition_failed`.
   */
  readonly ifNoneMatch?: '*';
}
