import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '@tracking/contracts';

/**
 * Maximum age of a delivery in seconds. Older deliveries are rejected to prevent replay attacks:
 * docs/reference/delivery.md#signature.
 */
const MAX_DELIVERY_AGE_SECONDS = 300;

export interface ReceivedDelivery {
  readonly event: EventEnvelope;
  readonly verdict: Verdict;
  /** True if the receiver has seen this event id before. Delivery is at least once, so receivers ignore repeats. */
  readonly repeated: boolean;
  readonly receivedAt: Date;
}

/** HTTP request of a delivery as the receiver got it, with the body unparsed. */
export interface DeliveryRequest {
  readonly headers: IncomingHttpHeaders;
  /** Request body, byte for byte. */
  readonly body: Buffer;
  /** Aborts when the sender stops waiting for the response. */
  readonly signal: AbortSignal;
}

/** The response to the sender of a delivery. */
export interface ReceiverResponseToDelivery {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * Handler that is called for each delivery. The handler may return the response to a valid delivery; 204 by default.
 */
export type DeliveryHandler = (
  delivery: ReceivedDelivery,
  request: DeliveryRequest,
) => void | ReceiverResponseToDelivery | Promise<ReceiverResponseToDelivery>;

export interface WebhookReceiver {
  readonly url: string;
  /** Sets the secret that verifies deliveries. Until then, deliveries are rejected and not passed to the handler. */
  useSecret(secret: string): void;
  close(): Promise<void>;
}

/**
 * Starts a webhook receiver on 127.0.0.1, such as a client would build. It returns the ownership challenge, verifies
 * each signature over the raw body, responds 2xx only after storing the event id (in memory), and ignores repeats.
 */
export async function startReceiver(
  options: { readonly port?: number },
  handleDelivery: DeliveryHandler,
): Promise<WebhookReceiver> {
  const seen = new Set<string>();
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void respondToDelivery(request, createDisconnectSignal(response)).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(400).end(),
    );
  });

  async function respondToDelivery(request: IncomingMessage, signal: AbortSignal): Promise<ReceiverResponseToDelivery> {
    const { headers } = request;
    const body = await readBody(request);
    const header = headers['service-signature'];
    const event = JSON.parse(body.toString('utf8')) as EventEnvelope | OwnershipChallenge;
    const isChallenge = event.type === 'endpoint.verification';
    // A challenge may arrive before the response with the secret. Echoing it reveals nothing to its sender.
    if (secret === undefined)
      return isChallenge
        ? createTextResponse(200, event.data.challenge)
        : createTextResponse(503, 'The receiver has no secret yet.');
    const verdict = verifySignature(String(header), body, secret, Date.now());
    if (isChallenge && verdict === 'valid') return createTextResponse(200, event.data.challenge);
    const delivery = event as EventEnvelope;
    const repeated = seen.has(delivery.id);
    if (verdict === 'valid') seen.add(delivery.id);
    const handled = handleDelivery(
      { event: delivery, verdict, repeated, receivedAt: new Date() },
      { headers, body, signal },
    );
    if (verdict !== 'valid') return createTextResponse(400, verdict);
    return (await handled) ?? createTextResponse(204, '');
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

interface OwnershipChallenge {
  readonly type: 'endpoint.verification';
  readonly data: { readonly challenge: string };
}

function createTextResponse(status: number, body: string): ReceiverResponseToDelivery {
  return { status, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(body) };
}

/** Returns a signal that aborts if the connection closes before the response is sent. */
function createDisconnectSignal(response: ServerResponse): AbortSignal {
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

type Verdict = 'valid' | 'malformed' | 'too_old' | 'wrong_signature';

/**
 * Checks that a delivery was signed recently with the endpoint's secret.
 * @param header the `Service-Signature` header: `t=<unix seconds>,v1=<hex>`, with several `v1` during a rotation
 * @param body the raw request body, byte for byte
 * @param secret the whole `whsec_…` string
 * @param now epoch milliseconds
 */
export function verifySignature(header: string | undefined, body: Uint8Array, secret: string, now: number): Verdict {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value ? [value] : []));
  if (!/^\d{1,12}$/.test(timestamp) || signatures.length === 0) return 'malformed';
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  const matches = signatures.some((signature) => {
    const given = Buffer.from(signature, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!matches) return 'wrong_signature';
  return now / 1000 - Number(timestamp) > MAX_DELIVERY_AGE_SECONDS ? 'too_old' : 'valid';
}
