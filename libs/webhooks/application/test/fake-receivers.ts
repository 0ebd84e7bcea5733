import type { OutboundRequestFailure, OutboundHttp, OutboundRequest, OutboundResponse } from '@tracking/ports';

export interface ReceivedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Time in epoch milliseconds. */
  readonly at: number;
}
export type FakeAnswer = OutboundResponse | OutboundRequestFailure;
export type FakeBehaviour = (request: ReceivedRequest) => FakeAnswer | Promise<FakeAnswer>;

export function createReceiverAnswer(
  statusCode: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): OutboundResponse {
  return { kind: 'response', statusCode, headers, body, durationMs: 1 };
}
export const TIMEOUT_FAILURE: OutboundRequestFailure = {
  kind: 'failure',
  code: 'timeout',
  message: 'no answer in time',
  durationMs: 1,
};

const ABORTED_FAILURE: OutboundRequestFailure = {
  kind: 'failure',
  code: 'aborted',
  message: 'given up',
  durationMs: 1,
};

/** Receivers without a network. Each URL behaves as configured, answers challenges, and records what arrived. */
export class FakeReceivers implements OutboundHttp {
  readonly arrived: ReceivedRequest[] = [];
  private readonly behaviours = new Map<string, FakeBehaviour>();
  private readonly underWay = new Map<string, number>();
  /** Maximum number of concurrent requests observed, by URL. */
  readonly mostAtOnce = new Map<string, number>();

  setFakeReceiverBehaviour(url: string, behaviour: FakeBehaviour): void {
    this.behaviours.set(url, behaviour);
  }

  /** Returns the deliveries that arrived at the URL, without verification requests. */
  listDeliveriesReceivedAtUrl(url: string): readonly ReceivedRequest[] {
    return this.arrived.filter(
      (one) => one.url === url && one.headers['service-event-type'] !== 'endpoint.verification',
    );
  }

  async post({ url, headers, body, signal, mayBeSent }: OutboundRequest): Promise<FakeAnswer> {
    if (signal?.aborted === true || mayBeSent?.() === false) return ABORTED_FAILURE;
    const text = typeof body === 'string' ? body : Buffer.from(body).toString();
    const request = { url, headers, body: text, at: Date.now() };
    this.arrived.push(request);
    const underWay = (this.underWay.get(url) ?? 0) + 1;
    this.underWay.set(url, underWay);
    this.mostAtOnce.set(url, Math.max(underWay, this.mostAtOnce.get(url) ?? 0));
    await Promise.resolve();
    const { promise: aborted, resolve } = Promise.withResolvers<FakeAnswer>();
    const giveUp = () => resolve(ABORTED_FAILURE);
    signal?.addEventListener('abort', giveUp);
    try {
      const behaviour = this.behaviours.get(url);
      if (behaviour === undefined) return this.respondWithOk(request);
      return await Promise.race([behaviour(request), aborted]);
    } finally {
      signal?.removeEventListener('abort', giveUp);
      this.underWay.set(url, (this.underWay.get(url) ?? 0) - 1);
    }
  }

  /** Returns a response with status 200; for a challenge, with its token as the body. */
  respondWithOk({ headers, body }: ReceivedRequest): FakeAnswer {
    if (headers['service-event-type'] !== 'endpoint.verification') return createReceiverAnswer(200);
    return createReceiverAnswer(200, {}, (JSON.parse(body) as { data: { challenge: string } }).data.challenge);
  }

  describeUrlRefusal(url: string): string | undefined {
    if (!URL.canParse(url)) return 'This is not a URL.';
    const { protocol, username, password, hash } = new URL(url);
    if (protocol !== 'https:') return 'The URL must begin with https://.';
    if (username !== '' || password !== '') return 'The URL must not contain credentials.';
    return hash === '' ? undefined : 'The URL must not have a fragment.';
  }

  closeOutboundHttp(): Promise<void> {
    return Promise.resolve();
  }
}
