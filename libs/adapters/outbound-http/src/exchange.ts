import type { OutboundFailure, OutboundRequest, OutboundResponse } from '@tracking/ports';
import type { Dispatcher } from 'undici';
import type { Connection, Connections, Waiter } from './connections.ts';
import { failureOf, isConnectionLoss, type Failure } from './failure.ts';
import { responseHeaders, type ReceivedHeaders } from './headers.ts';
import { ResponseBody } from './response-body.ts';
import type { Target } from './target.ts';

export type Outcome = OutboundResponse | OutboundFailure;

type Stage = 'queued' | 'connecting' | 'waiting' | 'reading' | 'over';

const timedOut: Readonly<Record<Exclude<Stage, 'over'>, string>> = {
  queued: 'waiting for a free connection to the receiver',
  connecting: 'connecting (name resolution, TCP and TLS)',
  waiting: 'waiting for the answer',
  reading: 'reading the answer',
};

/** One POST, from asking for a connection to the one outcome that it settles with. */
export class Exchange implements Waiter, Dispatcher.DispatchHandler {
  readonly origin: string;
  readonly #startedAt = performance.now();
  #deadline: NodeJS.Timeout | undefined;
  #stage: Stage = 'queued';
  /** Ours until the answer is complete or given up; what undici reports afterwards is of no interest. */
  #connection: Connection | undefined;
  #statusCode = 0;
  #headers: Readonly<Record<string, string>> = {};
  #body = new ResponseBody(undefined);

  constructor(
    private readonly request: OutboundRequest,
    private readonly headers: string[],
    private readonly target: Target,
    private readonly connections: Connections,
    private readonly settled: (outcome: Outcome) => void,
  ) {
    this.origin = target.origin;
  }

  start(): void {
    // One timer for everything: those of one duration share a list in Node, so that it costs half a microsecond.
    this.#deadline = setTimeout(expire, this.request.timeoutMs, this);
    this.request.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.connections.acquire(this);
  }

  run(connection: Connection): void {
    this.#connection = connection;
    this.#stage = 'connecting';
    const { target, headers, request } = this;
    connection.dispatch({ method: 'POST', path: target.path, headers, body: request.body }, this);
  }

  expire(): void {
    if (this.#stage === 'over') return;
    const doing = timedOut[this.#stage];
    this.#fail({ code: 'timeout', message: `no complete answer within ${this.request.timeoutMs} ms; was ${doing}` });
  }

  onRequestStart(): void {
    if (this.#connection !== undefined) this.#stage = 'waiting';
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: ReceivedHeaders): void {
    // After a 1xx the answer is still to come.
    if (this.#connection === undefined || statusCode < 200) return;
    this.#stage = 'reading';
    this.#statusCode = statusCode;
    this.#headers = responseHeaders(headers);
    this.#body = new ResponseBody(this.#headers['content-encoding']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#connection === undefined) return;
    this.#body.add(chunk);
    if (!this.#body.full) return;
    this.#letGo((connection) => this.connections.discard(connection));
    this.#answer();
  }

  onResponseEnd(): void {
    if (this.#connection === undefined) return;
    this.#letGo((connection) => this.connections.release(connection));
    this.#answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    // A receiver may close a resting connection just when the next request is on its way. Such a request was not
    // answered and, as a rule, not seen; deliveries are at-least-once, so it goes out once more, on a new
    // connection, which has answered nothing: there is no third time.
    if (this.#stage !== 'reading' && connection.answers > 0 && isConnectionLoss(error)) {
      this.run(this.connections.renew(connection));
      return;
    }
    this.#fail(failureOf(error, this.#stage !== 'connecting'));
  }

  readonly #onAbort = (): void => {
    this.#fail({ code: 'aborted', message: 'given up before an answer came' });
  };

  #answer(): void {
    const text = this.#body.text();
    if (typeof text === 'string') this.#respond(text);
    else void text.then((inflated) => this.#respond(inflated));
  }

  #respond(body: string): void {
    this.#settle({
      kind: 'response',
      statusCode: this.#statusCode,
      headers: this.#headers,
      body,
      durationMs: this.#elapsed(),
    });
  }

  #fail(failure: Failure): void {
    this.connections.forget(this);
    this.#letGo((connection) => this.connections.discard(connection));
    this.#settle({ kind: 'failure', ...failure, durationMs: this.#elapsed() });
  }

  #settle(outcome: Outcome): void {
    if (this.#stage === 'over') return;
    this.#stage = 'over';
    clearTimeout(this.#deadline);
    this.request.signal?.removeEventListener('abort', this.#onAbort);
    this.settled(outcome);
  }

  #letGo(giveBack: (connection: Connection) => void): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) giveBack(connection);
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

function expire(exchange: Exchange): void {
  exchange.expire();
}
