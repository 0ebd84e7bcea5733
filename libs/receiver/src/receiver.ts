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

/** Deliveries older than this many seconds are refused, to prevent replay: docs/reference/delivery.md#signature. */
const MAX_AGE_SECONDS = 300;

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

/** The response to the sender of a delivery. */
export interface DeliveryResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/** Told each delivery. Of a valid one it may say what is answered; 204 where it does not. */
export type DeliveryHandler = (
  delivery: ReceivedDelivery,
  request: DeliveryRequest,
) => void | DeliveryResponse | Promise<DeliveryResponse>;

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
export async function startReceiver(
  options: { readonly port?: number },
  handleDelivery: DeliveryHandler,
): Promise<WebhookReceiver> {
  const seen = new Set<string>();
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void respond(request, createDisconnectSignal(response)).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(400).end(),
    );
  });

  async function respond(request: IncomingMessage, signal: AbortSignal): Promise<DeliveryResponse> {
    const { headers } = request;
    const body = await readBody(request);
    const header = headers['service-signature'];
    const event = JSON.parse(body.toString('utf8')) as EventEnvelope | Challenge;
    const isChallenge = event.type === 'endpoint.verification';
    // A challenge may come before the answer that has the secret. Whoever sends one learns nothing from its echo.
    if (secret === undefined)
      return isChallenge ? createTextResponse(200, event.data.challenge) : createTextResponse(503, 'No secret yet.');
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

interface Challenge {
  readonly type: 'endpoint.verification';
  readonly data: { readonly challenge: string };
}

function createTextResponse(status: number, body: string): DeliveryResponse {
  return { status, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(body) };
}

/** Aborts when the connection closes before the answer is out. */
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
 * Whether a delivery was signed with the endpoint's secret, recently.
 * @param header the `Service-Signature` header: `t=<unix seconds>,v1=<hex>`; several `v1` while a secret is being rolled
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
  return now / 1000 - Number(timestamp) > MAX_AGE_SECONDS ? 'too_old' : 'valid';
}
