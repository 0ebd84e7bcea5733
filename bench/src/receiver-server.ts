import { createServer, type ServerResponse } from 'node:http';
import { endlessResponses, hostileReceiverBehaviours } from '@tracking/testing';

/**
 * Counts received deliveries. `/ok/…` responds 204 immediately. These paths are not counted: `/also/…` (as `/ok/…`),
 * `/slow/…` (responds after 9 s), `/fail/…` (500), `/reset/…` (resets the connection), `/flap/N` (204 and 500, a second
 * each), `/hang/…` (never responds), and `/endless/NAME` (a response that does not end). All return the challenge.
 * Since the last `/reset`, `GET /count` returns the number of different (endpoint, event) pairs, cheaply enough for
 * frequent requests under load; `/stats` also returns their latency since `created_at`, and `/arrivals` their times.
 * After `/reset?new`, only later events count.
 */
let deliveries = 0;
let seen = new Set<string>();
let latencies: number[] = [];
let last = 0;
/** Earlier events do not count. */
let since = '';
/** Time of the first delivery about a shipment, by its `external_id`. */
let arrivals = new Map<string, number>();

const behaviours: Readonly<Record<string, (response: ServerResponse, name: string) => void>> = {
  also: (response) => response.writeHead(204).end(),
  slow: (response) => void setTimeout(() => response.writeHead(204).end(), 9_000),
  fail: (response) => response.writeHead(500).end(),
  reset: ({ socket }) => socket?.resetAndDestroy(),
  // Not all endpoints change at the same time, nor in every second.
  flap: (response, name) => response.writeHead(Math.floor(Date.now() / 1_000 + Number(name) / 7) % 2 ? 500 : 204).end(),
  hang: () => undefined,
  endless: ({ socket }, name) => {
    const answer = Object.entries(endlessResponses).find(([known]) => known === name)?.[1];
    if (socket === null || answer === undefined) throw new Error(`there is no endless response ${name}`);
    socket.on('error', () => undefined);
    hostileReceiverBehaviours.floods(answer)(socket);
  },
};

const quantile = (sorted: readonly number[], q: number) => sorted[Math.floor(sorted.length * q)] ?? 0;

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/count') {
    response.end(String(seen.size));
    return;
  }
  if (path === '/stats') {
    const sorted = latencies.toSorted((a, b) => a - b);
    response.end(
      JSON.stringify({
        deliveries,
        different: seen.size,
        p50: quantile(sorted, 0.5),
        p90: quantile(sorted, 0.9),
        p99: quantile(sorted, 0.99),
        greatest: sorted.at(-1) ?? 0,
        last,
      }),
    );
    return;
  }
  if (path === '/arrivals') {
    response.end(JSON.stringify(Object.fromEntries(arrivals)));
    return;
  }
  if (path === '/reset' || path === '/reset?new') {
    since = path === '/reset' ? '' : new Date().toISOString();
    [deliveries, seen, latencies, last] = [0, new Set(), [], 0];
    arrivals = new Map();
    response.end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const type = request.headers['service-event-type'];
    const body = Buffer.concat(chunks).toString('utf8');
    if (type === 'endpoint.verification') {
      response.end((JSON.parse(body) as { data: { challenge: string } }).data.challenge);
      return;
    }
    const [, kind, name] = path.split('/');
    const other = behaviours[kind ?? ''];
    if (other !== undefined) return other(response, name ?? '');
    response.writeHead(204).end();
    // The envelope starts with id, type and created_at, so large events need not be parsed.
    const created = /"created_at":"([^"]+)"/.exec(body)?.[1];
    if (created !== undefined && created < since) return;
    last = Date.now();
    deliveries += 1;
    seen.add(`${path} ${String(request.headers['service-event-id'])}`);
    if (created !== undefined) latencies.push(last - Date.parse(created));
    const shipment = /"external_id":"([^"]+)"/.exec(body)?.[1];
    if (shipment !== undefined && !arrivals.has(shipment)) arrivals.set(shipment, last);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env['PORT']), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
