import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createOutboundHttp } from '@tracking/outbound-http';

/**
 * The baseline of the webhook measurements: only signs and POSTs from memory, with the same client and concurrency.
 * `GET /send?url=…&count=…&concurrency=…[&rate=…]` responds when all requests were answered; `rate` is the maximum per
 * second.
 */
const outbound = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const key = 'whsec_baseline';
const BODY_SUFFIX = `"data":${JSON.stringify({ text: 'x'.repeat(1_500) })}}`;

async function send(url: string, id: number): Promise<void> {
  const now = new Date();
  const data = `{"id":"evt_${id}","type":"shipment.created","created_at":"${now.toISOString()}",${BODY_SUFFIX}`;
  const t = Math.floor(now.getTime() / 1_000);
  const signature = createHmac('sha256', key).update(`${t}.${data}`).digest('hex');
  const headers = {
    'Content-Type': 'application/json',
    'Service-Signature': `t=${t},v1=${signature}`,
    'Service-Event-Id': `evt_${id}`,
    'Service-Event-Type': 'shipment.created',
  };
  const result = await outbound.post({ url, headers, body: data, timeoutMs: 10_000 });
  if (result.kind !== 'response' || result.statusCode !== 204) throw new Error(JSON.stringify(result));
}

createServer((request, response) => {
  const parameters = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const url = parameters.get('url');
  if (url === null) return void response.end();
  let next = 0;
  const count = Number(parameters.get('count'));
  const rate = Number(parameters.get('rate') ?? Infinity);
  const began = performance.now();
  const worker = async () => {
    while (next < count) {
      const early = began + (next * 1_000) / rate - performance.now();
      const id = (next += 1);
      if (early > 0) await pause(early);
      await send(url, id);
    }
  };
  const workers = Array.from({ length: Number(parameters.get('concurrency')) }, worker);
  void Promise.all(workers).then(() => response.end('done'));
}).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
