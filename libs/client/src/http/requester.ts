import type { ApiResponse, ClientOptions } from '../call.ts';
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  NotModifiedError,
  TimeoutError,
  TrackingError,
} from '../errors.ts';
import type { ApiRequest, Method } from './request.ts';
import { type RawResponse, Transport } from './transport.ts';

const DEFAULT_REQUEST_LIMITS = {
  timeout: 30_000,
  deadline: 120_000,
  retries: 4,
  backoff: { first: 250, most: 10_000 },
};
/** Maximum milliseconds between two attempts of a call without a deadline. A timer cannot wait for more than 24 days. */
const MAX_RETRY_WAIT_MS = 86_400_000;
/** Statuses that a proxy returns for a broken connection. */
const BROKEN_CONNECTION_STATUSES: ReadonlySet<number> = new Set([502, 504]);
/** Error codes of 503 responses to requests that the service did not start to execute. */
const REQUEST_NOT_STARTED_ERROR_CODES: ReadonlySet<string> = new Set(['busy', 'read_model_behind']);
/**
 * Maximum number of tokens in a header. Older tokens are dropped, because all read models include their writes by then.
 */
const MAX_SENT_CONSISTENCY_TOKENS = 16;

/** Sends requests, retries requests that are safe to repeat, and adds idempotency keys and consistency tokens. */
export class Requester {
  readonly tokens: ConsistencyTokens;
  readonly settings: typeof DEFAULT_REQUEST_LIMITS;
  private readonly transport: Transport;

  constructor(options: ClientOptions) {
    const { timeout, deadline, retries, backoff } = options;
    this.settings = {
      timeout: timeout ?? DEFAULT_REQUEST_LIMITS.timeout,
      deadline: deadline ?? DEFAULT_REQUEST_LIMITS.deadline,
      retries: retries ?? DEFAULT_REQUEST_LIMITS.retries,
      backoff: backoff ?? DEFAULT_REQUEST_LIMITS.backoff,
    };
    this.tokens = new ConsistencyTokens(options.consistencyToken);
    this.transport = new Transport(options);
  }

  /** Sends a request with its retries. @throws TrackingError, and the signal's reason */
  async request<T>(request: ApiRequest): Promise<ApiResponse<T>> {
    const deadlineMs = request.deadline ?? this.settings.deadline;
    const deadlineController = new AbortController();
    const timer = deadlineMs > 0 ? setTimeout(() => deadlineController.abort(), deadlineMs) : undefined;
    const dueAt = deadlineMs > 0 ? performance.now() + deadlineMs : Infinity;
    const signal = request.signal
      ? AbortSignal.any([request.signal, deadlineController.signal])
      : deadlineController.signal;
    try {
      request.signal?.throwIfAborted();
      return await this.requestWithRetries<T>(request, { signal, dueAt });
    } catch (error) {
      if (!deadlineController.signal.aborted || request.signal?.aborted || error instanceof TrackingError) throw error;
      throw new TimeoutError(`No response arrived within ${deadlineMs} ms.`, { cause: error, outcomeUnknown: true });
    } finally {
      clearTimeout(timer);
    }
  }

  private async requestWithRetries<T>(request: ApiRequest, { signal, dueAt }: RequestLimits): Promise<ApiResponse<T>> {
    const key = request.method === 'POST' ? (request.idempotencyKey ?? createIdempotencyKey()) : undefined;
    const retries = request.retries ?? this.settings.retries;
    let mayHaveSucceeded = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attemptRequest<T>(request, key, signal);
      } catch (error) {
        if (!(error instanceof TrackingError)) throw error;
        error.attempts = attempt;
        if (isErrorOfRepeatedDelete(request, error, mayHaveSucceeded)) {
          return convertRawResponseToApiResponse<T>({
            status: 200,
            headers: error.headers,
            data: request.resultIfDeleted,
          });
        }
        mayHaveSucceeded = recordMayHaveSucceeded(error, mayHaveSucceeded);
        const conditional = request.ifMatch !== undefined;
        if (attempt > retries || !canRetry({ method: request.method, conditional }, error)) throw error;
        const wait = computeRetryDelay(attempt, error, this.settings.backoff, Math.random());
        // The call fails now if the next attempt would start after the deadline.
        if (wait > MAX_RETRY_WAIT_MS || performance.now() + wait >= dueAt) throw error;
        await waitUnlessAborted(wait, signal);
      }
    }
  }

  private async attemptRequest<T>(
    request: ApiRequest,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<ApiResponse<T>> {
    const isApiPath = request.path.startsWith('/');
    const token = isApiPath ? (request.consistencyToken ?? this.tokens.header) : undefined;
    const timeout = request.timeout ?? this.settings.timeout;
    try {
      const answer = await this.transport.send(request, buildRequestHeaders(request, key, token), { timeout, signal });
      if (answer.status === 304) throw new NotModifiedError(answer.headers['etag']);
      return this.convertResponseAndRecordConsistencyToken<T>(answer, token);
    } catch (error) {
      const isUnknownToken = error instanceof ApiError && error.code === 'invalid_consistency_token';
      if (!isUnknownToken || token === undefined || request.consistencyToken !== undefined) throw error;
      // A service whose data was lost or replaced does not know the writes of the token.
      this.tokens.forgetRefusedConsistencyTokens(token);
      return this.attemptRequest<T>(request, key, signal);
    }
  }

  private convertResponseAndRecordConsistencyToken<T>(answer: RawResponse, sent: string | undefined): ApiResponse<T> {
    const heard = convertRawResponseToApiResponse<T>(answer);
    if (heard.consistencyToken !== undefined) this.tokens.recordConsistencyTokenOfWrite(heard.consistencyToken, sent);
    return heard;
  }
}

/** Returns true if a DELETE returns 404 and an earlier attempt may have deleted the resource. */
function isErrorOfRepeatedDelete(
  { resultIfDeleted, endsOwnSession }: ApiRequest,
  error: TrackingError,
  mayBeDone: boolean,
): error is ApiError {
  const isMissing = error instanceof (endsOwnSession ? AuthenticationError : NotFoundError);
  return mayBeDone && resultIfDeleted !== undefined && isMissing;
}

function convertRawResponseToApiResponse<T>({ status, headers, data }: RawResponse): ApiResponse<T> {
  return {
    data: data as T,
    status,
    headers,
    requestId: headers['request-id'],
    etag: headers['etag'],
    consistencyToken: headers['consistency-token'],
    replayed: headers['idempotency-replayed'] === 'true',
  };
}

interface RequestLimits {
  readonly signal: AbortSignal;
  /** End of the call in epoch milliseconds. */
  readonly dueAt: number;
}

function buildRequestHeaders(
  request: ApiRequest,
  key: string | undefined,
  token: string | undefined,
): Record<string, string> {
  const { headers, ifMatch, ifNoneMatch, strict } = request;
  return {
    ...(token !== undefined && { 'Consistency-Token': token }),
    ...(key !== undefined && { 'Idempotency-Key': key }),
    ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
    ...(strict && { Prefer: 'handling=strict' }),
    ...headers,
  };
}

/** Returns a random `Idempotency-Key`. Pages without TLS do not have `crypto.randomUUID`. */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Properties of a request that decide whether a retry is safe. */
interface RequestConsideredForRetry {
  readonly method: Method;
  /** True if the request has `If-Match`. */
  readonly conditional: boolean;
}

interface BackoffLimits {
  /** Milliseconds before the first retry. */
  readonly first: number;
  readonly most: number;
}

/**
 * Returns true if a retry may help and is safe. A POST has an `Idempotency-Key`, and GET, PUT, PATCH and DELETE are
 * idempotent. A conditional request is not idempotent: if an attempt changed the resource, its retry fails the
 * precondition. Such a request is not retried if its outcome is unknown.
 */
function canRetry({ method, conditional }: RequestConsideredForRetry, error: TrackingError): boolean {
  const isSafe = method === 'GET' || method === 'POST' || !conditional;
  if (error instanceof ConnectionError) return isSafe || !error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  if (error.status === 503) return isSafe || REQUEST_NOT_STARTED_ERROR_CODES.has(error.code);
  return BROKEN_CONNECTION_STATUSES.has(error.status) && isSafe;
}

/** Returns true if the request may have been carried out although it failed. */
function isOutcomeUnknown(error: TrackingError): boolean {
  if (error instanceof ConnectionError) return error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  return (
    BROKEN_CONNECTION_STATUSES.has(error.status) ||
    (error.status === 503 && !REQUEST_NOT_STARTED_ERROR_CODES.has(error.code))
  );
}

/** Returns true if this or an earlier attempt may have been carried out, and records this in the error. */
function recordMayHaveSucceeded(error: TrackingError, mayHaveSucceeded: boolean): boolean {
  const outcomeUnknown = mayHaveSucceeded || isOutcomeUnknown(error);
  // The last attempt may have failed to connect after an earlier one was carried out.
  if (error instanceof ConnectionError) error.outcomeUnknown = outcomeUnknown;
  return outcomeUnknown;
}

/**
 * Returns the milliseconds before the next attempt. If the API requests a time, the result is that time plus up to 10
 * %. Otherwise the time grows exponentially and up to half of it is random, so that clients that failed together do not
 * retry together.
 * @param attempt number of attempts so far
 * @param random number from 0 to 1
 */
export function computeRetryDelay(
  attempt: number,
  error: TrackingError,
  { first, most }: BackoffLimits,
  random: number,
): number {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  if (asked !== undefined) return asked * 1_000 * (1 + random / 10);
  const grown = Math.min(most, first * 2 ** (attempt - 1));
  return grown * (0.5 + random / 2);
}

/** Waits for `ms` milliseconds. @throws the signal's reason */
export function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Consistency tokens of a client's writes, which the client's reads must include. The token in the response to a write
 * includes the tokens sent with the write, and replaces them. There are several tokens only during concurrent writes.
 */
export class ConsistencyTokens {
  private tokens: readonly string[];

  constructor(first?: string) {
    this.tokens = splitConsistencyTokens(first);
  }

  /** Value of the `Consistency-Token` header; undefined before the first write. */
  get header(): string | undefined {
    return this.tokens.length === 0 ? undefined : this.tokens.join(', ');
  }

  /** Records the token of a write. @param sent value of the header in the request of the write */
  recordConsistencyTokenOfWrite(token: string, sent: string | undefined): void {
    const superseded = new Set([token, ...splitConsistencyTokens(sent)]);
    this.tokens = [...this.tokens.filter((each) => !superseded.has(each)), token].slice(-MAX_SENT_CONSISTENCY_TOKENS);
  }

  /** Adds the tokens of another client's writes, so that reads include these writes. */
  addConsistencyToken(header: string): void {
    for (const token of splitConsistencyTokens(header)) this.recordConsistencyTokenOfWrite(token, undefined);
  }

  /** Removes tokens of writes that the service does not know. */
  forgetRefusedConsistencyTokens(header: string | undefined): void {
    const refused = new Set(splitConsistencyTokens(header));
    this.tokens = this.tokens.filter((token) => !refused.has(token));
  }
}

function splitConsistencyTokens(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => part.trim() || []);
}
