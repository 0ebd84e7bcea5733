import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '@tracking/contracts';
import { verifySignature, type Verdict } from './signature.ts';

export interface ReceivedDelivery {
  readonly event: EventEnvelope;
  readonly verdict: Verdict;
  /** Whether this event id came before: delivery is at least once, so a receiver drops repeats. */
  readonly repeated: boolean;
  readonly receivedAt: Date;
}

/** The request of a delivery, as it came. */
export interface DeliveryRequest {
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte. */
  readonly body: Buffer;
  /** Aborts when whoever sent it waits for no answer any more. */
  readonly signal: AbortSignal;
}

/** What the sender of a delivery is answered. */
export interface DeliveryAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/** Told each delivery. Of a valid one it may say what is answered; 204 where it does not. */
export type Received = (
  delivery: ReceivedDelivery,
  request: DeliveryRequest,
) => void | DeliveryAnswer | Promise<DeliveryAnswer>;

export interface WebhookReceiver {
  readonly url: string;
  /** Deliveries are verified against this from now on; until then they are refused, and nobody is told of them. */
  useSecret(secret: string): void;
  close(): Promise<void>;
}

/**
 * A receiver as a client would build one: answers the ownership challenge, verifies each signature over the raw body,
 * answers 2xx only after the event id was kept (here: in memory) and drops repeats. Listens on 127.0.0.1.
 */
export async function startReceiver(options: { readonly port?: number }, received: Received): Promise<WebhookReceiver> {
  const seen = new Set<string>();
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void answer(request, hungUp(response)).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(400).end(),
    );
  });

  async function answer(request: IncomingMessage, signal: AbortSignal): Promise<DeliveryAnswer> {
    const { headers } = request;
    const body = await readBody(request);
    const header = headers['service-signature'];
    const event = JSON.parse(body.toString('utf8')) as EventEnvelope | Challenge;
    const isChallenge = event.type === 'endpoint.verification';
    // A challenge may come before the answer that has the secret. Whoever sends one learns nothing from its echo.
    if (secret === undefined) return isChallenge ? text(200, event.data.challenge) : text(503, 'No secret yet.');
    const verdict = verifySignature(String(header), body, secret, Date.now());
    if (isChallenge && verdict === 'valid') return text(200, event.data.challenge);
    const delivery = event as EventEnvelope;
    const repeated = seen.has(delivery.id);
    if (verdict === 'valid') seen.add(delivery.id);
    const told = received({ event: delivery, verdict, repeated, receivedAt: new Date() }, { headers, body, signal });
    if (verdict !== 'valid') return text(400, verdict);
    return (await told) ?? text(204, '');
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    useSecret: (value) => {
      secret = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Challenge {
  readonly type: 'endpoint.verification';
  readonly data: { readonly challenge: string };
}

function text(status: number, body: string): DeliveryAnswer {
  return { status, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(body) };
}

/** Aborts when the connection closes before the answer is out. */
function hungUp(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
