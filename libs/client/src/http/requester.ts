import type { Answered, ClientOptions } from '../call.ts';
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
import { type RawAnswer, Transport } from './transport.ts';

const DEFAULTS = { timeout: 30_000, deadline: 120_000, retries: 4, backoff: { first: 250, most: 10_000 } };
/** Statuses that a proxy returns for a broken connection. */
const BROKEN: ReadonlySet<number> = new Set([502, 504]);
/** 503 of these codes: nothing was begun. */
const UNTOUCHED: ReadonlySet<string> = new Set(['busy', 'read_model_behind']);
/** More would not fit into a header: what was written longest ago is shown everywhere by then. */
const MAX_TOKENS = 16;

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
      // A service that was set up again does not know those writes.
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

/** The parts of a request that decide whether it may be sent again. */
interface Repeatable {
  readonly method: Method;
  /** Whether it goes with `If-Match`. */
  readonly conditional: boolean;
}

interface Backoff {
  /** Milliseconds. */
  readonly first: number;
  readonly most: number;
}

/**
 * Whether sending the request again can help and does no harm. A POST goes under an `Idempotency-Key`, so it may always be
 * repeated; GET, PUT, PATCH and DELETE come to the same the second time. A conditional one does not: carried out before, it
 * would be refused for what it changed itself. So where its outcome is unknown, it is left to the caller.
 */
function mayRepeat({ method, conditional }: Repeatable, error: TrackingError): boolean {
  const safe = method === 'GET' || method === 'POST' || !conditional;
  if (error instanceof ConnectionError) return safe || !error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || error.code === 'idempotency_in_progress') return true;
  if (error.status === 503) return safe || UNTOUCHED.has(error.code);
  return BROKEN.has(error.status) && safe;
}

/** Returns true if the request may have been carried out although it failed. */
function isOutcomeUnknown(error: TrackingError): boolean {
  if (error instanceof ConnectionError) return error.outcomeUnknown;
  if (!(error instanceof ApiError)) return false;
  return BROKEN.has(error.status) || (error.status === 503 && !UNTOUCHED.has(error.code));
}

/**
 * Milliseconds before the next attempt: what the API asks for and up to a tenth more, or else a growing time, of which the
 * upper half is left to chance, so that clients that failed together do not come again together.
 * @param attempt how many there were
 * @param random from 0 to 1
 */
export function waitBefore(attempt: number, error: TrackingError, { first, most }: Backoff, random: number): number {
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  if (asked !== undefined) return asked * 1_000 * (1 + random / 10);
  const grown = Math.min(most, first * 2 ** (attempt - 1));
  return grown * (0.5 + random / 2);
}

/** @throws the signal's reason */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
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
 * The places of a client's writes that its reads must see. A write that was sent with places answers one that is not less,
 * which takes their place: so there is one, and several only while writes are sent side by side.
 */
export class ConsistencyTokens {
  private tokens: readonly string[];

  constructor(first?: string) {
    this.tokens = split(first);
  }

  /** For the header; undefined where nothing was written. */
  get header(): string | undefined {
    return this.tokens.length === 0 ? undefined : this.tokens.join(', ');
  }

  /** @param sent the header that the write went with */
  wrote(token: string, sent: string | undefined): void {
    const superseded = new Set([token, ...split(sent)]);
    this.tokens = [...this.tokens.filter((each) => !superseded.has(each)), token].slice(-MAX_TOKENS);
  }

  /** From now on reads see this, too. */
  add(header: string): void {
    for (const token of split(header)) this.wrote(token, undefined);
  }

  /** Another system does not know them. */
  forget(header: string | undefined): void {
    const refused = new Set(split(header));
    this.tokens = this.tokens.filter((token) => !refused.has(token));
  }
}

function split(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((part) => part.trim() || []);
}
