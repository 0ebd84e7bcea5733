import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { cpuSeconds } from './machine.ts';
import type { Server } from './server.ts';

export interface Figures {
  /** Requests per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Server CPU milliseconds per request. */
  readonly cpuMs: number;
  readonly requests: number;
  /** Number of responses other than 2xx, errors and timeouts. */
  readonly failures: number;
}

export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Headers in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Keeps `connections` requests in progress for `seconds`; `next` creates each request. */
export async function drive(
  server: Pick<Server, 'url' | 'pid'>,
  options: { connections: number; seconds: number; key?: string; amount?: number },
  next: () => LoadRequest,
): Promise<Figures> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (options.key) headers['authorization'] = `Bearer ${options.key}`;
  const cpuBefore = cpuSeconds(server.pid);
  const result = await autocannon({
    url: server.url,
    connections: options.connections,
    ...(options.amount === undefined ? { duration: options.seconds } : { amount: options.amount }),
    headers,
    requests: [
      {
        setupRequest: (request) => {
          const made = next();
          return Object.assign(request, made, made.headers && { headers: { ...headers, ...made.headers } });
        },
      },
    ],
  });
  const cpu = cpuSeconds(server.pid) - cpuBefore;
  const requests = result['2xx'] + result.non2xx;
  return {
    rate: requests / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMs: (cpu * 1000) / requests,
    requests,
    failures: result.non2xx + result.errors + result.timeouts,
  };
}

/**
 * Sends `rate` requests a second at even intervals, whether or not the previous ones were answered. A load in bursts,
 * or one that waits for the server, would measure itself.
 * @param servers receive the requests in turn
 * @param options key: API key of requests without an `authorization` header
 * @returns the time of each 2xx response, in epoch milliseconds, and its duration
 */
export async function driveEvenly(
  servers: Pick<Server, 'url'> | readonly Pick<Server, 'url'>[],
  { rate, seconds, key }: { readonly rate: number; readonly seconds: number; readonly key?: string },
  next: () => LoadRequest,
): Promise<readonly { readonly request: LoadRequest; readonly answeredAt: number; readonly ms: number }[]> {
  const common = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const agent = new Agent({ keepAlive: true });
  const urls = [servers].flat().map(({ url }) => url);
  const send = async (url: string) => {
    const request = next();
    const sentAt = performance.now();
    const { method, path, body } = request;
    const headers = { ...common, ...request.headers };
    const outgoing = httpRequest(url + path, { method, headers, agent }).end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    // The response also reports an error.
    outgoing.on('error', () => undefined);
    const answeredAt = Date.now();
    const ms = performance.now() - sentAt;
    const answer = await text(response);
    if (response.statusCode !== 200 && response.statusCode !== 201) {
      throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
    }
    return { request, answeredAt, ms };
  };
  const began = performance.now();
  const sent: ReturnType<typeof send>[] = [];
  for (let index = 0; index < rate * seconds; index += 1) {
    const early = began + (index * 1_000) / rate - performance.now();
    if (early > 0) await pause(early);
    sent.push(send(urls[index % urls.length] ?? ''));
  }
  return Promise.all(sent).finally(() => agent.destroy());
}

/** Combines the figures of several turns. */
export function combineFigures(turns: readonly Figures[]): Figures {
  const sum = (of: (figures: Figures) => number) => turns.reduce((total, figures) => total + of(figures), 0);
  const requests = sum((figures) => figures.requests);
  return {
    rate: sum(({ rate }) => rate) / turns.length,
    p50: sum(({ p50 }) => p50) / turns.length,
    p99: Math.max(...turns.map(({ p99 }) => p99)),
    cpuMs: sum((figures) => figures.cpuMs * figures.requests) / requests,
    requests,
    failures: sum(({ failures }) => failures),
  };
}

/** Returns a quantile of sorted values; 0 if there are none. */
export const computeQuantile = (sorted: readonly number[], quantile: number) =>
  sorted[Math.floor(sorted.length * quantile)] ?? 0;

/** Returns the median of the values; for an even number of values, the upper one of the two in the middle. */
export function computeMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

export function formatRow(name: string, figures: Figures, baseline?: Figures): string {
  const ratio = baseline ? `  ${(figures.rate / baseline.rate).toFixed(2)} of the bare route` : '';
  const failed = figures.failures > 0 ? `  FAILED: ${figures.failures}` : '';
  return (
    `${name.padEnd(34)} ${figures.rate.toFixed(0).padStart(7)}/s  p50 ${figures.p50.toFixed(1)} ms  p99 ${figures.p99.toFixed(1)} ms  ` +
    `server CPU ${figures.cpuMs.toFixed(3)} ms each${ratio}${failed}`
  );
}

/** Samples the lag of the read models during some work; returns the maximum in seconds. */
export async function measureMaxLag(
  processes: readonly { readonly managementUrl: string }[],
  work: Promise<unknown>,
): Promise<number> {
  let greatest = 0;
  let done = false;
  void work.finally(() => (done = true)).catch(() => undefined);
  while (!done) {
    for (const { managementUrl } of processes) {
      const text = await (await fetch(`${managementUrl}/metrics`)).text();
      for (const match of text.matchAll(/^read_model_lag_seconds\{[^}]*\} (\S+)$/gm)) {
        greatest = Math.max(greatest, Number(match[1]));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return greatest;
}
