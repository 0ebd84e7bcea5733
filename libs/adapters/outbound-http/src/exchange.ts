import type { OutboundOutcome, OutboundRequest } from '@tracking/ports';
import type { Dispatcher } from 'undici';
import type { ReceiverConnectionPool, ConnectionWaiter, ReceiverConnection } from './connections.ts';
import { toConnectionFailureReason, isConnectionLoss, type FailureReason } from './failure.ts';
import { type ReceivedHeaders, LimitedResponseBody, normalizeResponseHeaders } from './response-body.ts';
import type { RequestTarget } from './target.ts';

type Phase = 'queued' | 'connecting' | 'waiting' | 'reading' | 'over';

const REQUEST_PHASE_DESCRIPTIONS: Readonly<Record<Exclude<Phase, 'over'>, string>> = {
  queued: 'waiting for a free connection to the receiver',
  connecting: 'connecting (name resolution, TCP and TLS)',
  waiting: 'waiting for the answer',
  reading: 'reading the answer',
};

/** Exchange of one POST request and its response, from acquiring a connection to the single outcome. */
export class OutgoingPostRequest implements ConnectionWaiter, Dispatcher.DispatchHandler {
  readonly origin: string;
  readonly #startedAt = performance.now();
  #deadline: NodeJS.Timeout | undefined;
  #phase: Phase = 'queued';
  /**
   * Connection that the request uses. It becomes undefined when the answer is complete or the request is canceled;
   * later callbacks of undici are ignored.
   */
  #connection: ReceiverConnection | undefined;
  /** Number of times that the request was sent. */
  #sent = 0;
  #statusCode = 0;
  #headers: Readonly<Record<string, string>> = {};
  #body = new LimitedResponseBody(undefined);

  /**
   * @param target parsed URL, and the headers to send instead of the request's headers, as alternating names and values
   */
  constructor(
    private readonly request: OutboundRequest,
    private readonly target: RequestTarget & { readonly headers: string[] },
    private readonly connections: ReceiverConnectionPool,
    private readonly settled: (outcome: OutboundOutcome) => void,
  ) {
    this.origin = target.origin;
  }

  startRequestExchange(): void {
    // One timer limits all phases. Node keeps timers of the same duration in one list, so each timer costs half a
    // microsecond.
    this.#deadline = setTimeout(failExpiredExchange, this.request.timeoutMs, this);
    this.request.signal?.addEventListener('abort', this.#giveUp, { once: true });
    this.connections.acquireReceiverConnection(this);
  }

  sendRequestOnConnection(connection: ReceiverConnection): void {
    this.#connection = connection;
    this.#phase = 'connecting';
    const { path, headers } = this.target;
    connection.sendRequestOverConnection({ method: 'POST', path, headers, body: this.request.body }, this);
  }

  failRequestWithTimeout(): void {
    if (this.#phase === 'over') return;
    const doing = REQUEST_PHASE_DESCRIPTIONS[this.#phase];
    this.#resolveWithFailure({
      code: 'timeout',
      message: `no complete answer within ${this.request.timeoutMs} ms; was ${doing}`,
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.request.mayBeSent?.() === false) this.#giveUp();
    if (this.#connection === undefined) return controller.abort(new Error('canceled'));
    this.#connection.reportRequestWritten();
    this.#phase = 'waiting';
    this.#sent += 1;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: ReceivedHeaders): void {
    // The final response follows after a 1xx response.
    if (this.#connection === undefined || statusCode < 200) return;
    this.#phase = 'reading';
    this.#statusCode = statusCode;
    this.#headers = normalizeResponseHeaders(headers);
    this.#body = new LimitedResponseBody(this.#headers['content-encoding']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#connection === undefined) return;
    this.#body.addBodyChunk(chunk);
    if (!this.#body.isFull) return;
    this.#detachAndGiveBackConnection((connection) => this.connections.discardConnection(connection));
    this.#resolveWithDecodedBody();
  }

  onResponseEnd(): void {
    if (this.#connection === undefined) return;
    this.#detachAndGiveBackConnection((connection) => this.connections.releaseConnection(connection));
    this.#resolveWithDecodedBody();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    // A receiver may close an idle connection at the moment when the next request is sent. Such a request was not
    // answered and usually not received. Because deliveries are at-least-once, the request is sent again on a new
    // connection. The new connection has not answered any request, so there is no third attempt.
    if (this.#phase !== 'reading' && connection.answers > 0 && isConnectionLoss(error)) {
      this.sendRequestOnConnection(this.connections.replaceConnection(connection));
      return;
    }
    this.#resolveWithFailure(toConnectionFailureReason(error, this.#phase !== 'connecting'));
  }

  readonly #giveUp = (): void => {
    this.#resolveWithFailure({ code: 'aborted', message: 'the request was canceled before an answer arrived' });
  };

  #resolveWithDecodedBody(): void {
    const text = this.#body.decodeText();
    if (typeof text === 'string') this.#resolveWithResponse(text);
    else void text.then((inflated) => this.#resolveWithResponse(inflated));
  }

  #resolveWithResponse(body: string): void {
    this.#resolveOutcome({
      kind: 'response',
      statusCode: this.#statusCode,
      headers: this.#headers,
      body,
      ...this.#createOutcomeDurationAndResentFields(),
    });
  }

  #resolveWithFailure(failure: FailureReason): void {
    this.connections.removeWaiter(this);
    this.#detachAndGiveBackConnection((connection) => this.connections.discardConnection(connection));
    this.#resolveOutcome({ kind: 'failure', ...failure, ...this.#createOutcomeDurationAndResentFields() });
  }

  #resolveOutcome(outcome: OutboundOutcome): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearTimeout(this.#deadline);
    this.request.signal?.removeEventListener('abort', this.#giveUp);
    this.settled(outcome);
  }

  #detachAndGiveBackConnection(giveBack: (connection: ReceiverConnection) => void): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) giveBack(connection);
  }

  #createOutcomeDurationAndResentFields(): Pick<OutboundOutcome, 'durationMs' | 'resent'> {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    return { durationMs, ...(this.#sent > 1 && { resent: true }) };
  }
}

function failExpiredExchange(exchange: OutgoingPostRequest): void {
  exchange.failRequestWithTimeout();
}
