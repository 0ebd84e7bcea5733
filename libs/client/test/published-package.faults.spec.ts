import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The package that `npm pack` creates, installed by npm in an empty project outside this workspace. */
describe('the published package', () => {
  let folder: string;
  let packed: readonly string[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: `${root}libs/client`,
    });
    const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [PackReport];
    packed = files.map(({ path }) => path);
    // Without a registry, npm takes axios from this workspace.
    const manifest = {
      private: true,
      dependencies: { '@tracking/client': `file:${filename}` },
      overrides: { axios: `file:${root}node_modules/axios` },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  /** Compiles a file strictly, without the types of this workspace. Returns the errors. */
  async function compile(name: string, code: string, options: object): Promise<string> {
    await writeFile(join(folder, name), code);
    const compilerOptions = { target: 'ES2023', strict: true, types: [], outDir: 'out', ...options };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [name] }));
    const compiled = await run(process.execPath, [`${root}node_modules/typescript/bin/tsc`], { cwd: folder }).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    return compiled.stdout;
  }

  const uses = `const client = new TrackingClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', retries: 0 });
    const error = (await client.shipments.get('shp_1').catch((thrown) => thrown));
    console.log(typeof verifyWebhook, (await fileFrom('package.json')).file_name, error instanceof ConnectionError);`;
  const expected = 'function package.json true';

  it('can be imported by an ES module and required by a CommonJS module', async () => {
    const names = '{ ConnectionError, TrackingClient, verifyWebhook }';
    const esm = `import ${names} from '@tracking/client'; import { fileFrom } from '@tracking/client/node'; ${uses}`;
    const cjs = `const ${names} = require('@tracking/client'); const { fileFrom } = require('@tracking/client/node');
      (async () => { ${uses} })();`;
    for (const [name, code] of Object.entries({ 'main.mjs': esm, 'main.cjs': cjs })) {
      await writeFile(join(folder, name), code);
      const { stdout } = await run(process.execPath, [name], { cwd: folder });
      expect({ name, printed: stdout.trim() }).toEqual({ name, printed: expected });
    }
  });

  it.each<[string, object]>([
    ['uses.mts', { module: 'Node16', moduleResolution: 'Node16' }],
    ['uses.cts', { module: 'Node16', moduleResolution: 'Node16' }],
    ['uses.mts', { module: 'NodeNext' }],
    ['uses.cts', { module: 'NodeNext' }],
    ['uses.ts', { module: 'ESNext', moduleResolution: 'Bundler', esModuleInterop: true }],
  ])('has types for %s with %p, which run after compilation', async (name, options) => {
    const code = `import { ConnectionError, TrackingClient, verifyWebhook, type Shipment } from '@tracking/client';
      import { fileFrom } from '@tracking/client/node';
      declare const console: { log(...values: unknown[]): void };
      export const status = (shipment: Shipment): 'in_transit' | undefined =>
        shipment.status === 'in_transit' ? shipment.status : undefined;
      // @ts-expect-error a shipment has no such field
      export const missing = (shipment: Shipment) => shipment.stauts;
      export async function main() { ${uses} }
      void main();`;
    // Without types of Node, the types of its Buffer in axios are errors of axios.
    const typeRoots = [`${root}node_modules/@types`];
    expect(await compile(name, code, { ...options, typeRoots, types: ['node'], lib: ['ES2023', 'DOM'] })).toBe('');
    if (name === 'uses.ts') return;
    const { stdout } = await run(process.execPath, [join('out', name.replace('ts', 'js'))], { cwd: folder });
    expect(stdout.trim()).toBe(expected);
  });

  it('contains its license, changelog and documentation, and neither sources nor packages of this workspace', async () => {
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']));
    expect(packed.filter((path) => path.startsWith('docs/'))).not.toEqual([]);
    expect(packed.filter((path) => path.startsWith('src/') || path.includes('.spec.'))).toEqual([]);
    const home = join(folder, 'node_modules/@tracking/client');
    const read = (path: string) => readFile(join(home, path), 'utf8');
    const manifest = JSON.parse(await read('package.json')) as Manifest;
    expect(Object.keys(manifest.dependencies)).toEqual(['axios']);
    expect(manifest).not.toHaveProperty('private');
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
    expect(await read('CHANGELOG.md')).toContain(`\n## ${manifest.version}\n`);
    expect(await read('LICENSE')).toBe(await readFile(`${root}LICENSE`, 'utf8'));
    for (const path of packed.filter((each) => /\.(js|d\.ts)$/.test(each))) {
      const imported = [...(await read(path)).matchAll(/(?:from|import\(|require\() ?['"]([@\w./:-]+)['"]/g)];
      const external = imported.map(([, name = '']) => name).filter((name) => !/^(\.|node:|axios$)/.test(name));
      expect({ path, external }).toEqual({ path, external: [] });
    }
  });

  it('has types that compile for browsers, without those of Node', async () => {
    const code = `import { ConflictError, TrackingClient, verifyWebhook, type EventOf } from '@tracking/client';
      const client = new TrackingClient({ baseUrl: location.origin, session: true });
      const { id, warnings } = await client.shipments.upsert({ external_id: 'PO-1', mode: 'ocean' });
      const codes: string[] = warnings.map(({ code }) => code);
      for await (const { status } of client.shipments.list({ status: ['booked', 'in_transit'] })) codes.push(status);
      // @ts-expect-error there is no such filter
      client.shipments.list({ stauts: 'booked' });
      // @ts-expect-error nor such a mode
      client.shipments.upsert({ mode: 'teleport' });
      const event = await verifyWebhook({ rawBody: '', headers: new Headers(), secret: 'whsec_x' });
      if (event.type === 'exception.opened') codes.push(event.data.exception.severity);
      else if (event.type === 'endpoint.verification') codes.push(event.data.challenge);
      else if (event.type === 'shipment.updated') codes.push(...Object.keys(event.data.changes));
      // @ts-expect-error only once it is told which one it is
      codes.push(event.data.exception);
      export const opened = (one: EventOf<'shipment.created'>) => one.data.shipment.id;
      export const isConflict = (error: unknown) => error instanceof ConflictError && error.code === 'precondition_failed';
      // @ts-expect-error a code that there is not
      export const isNone = (error: ConflictError) => error.code === 'precondition_filed';
      await client.documents.upload(id, { type: 'photo', file: new File([], 'a.png', { type: 'image/png' }) });`;
    const browser = { lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], module: 'NodeNext' };
    expect(await compile('page.mts', code, { ...browser, noEmit: true })).toBe('');
  });
});

interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly publishConfig: object;
}
