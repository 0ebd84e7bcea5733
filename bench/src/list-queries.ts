import { Agent, request as httpRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { cpuSeconds } from './machine.ts';
import type { Server } from './server.ts';

const REQUESTS = 200;
/** Number of concurrent requests. */
export const CONCURRENCY = 2;
const DEEP = 1_000;

/** Queries of the largest workspace; `deep` also requests page 1,000. */
export const QUERIES: readonly { readonly name: string; readonly query: string; readonly deep?: true }[] = [
  { name: 'all', query: '', deep: true },
  { name: 'all, oldest first', query: 'sort=created_at', deep: true },
  { name: 'all, by updated_at', query: 'sort=-updated_at', deep: true },
  { name: 'all, by eta', query: 'sort=eta', deep: true },
  { name: 'all, by eta, latest first', query: 'sort=-eta', deep: true },
  { name: 'status, common', query: 'status=in_transit', deep: true },
  { name: 'status, rare', query: 'status=completed' },
  { name: 'status, three', query: 'status=booked,at_origin,arrived', deep: true },
  { name: 'status, common, by eta', query: 'status=in_transit&sort=eta', deep: true },
  { name: 'active', query: 'active=true', deep: true },
  { name: 'mode, rare', query: 'mode=rail' },
  { name: 'external_id', query: 'external_id=TMS-2026-0000001' },
  { name: 'house_bill, without match', query: 'house_bill=NOBODY' },
  { name: 'reference', query: 'reference=4500000010' },
  { name: 'container_number', query: 'container_number=MSKU0000059' },
  { name: 'shipper, many matches', query: 'shipper=C-3' },
  { name: 'carrier', query: 'carrier_scac=MAEU', deep: true },
  { name: 'origin and destination', query: 'origin_port=CNSHA&destination_port=NLRTM' },
  { name: 'two common filters, by eta', query: 'carrier_scac=MAEU&mode=ocean&sort=eta' },
  { name: 'two filters without common match', query: 'mode=air&carrier_scac=MAEU' },
  { name: 'two filters without common match, by eta', query: 'mode=air&carrier_scac=MAEU&sort=eta' },
  { name: 'open exceptions', query: 'has_open_exceptions=true' },
  { name: 'created in a week', query: `created_from=${daysAgo(60)}&created_to=${daysAgo(53)}` },
  { name: 'eta in a week', query: `eta_from=${daysAgo(60)}&eta_to=${daysAgo(53)}` },
  { name: 'eta in a week, newest first', query: `eta_from=${daysAgo(60)}&eta_to=${daysAgo(53)}&status=in_transit` },
  { name: 'updated since yesterday', query: `updated_since=${daysAgo(2)}&sort=updated_at` },
  { name: 'q, a common word', query: 'q=acme', deep: true },
  { name: 'q, a common word, by eta', query: 'q=acme&sort=-eta' },
  { name: 'q, one letter', query: 'q=m' },
  { name: 'q, a rare word', query: 'q=hbl7919' },
  { name: 'q, without match', query: 'q=nobodyhasthis' },
  { name: 'q, two common words', query: 'q=acme+trading' },
  { name: 'q, a common and a rare word', query: 'q=acme+tms+0000001' },
];

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

const agent = new Agent({ keepAlive: true });
export async function get(server: Server, key: string, path: string): Promise<Page> {
  const outgoing = httpRequest(server.url + path, { headers: { authorization: `Bearer ${key}` }, agent }).end();
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  outgoing.once('error', reject);
  outgoing.once('response', (response) => {
    json(response).then((body) => {
      if (response.statusCode === 200) resolve(body as Page);
      else reject(new Error(`${path}: ${response.statusCode} ${JSON.stringify(body)}`));
    }, reject);
  });
  return promise;
}

export interface Measured {
  /** Formatted quantiles of the duration. */
  readonly times: string;
  /** Server CPU milliseconds per request. */
  readonly cpu: number;
  /** Number of items on the first page, with a + if more follow. */
  readonly found: string;
}

/** Measures repeated requests of the first page. */
export async function measureQuery(server: Server, key: string, query: string): Promise<Measured> {
  const path = `/v1/shipments?limit=50&${query}`;
  const first = await get(server, key, path);
  const times: number[] = [];
  const before = cpuSeconds(server.pid);
  const ask = async () => {
    while (times.length < REQUESTS) {
      const began = performance.now();
      await get(server, key, path);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  const cpu = ((cpuSeconds(server.pid) - before) * 1_000) / times.length;
  return { times: quantiles(times), cpu, found: `${first.data.length}${first.next_cursor === null ? '' : '+'}` };
}

export function formatMeasured({ times, cpu, found }: Measured): string {
  return `${times}  ${cpu.toFixed(1).padStart(5)} ms CPU  ${found.padStart(3)} found`;
}

/** Measures pages 901 to 1,000. */
export async function measureDeepPages(server: Server, key: string, query: string): Promise<string> {
  const times: number[] = [];
  let cursor: string | null = '';
  for (let page = 1; page <= DEEP && cursor !== null; page += 1) {
    const began = performance.now();
    const path: string = `/v1/shipments?limit=50&${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    cursor = (await get(server, key, path)).next_cursor;
    times.push(performance.now() - began);
  }
  return `  page ${times.length}: ${quantiles(times.slice(-100))}`;
}

function quantiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN).toFixed(1);
  return `p50 ${at(0.5).padStart(5)}  p99 ${at(0.99).padStart(5)} ms`;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
