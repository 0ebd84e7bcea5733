import { type Answered } from '../call.ts';
import {
  ApiError,
  AuthenticationError,
  NotFoundError,
  NotModifiedError,
  TimeoutError,
  TrackingError,
} from '../errors.ts';
import type { ClientOptions } from '../options.ts';
import { ConsistencyTokens } from './consistency.ts';
import type { ApiRequest } from './request.ts';
import { isOutcomeUnknown, mayRepeat, pause, waitBefore } from './retry.ts';
import { Transport, type RawAnswer } from './transport.ts';

const DEFAULTS = { timeout: 30_000, deadline: 120_000, retries: 4, backoff: { first: 250, most: 10_000 } };

/** Sends requests until they are answered: again where that is safe, within bounds, and with what the client wrote. */
export class Requester {
  readonly tokens: ConsistencyTokens;
  readonly settings: typeof DEFAULTS;
  private readonly transport: Transport;

  constructor(options: ClientOptions) {
    const { timeout, deadline, retries, backoff } = options;
    this.settings = {
      timeout: timeout ?? DEFAULTS.timeout,
      deadline: deadline ?? DEFAULTS.deadline,
      retries: retries ?? DEFAULTS.retries,
      backoff: backoff ?? DEFAULTS.backoff,
    };
    this.tokens = new ConsistencyTokens(options.consistencyToken);
    this.transport = new Transport(options);
  }

  /** @throws TrackingError, and the signal's reason */
  async request<T>(request: ApiRequest): Promise<Answered<T>> {
    const ends = request.deadline ?? this.settings.deadline;
    const late = new AbortController();
    const timer = ends > 0 ? setTimeout(() => late.abort(), ends) : undefined;
    const dueAt = ends > 0 ? Date.now() + ends : Infinity;
    const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal;
    try {
      request.signal?.throwIfAborted();
      return await this.untilAnswered<T>(request, { signal, dueAt });
    } catch (error) {
      if (!late.signal.aborted || request.signal?.aborted || error instanceof TrackingError) throw error;
      throw new TimeoutError(`No answer came within ${ends} ms.`, { cause: error, outcomeUnknown: true });
    } finally {
      clearTimeout(timer);
    }
  }

  private async untilAnswered<T>(request: ApiRequest, { signal, dueAt }: Bounds): Promise<Answered<T>> {
    const key = request.method === 'POST' ? (request.idempotencyKey ?? newKey()) : undefined;
    const retries = request.retries ?? this.settings.retries;
    let mayBeDone = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt<T>(request, key, signal);
      } catch (error) {
        if (!(error instanceof TrackingError)) throw error;
        error.attempts = attempt;
        if (isGone(request, error, mayBeDone)) {
          return answered<T>({ status: 200, headers: error.headers, data: request.gone });
        }
        mayBeDone ||= isOutcomeUnknown(error);
        const conditional = request.ifMatch !== undefined;
        if (attempt > retries || !mayRepeat({ method: request.method, conditional }, error)) throw error;
        const wait = waitBefore(attempt, error, this.settings.backoff, Math.random());
        // Told now, rather than when there is no time left.
        if (Date.now() + wait >= dueAt) throw error;
        await pause(wait, signal);
      }
    }
  }

  private async attempt<T>(request: ApiRequest, key: string | undefined, signal: AbortSignal): Promise<Answered<T>> {
    const isOurs = request.path.startsWith('/');
    const token = isOurs ? (request.consistencyToken ?? this.tokens.header) : undefined;
    const timeout = request.timeout ?? this.settings.timeout;
    try {
      const answer = await this.transport.send(request, headersOf(request, key, token), { timeout, signal });
      if (answer.status === 304) throw new NotModifiedError(answer.headers['etag']);
      return this.heard<T>(answer, token);
    } catch (error) {
      const isForeign = error instanceof ApiError && error.code === 'invalid_consistency_token';
      if (!isForeign || token === undefined || request.consistencyToken !== undefined) throw error;
      // Of a service that was set up anew: it never knew those writes.
      this.tokens.forget(token);
      return this.attempt<T>(request, key, signal);
    }
  }

  private heard<T>(answer: RawAnswer, sent: string | undefined): Answered<T> {
    const heard = answered<T>(answer);
    if (heard.consistencyToken !== undefined) this.tokens.wrote(heard.consistencyToken, sent);
    return heard;
  }
}

/** Whether a DELETE finds nothing: if an earlier attempt may have been carried out, the resource is gone. */
function isGone({ gone, endsOwnSession }: ApiRequest, error: TrackingError, mayBeDone: boolean): error is ApiError {
  const isMissing = error instanceof (endsOwnSession ? AuthenticationError : NotFoundError);
  return mayBeDone && gone !== undefined && isMissing;
}

function answered<T>({ status, headers, data }: RawAnswer): Answered<T> {
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

interface Bounds {
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly dueAt: number;
}

function headersOf(request: ApiRequest, key: string | undefined, token: string | undefined): Record<string, string> {
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

/** A new `Idempotency-Key`; `crypto.randomUUID` is not there on pages without TLS. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
