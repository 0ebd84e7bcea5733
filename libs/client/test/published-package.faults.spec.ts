import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The package that `npm pack` creates, installed without this workspace, with the types of a browser and in Node. */
describe('the published package', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: `${root}libs/client`,
    });
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
    const home = join(folder, 'node_modules/@tracking/client');
    await mkdir(home, { recursive: true });
    await run('tar', ['-xzf', join(folder, filename), '-C', home, '--strip-components', '1']);
    await symlink(`${root}node_modules/axios`, join(folder, 'node_modules/axios'));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  it('can be imported by Node', async () => {
    const code = `import { TrackingClient, verifyWebhook } from '@tracking/client';
      import { fileFrom } from '@tracking/client/node';
      const client = new TrackingClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', retries: 0 });
      const error = await client.shipments.get('shp_1').catch((thrown) => thrown);
      console.log(typeof verifyWebhook, (await fileFrom('main.mjs')).file_name, error.name);`;
    await writeFile(join(folder, 'main.mjs'), code);
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: folder });
    expect(stdout.trim()).toBe('function main.mjs ConnectionError');
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
    await writeFile(join(folder, 'page.ts'), code);
    const browser = { lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [] };
    const compilerOptions = { ...browser, target: 'ES2023', module: 'NodeNext', strict: true, noEmit: true };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }));
    const compiled = await run(process.execPath, [`${root}node_modules/typescript/bin/tsc`], { cwd: folder }).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(compiled.stdout).toBe('');
  });
});
