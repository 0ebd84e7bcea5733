// A webhook receiver with the package standardwebhooks: npm install standardwebhooks, then WEBHOOK_SECRET=whsec_… node receiver.mjs
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { env } from 'node:process';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

if (!env.WEBHOOK_SECRET) throw new Error('set WEBHOOK_SECRET');
const webhook = new Webhook(env.WEBHOOK_SECRET);

/** Ids of received events. In production, use a table with the event id as its key: it must outlive the process. */
const seen = new Set();

/** @returns the response body. @throws WebhookVerificationError */
async function receive(request) {
  const event = webhook.verify(await buffer(request), request.headers);
  if (event.type === 'endpoint.verification') return event.data.challenge;
  if (!seen.has(event.id)) {
    seen.add(event.id);
    console.log(`${event.type} ${event.id} shipment_version ${event.data.shipment_version ?? ''}`);
  }
  return '';
}

const server = createServer((request, response) => {
  receive(request).then(
    (text) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end(text),
    (error) => response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end(error.message),
  );
});
server.listen(Number(env.PORT ?? 4000), '127.0.0.1');
