import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MILESTONE_CATALOG } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');

const listMarkdown = (folder: string) => readdirSync(join(DOCS, folder)).filter((name) => name.endsWith('.md'));
const findAll = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, found = '']) => found);

describe('the guides and the reference, served by the product', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  /** Follows all links from /docs/guides to other pages of this server. */
  async function crawl(): Promise<ReadonlyMap<string, string>> {
    const pages = new Map<string, string>();
    const waiting = ['/docs/guides', '/docs/errors', '/docs/webhooks'];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue;
      const page = await api.call('GET', path);
      expect([path, page.status]).toEqual([path, 200]);
      pages.set(path, page.text);
      if (!(page.headers.get('content-type') ?? '').startsWith('text/html') || path === '/docs') continue;
      for (const link of findAll(/(?:href|src)="([^"]+)"/g, page.text)) {
        const target = new URL(link, `${api.url}${path}`);
        if (target.origin === api.url) waiting.push(target.pathname);
      }
    }
    return pages;
  }

  it('links all pages, and each link leads to a page and to a heading of it', async () => {
    const pages = await crawl();
    const expected = ['guides', 'reference'].flatMap((folder) =>
      listMarkdown(folder).map((name) => `/docs/${folder}/${name}`.replace(/(\/README)?\.md$/, '')),
    );
    expect([...pages.keys()]).toEqual(expect.arrayContaining(expected));
    for (const [path, html] of pages) {
      if (!html.startsWith('<!doctype html>') || path === '/docs') continue;
      const ids = findAll(/ id="([^"]+)"/g, html);
      expect([path, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([path, []]);
      for (const link of findAll(/href="([^"]+#[^"]+|#[^"]+)"/g, html)) {
        const target = new URL(link, `${api.url}${path}`);
        const text = pages.get(target.pathname);
        if (target.origin !== api.url || text === undefined) continue;
        expect([path, link, text.includes(` id="${target.hash.slice(1)}"`)]).toEqual([path, link, true]);
      }
    }
  });

  it('runs no scripts and styles nothing inline', async () => {
    for (const [path, html] of await crawl()) {
      if (!html.startsWith('<!doctype html>') || path === '/docs') continue;
      expect([path, /<script|<style|<[^>]* (?:on\w+|style)=/.exec(html)?.[0]]).toEqual([path, undefined]);
    }
  });

  it('links paths that are written as code, and shows links to files that are not published as text', async () => {
    const { text } = await api.call('GET', '/docs/guides/errors');
    expect(text).toContain(
      '<a href="../../docs/errors#validation_failed"><code>/docs/errors#validation_failed</code></a>',
    );
    const reference = await api.call('GET', '/docs/reference');
    expect(reference.text).toContain('<title>Reference — Shipment Tracking API</title>');
    expect(reference.text).toContain('ARCHITECTURE.md describes the');
    expect(reference.text).not.toContain('ARCHITECTURE.md"');
  });

  it('maps events of other services to milestone codes that exist, and to error codes that are explained', async () => {
    const guide = readFileSync(join(DOCS, 'guides/migrating.md'), 'utf8');
    const section = (title: string) => guide.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
    const codes = findAll(/^\| `(\w+)`/gm, section('Events about milestones'));
    expect(codes.length).toBeGreaterThan(15);
    const known = MILESTONE_CATALOG.map(({ code }) => code as string);
    expect(codes.filter((code) => !known.includes(code))).toEqual([]);
    const { text } = await api.call('GET', '/docs/errors');
    const errors = findAll(/`(\w+)`/g, findAll(/^\|.*\|(.*)\|$/gm, section('Errors')).join());
    const explained = errors.filter((code) => !/^(?:code|details|external_id)$/.test(code) && code !== 'Retry');
    expect(explained.filter((code) => !text.includes(`id="${code}"`))).toEqual([]);
  });

  it('shows the programs of the guides as text', async () => {
    const program = await api.call('GET', '/docs/guides/verification/python/receiver.py');
    expect(program.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(program.text).toBe(readFileSync(join(DOCS, 'guides/verification/python/receiver.py'), 'utf8'));
  });

  it('redirects folders with a slash, and serves no other files', async () => {
    const slashed = await api.call('GET', '/docs/guides/');
    expect([
      slashed.status,
      new URL(slashed.headers.get('location') ?? '', `${api.url}/docs/guides/`).pathname,
    ]).toEqual([301, '/docs/guides']);
    for (const path of [
      '/docs/openapi.json',
      '/docs/guides/..%2fopenapi.json',
      '/docs/guides/none',
      '/docs/guides/README',
    ])
      expect([path, (await api.call('GET', path)).status]).toEqual([path, 404]);
  });

  it.each(['/docs/guides/webhooks', '/docs/guides/webhooks.md', '/docs/errors', '/llms.txt', '/llms-full.txt'])(
    'sends %s again only if it has changed',
    async (path) => {
      const first = await api.call('GET', path);
      const etag = first.headers.get('etag') ?? '';
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-cache']);
      const again = await api.call('GET', path, { headers: { 'if-none-match': etag } });
      expect([again.status, again.text]).toEqual([304, '']);
      expect((await api.call('GET', path, { headers: { 'if-none-match': '"other"' } })).text).toBe(first.text);
      const head = await api.call('HEAD', path);
      expect([head.status, head.headers.get('etag'), head.text]).toEqual([200, etag, '']);
    },
  );

  it('lists all guides and reference pages for language models, as llmstxt.org asks', async () => {
    const list = await api.call('GET', '/llms.txt');
    expect(list.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const [title, empty, summary, ...rest] = list.text.split('\n');
    expect([title, empty]).toEqual(['# Shipment Tracking API', '']);
    expect(summary).toMatch(/^> \S/);
    const sections = rest.join('\n').split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(['API', 'Guides', 'Reference', 'Optional']);
    const entries = sections.flatMap((section) =>
      section
        .split('\n')
        .slice(1)
        .filter((line) => line !== ''),
    );
    const paths = entries.map((line) => {
      expect(line).toMatch(/^- \[[^\]]+\]\(https:\/\/api\.example\/[^)]+\): [^[\]]+$/);
      return /\(https:\/\/api\.example([^)]+)\)/.exec(line)?.[1] ?? '';
    });
    for (const path of paths) expect([path, (await api.call('GET', path)).status]).toEqual([path, 200]);
    const published = ['guides', 'reference'].flatMap((folder) =>
      listMarkdown(folder)
        .filter((name) => name !== 'README.md')
        .map((name) => `/docs/${folder}/${name}`),
    );
    expect(paths.filter((path) => /^\/docs\/(?:guides|reference)\//.test(path)).sort()).toEqual(published.sort());
    const { text } = await api.call('GET', '/llms-full.txt');
    for (const path of published) {
      expect(text).toContain(`Source: https://api.example${path}\n\n${readFileSync(join(DOCS, '..', path), 'utf8')}`);
    }
  });

  it('states true facts in the list for language models', async () => {
    const { text } = await api.call('GET', '/llms.txt');
    const base = /base URL of all operations is https:\/\/api\.example(\/v1)\./.exec(text)?.[1] ?? '';
    const refused = await api.call('GET', `${base}/shipments`);
    expect(refused.body['error']).toMatchObject({ code: 'missing_api_key' });
    const members = /An error is \{"error": \{(.+?)\}\}/.exec(text)?.[1] ?? '';
    expect(Object.keys(refused.body['error'] as object)).toEqual(JSON.parse(`[${members}]`));
  });
});
