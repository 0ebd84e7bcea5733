// A webhook receiver on Node 22.18 or newer, without packages: WEBHOOK_SECRET=whsec_… node receiver.ts
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { env } from 'node:process';
import { verify } from './signatures.ts';

const secret = env['WEBHOOK_SECRET'] ?? '';
if (secret === '') throw new Error('set WEBHOOK_SECRET');

/** Ids of received events. In production, use a table with the event id as its key: it must outlive the process. */
const seen = new Set<string>();

async function answer(request: IncomingMessage): Promise<{ status: number; text: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const header = request.headers['service-signature']?.toString();
  if (!verify(header, body, secret, Date.now() / 1000)) return { status: 400, text: 'not signed with our secret' };

  const event = JSON.parse(body.toString('utf8'));
  if (event.type === 'endpoint.verification') return { status: 200, text: event.data.challenge };
  if (!seen.has(event.id)) {
    seen.add(event.id);
    console.log(`${event.type} ${event.id} shipment_version ${event.data.shipment_version ?? ''}`);
  }
  return { status: 200, text: '' };
}

const server = createServer((request, response) => {
  answer(request).then(
    ({ status, text }) => response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text),
    () => response.writeHead(500).end(),
  );
});
server.listen(Number(env['PORT'] ?? 4000), '127.0.0.1');
