import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHROMIUM_PATH, CHROMIUM_FLAGS } from '@tracking/testing';
import { chromium, type Browser, type BrowserContext, type CDPSession } from 'playwright-core';
import { get } from './list-queries.ts';
import { readWorkspaceId } from './lists.ts';
import { computeMedian, driveEvenly, type LoadRequest } from './load.ts';
import { runCli, startStandalone, type Server } from './server.ts';
import { buildStore, otherWorkspaceIds } from './shipment-store.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const PARTS: Readonly<Record<string, (amount: number | undefined) => Promise<void>>> = { pages, tab: measureTab };
export const WEB_PARTS: readonly string[] = Object.keys(PARTS);

/** Number of shipments in the second store of the run: costs that do not grow with the data are equal there. */
const FEW_SHIPMENTS = 200;
const TURNS = 7;
const PASSWORD = 'violet harbour crane';

/** Selector of a page that has finished loading. */
const READ = ':not(:has([aria-label^="Loading"], [aria-busy=true]))';

/** A page and the selector that shows that its main content is loaded. */
const PAGES: readonly { readonly name: string; readonly path: string; readonly shows: string }[] = [
  { name: 'shipments, first row', path: '/shipments', shows: '[role=table] [role=rowgroup]:nth-child(2) [role=row]' },
  {
    name: 'shipments of a status',
    path: '/shipments?status=in_transit',
    shows: '[role=table] [role=rowgroup]:nth-child(2) [role=row]',
  },
  { name: 'a shipment', path: '/shipments/ID', shows: `main:has(nav a)${READ} h1` },
  {
    name: 'its timeline',
    path: '/shipments/ID/timeline',
    shows: `main:has(time)${READ} h1`,
  },
  { name: 'exceptions', path: '/exceptions', shows: `main${READ} h1` },
  { name: 'events', path: '/settings/events', shows: `main${READ} h1` },
];

/**
 * Measures the web application in a real browser.
 * @param amount number of stored shipments (`pages`), or seconds of 100 live events each (`tab`)
 * @param part name of the only part to run
 */
export async function benchWeb(amount: number | undefined, part?: string): Promise<void> {
  if (CHROMIUM_PATH === undefined) throw new Error('no Chromium found: set CHROMIUM_PATH to its path');
  for (const [name, run] of Object.entries(PARTS)) {
    if (part === undefined || part === name) await run(part === undefined && name === 'tab' ? undefined : amount);
  }
}

/** A signed-in browser, and its server. */
interface Visit {
  readonly server: Server;
  readonly browser: Browser;
  readonly cookie: { readonly name: string; readonly value: string };
  /** Key of an operator. */
  readonly key: string;
}

async function visiting(dataDir: string, work: (visit: Visit) => Promise<void>): Promise<void> {
  const email = `bench-${Date.now()}@example.com`;
  const key = await runCli(dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');
  const link = await runCli(dataDir, 'users', 'create', '--email', email, '--role', 'admin', '--workspace', 'default');
  const server = await startStandalone(dataDir);
  const browser = await chromium.launch({ executablePath: CHROMIUM_PATH as string, args: CHROMIUM_FLAGS });
  try {
    const send = (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-requested-with': 'bench' };
      return fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const token = link.slice(link.indexOf('#') + 1);
    await send(`/v1/invitations/${token}`, { name: 'Bench', password: PASSWORD });
    const signedIn = await send('/v1/session', { email, password: PASSWORD });
    const [name = '', value = ''] = (signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '').split('=');
    await work({ server, browser, cookie: { name, value }, key });
  } finally {
    await browser.close();
    await server.stop();
  }
}

async function openContext({ browser, server, cookie }: Visit): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, baseURL: server.url });
  await context.addCookies([{ ...cookie, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
  context.setDefaultTimeout(60_000);
  return context;
}

interface Loaded {
  readonly ms: number;
  readonly requests: number;
}

/** Measures pages in a browser with an empty cache, over many shipments and over few. */
async function pages(count = 1_000_000): Promise<void> {
  const { BENCH_DATA_DIR: kept } = process.env;
  const [large, small] = [kept ?? (await folder()), await folder()];
  try {
    for (const [dataDir, total] of [
      [large, count],
      [small, FEW_SHIPMENTS],
    ] as const) {
      // Also creates the workspace.
      await runCli(dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');
      await buildStore(dataDir, total, otherWorkspaceIds(await readWorkspaceId(dataDir)));
    }
    await visiting(small, (few) =>
      visiting(large, async (many) => {
        print(`pages in a browser with an empty cache, until their main content is loaded, ${TURNS} times:`);
        for (const page of PAGES) {
          const [base, of] = [await loadRepeatedly(few, page), await loadRepeatedly(many, page)];
          const ratio = (computeMedianMs(of) / computeMedianMs(base)).toFixed(2);
          const apiRequests = Math.max(...of.map(({ requests }) => requests));
          print(
            `  ${page.name.padEnd(24)} ${count} shipments ${formatLoaded(of)}; ${FEW_SHIPMENTS} shipments ${formatLoaded(base)}; ratio ${ratio}; ${apiRequests} requests of the API`,
          );
        }
      }),
    );
  } finally {
    for (const each of [small, ...(kept === undefined ? [large] : [])])
      await rm(each, { recursive: true, force: true });
  }
}

async function loadRepeatedly(visit: Visit, { path, shows }: (typeof PAGES)[number]): Promise<readonly Loaded[]> {
  const { data } = await get(visit.server, visit.key, '/v1/shipments?limit=1&status=in_transit');
  const address = path.replace('ID', data[0]?.id ?? '');
  const found: Loaded[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const context = await openContext(visit);
    const page = await context.newPage();
    let requests = 0;
    page.on('request', (request) => (requests += Number(request.url().includes('/v1/'))));
    const began = performance.now();
    await page.goto(address, { waitUntil: 'commit' });
    await page.locator(shows).first().waitFor();
    const ms = performance.now() - began;
    await page.waitForLoadState('load');
    found.push({ ms, requests });
    await context.close();
  }
  return found;
}

/** Sends an hour of live events at ten a second in a shorter time, while a list and the log of events are open. */
async function measureTab(seconds = 360): Promise<void> {
  const dataDir = await folder();
  try {
    await runCli(dataDir, 'keys', 'create', '--name', 'bench', '--environment', 'live', '--role', 'operator');
    await buildStore(dataDir, 1_000, [await readWorkspaceId(dataDir)]);
    await visiting(dataDir, async (visit) => {
      const context = await openContext(visit);
      const tabs = await Promise.all(
        ['/shipments', '/settings/events'].map(async (path) => {
          const page = await context.newPage();
          await page.goto(path);
          await page.locator(`main${READ} h1`).waitFor();
          return { path, session: await context.newCDPSession(page) };
        }),
      );
      const next = await milestones(visit);
      const quarter = Math.ceil(seconds / 4);
      for (let turn = 0; turn <= 4; turn += 1) {
        const events = turn * quarter * RATE;
        for (const { path, session } of tabs)
          print(`  ${path.padEnd(18)} after ${events} events: ${await memoryOf(session)}`);
        if (turn < 4) await driveEvenly(visit.server, { rate: RATE, seconds: quarter, key: visit.key }, next);
      }
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
const RATE = 100;

/** Posts milestones of shipments in the displayed list. */
async function milestones({ server, key }: Visit): Promise<() => LoadRequest> {
  const { data } = await get(server, key, '/v1/shipments?limit=200');
  let n = 0;
  return () => {
    n += 1;
    const occurred_at = new Date(Date.UTC(2026, 8, 1) + n * 1_000).toISOString();
    const body = JSON.stringify({ code: 'in_transit_checkpoint', occurred_at, location: 'SGSIN' });
    return { method: 'POST', path: `/v1/shipments/${data[n % data.length]?.id}/milestones`, body };
  };
}

async function memoryOf(session: CDPSession): Promise<string> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes } = await session.send('Memory.getDOMCounters');
  return `${(usedSize / 2 ** 20).toFixed(1)} MiB of JavaScript, ${nodes} nodes`;
}

function computeMedianMs(loaded: readonly Loaded[]): number {
  return computeMedian(loaded.map(({ ms }) => ms));
}

function formatLoaded(loaded: readonly Loaded[]): string {
  return `p50 ${computeMedianMs(loaded).toFixed(0)} ms, most ${Math.max(...loaded.map(({ ms }) => ms)).toFixed(0)} ms`;
}

function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'bench-web-'));
}
