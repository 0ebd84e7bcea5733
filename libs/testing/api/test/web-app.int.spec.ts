import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const INDEX = '<!doctype html><title>Shipments</title>';
const SCRIPT = 'export const ports = 104_000;\n'.repeat(50);

describe('the web application, served beside the API', () => {
  let folder: string;
  let api: Api;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'web-app-'));
    await mkdir(join(folder, 'assets'));
    await mkdir(join(folder, '.vite'));
    const files = {
      'index.html': INDEX,
      'assets/index-Ab3-_xYz.js': SCRIPT,
      'favicon.svg': '<svg/>',
      'assets/index.css': 'p{}',
    };
    for (const [name, content] of Object.entries({ ...files, '.made-of': 'abc', '.vite/manifest.json': '{}' })) {
      await writeFile(join(folder, name), content);
      await writeFile(join(folder, `${name}.br`), brotliCompressSync(content));
      await writeFile(join(folder, `${name}.gz`), gzipSync(content));
    }
    api = await startApi({ settings: { webAppFolder: folder } });
  });
  afterAll(async () => {
    await api.stop();
    await rm(folder, { recursive: true });
  });

  /** Sends a request without decompressing the response. */
  const ask = (url: string, options: Omit<InjectOptions, 'url'> = {}) => api.inject({ url, ...options });

  it.each(['/start', '/shipments', '/shipments/shp_x/timeline', '/exceptions', '/settings/webhooks', '/sign-in'])(
    'is the same page at %s, asked for anew each time, with a policy of its own files alone',
    async (path) => {
      const { statusCode, headers, payload } = await ask(path);
      expect({ statusCode, payload }).toEqual({ statusCode: 200, payload: INDEX });
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
      const again = await ask(path, { headers: { 'if-none-match': String(headers.etag) } });
      expect([again.statusCode, again.payload]).toEqual([304, '']);
    },
  );

  it('has assets that are kept for good, since their names change with them', async () => {
    const { statusCode, headers, payload } = await ask('/assets/index-Ab3-_xYz.js');
    expect([statusCode, payload]).toEqual([200, SCRIPT]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect((await ask('/assets/index.css')).headers['cache-control']).toBe('no-cache');
    expect(headers['content-type']).toMatch(/^(text|application)\/javascript/);
  });

  it('comes compressed as a browser takes it', async () => {
    const encodings = ['br, gzip', 'gzip', 'identity'].map(async (accepted) => {
      const { headers, rawPayload } = await ask('/assets/index-Ab3-_xYz.js', {
        headers: { 'accept-encoding': accepted },
      });
      expect(String(headers['vary']).toLowerCase()).toBe('accept-encoding');
      return [headers['content-encoding'], rawPayload.length < SCRIPT.length];
    });
    expect(await Promise.all(encodings)).toEqual([
      ['br', true],
      ['gzip', true],
      [undefined, false],
    ]);
    const page = await ask('/shipments', { headers: { 'accept-encoding': 'gzip, deflate, br' } });
    expect(page.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(page.rawPayload).toString()).toBe(INDEX);
  });

  it('answers HEAD as GET, without the content', async () => {
    for (const path of ['/shipments', '/assets/index-Ab3-_xYz.js', '/favicon.svg']) {
      const { statusCode, headers, payload } = await ask(path, { method: 'HEAD' });
      expect([statusCode, payload]).toEqual([200, '']);
      expect(Number(headers['content-length'])).toBeGreaterThan(0);
    }
  });

  it.each([
    '/assets/index-old.js',
    '/assets/../index.html.br',
    '/assets/..%2f.made-of',
    '/.made-of',
    '/.vite/manifest.json',
    '/index.html',
    '/shipmentsx',
    '/nowhere',
    '/v1/nowhere',
    '/v1/shipments/shp_x/nowhere',
  ])('is not in the place of what is not there: %s', async (path) => {
    const { statusCode, payload } = await ask(path, { headers: { accept: 'text/html' } });
    expect(statusCode).toBe(404);
    expect(payload).not.toContain('<title>');
  });

  it('takes no writes', async () => {
    expect((await ask('/shipments', { method: 'POST', payload: {} })).statusCode).toBe(405);
  });

  it('is where browsers come to that ask for nothing in particular', async () => {
    const { statusCode, headers } = await ask('/', { headers: { accept: 'text/html' } });
    expect([statusCode, headers.location]).toEqual([302, 'shipments']);
  });
});
