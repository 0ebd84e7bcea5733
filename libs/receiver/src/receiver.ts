import { createServer, type IncomingMessage } from 'node:http';
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

export interface WebhookReceiver {
  readonly url: string;
  /** Deliveries are verified against this from now on; until then they are only answered. */
  useSecret(secret: string): void;
  close(): Promise<void>;
}

/**
 * A receiver as a client would build one: answers the ownership challenge, verifies each signature over the raw body,
 * answers 2xx only after the event id was kept (here: in memory) and drops repeats. Listens on 127.0.0.1.
 */
export async function startReceiver(
  options: { readonly port?: number },
  received: (delivery: ReceivedDelivery) => void,
): Promise<WebhookReceiver> {
  const seen = new Set<string>();
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void answer(request).then(
      ({ status, text }) => response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text),
      () => response.writeHead(400).end(),
    );
  });

  async function answer(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const body = await readBody(request);
    const header = request.headers['service-signature'];
    const verdict = secret === undefined ? 'valid' : verifySignature(String(header), body, secret, Date.now());
    const event = JSON.parse(body.toString('utf8')) as EventEnvelope | Challenge;
    if (event.type === 'endpoint.verification' && verdict === 'valid')
      return { status: 200, text: event.data.challenge };
    const delivery = event as EventEnvelope;
    const repeated = seen.has(delivery.id);
    if (verdict === 'valid') seen.add(delivery.id);
    received({ event: delivery, verdict, repeated, receivedAt: new Date() });
    return verdict === 'valid' ? { status: 204, text: '' } : { status: 400, text: verdict };
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

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
