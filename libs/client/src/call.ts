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
