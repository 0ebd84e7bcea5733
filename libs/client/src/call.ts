import type { AxiosRequestConfig } from 'axios';

/** An answer with what came beside its body. */
export interface Answered<T> {
  readonly data: T;
  /** 200, or 201 where something was made. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be named when you ask about a request. */
  readonly requestId: string | undefined;
  /** Version of the resource: for `ifMatch`. */
  readonly etag: string | undefined;
  /** Place of the write. */
  readonly consistencyToken: string | undefined;
  /** Whether it is the answer to an earlier request under the same `Idempotency-Key`. */
  readonly replayed: boolean;
}

/** A request under way. Awaited, it is what the API answered; `withResponse` tells status and headers too. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';

  constructor(private readonly answered: Promise<Answered<T>>) {}

  /** The answer with its status, headers and ids. */
  withResponse(): Promise<Answered<T>> {
    return this.answered;
  }

  then<Result = T, Refusal = never>(
    onFulfilled?: ((value: T) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Refusal | PromiseLike<Refusal>) | null,
  ): Promise<Result | Refusal> {
    return this.answered.then(({ data }) => data).then(onFulfilled, onRejected);
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

/** A page as the API answers it. */
export interface Page<Item> {
  readonly data: Item[];
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/**
 * A list. Iterated, it is all items, and each page is asked for when it is needed; a page may hold fewer items than asked
 * for, even none, while others follow. Nothing is asked for before.
 */
export class List<Item> implements AsyncIterable<Item> {
  constructor(private readonly ask: (cursor: string | undefined) => Call<Page<Item>>) {}

  /** One page: the first, or the one of this cursor. */
  page(cursor?: string): Call<Page<Item>> {
    return this.ask(cursor);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.ask(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** All items at once, held in memory. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const { data } of this.pages()) items.push(...data);
    return items;
  }
}

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
  /** Environment of a session, `live` by default. A key has an environment of its own. */
  readonly environment?: 'live' | 'test';
  /** Milliseconds for one attempt, 30,000 unless told. Uploads, downloads and event streams have none. */
  readonly timeout?: number;
  /** Milliseconds for a call with all its attempts and waits, 120,000 unless told; of uploads and downloads none. */
  readonly deadline?: number;
  /** How often a request that may be repeated is, at most; 4 unless told. */
  readonly retries?: number;
  /** Milliseconds before the first repetition and the most before a later one, where the API names no time: 250, 10,000. */
  readonly backoff?: { readonly first: number; readonly most: number };
  /** The `consistencyToken` of another client, whose writes this client must see. */
  readonly consistencyToken?: string;
  /** Headers for every request, as a `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Handed to axios: a proxy, agents with certificates, an adapter. */
  readonly transport?: Pick<AxiosRequestConfig, 'proxy' | 'httpAgent' | 'httpsAgent' | 'adapter'>;
}

/** Options of one call. */
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

/** Options of a POST. */
export interface PostOptions extends WriteOptions {
  /** Names what you want done, so that it is done once though another process asks again. Made anew unless told. */
  readonly idempotencyKey?: string;
}

export interface UpsertOptions extends PostOptions {
  /** `*`: only if there is none yet; else `ConflictError`, `precondition_failed`. */
  readonly ifNoneMatch?: '*';
}
