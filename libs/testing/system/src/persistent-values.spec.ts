import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTempFolder, type TempFolder } from '@tracking/testing';
import { readOrCreatePort, readOrCreateSecret } from './persistent-values.ts';

const run = promisify(execFile);

/** As the next process gets them, which does not know which ports this one gave out. */
async function portsOfTheNext(folder: string, names: readonly string[]): Promise<unknown> {
  const kept = new URL('./persistent-values.ts', import.meta.url).href;
  const code = `import { readOrCreatePort } from '${kept}';
    const ports = await Promise.all(${JSON.stringify(names)}.map((name) => readOrCreatePort('${folder}', name)));
    process.stdout.write(JSON.stringify(ports));`;
  const node = ['--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];
  const { stdout } = await run(process.execPath, [...node, '--input-type=module', '--eval', code]);
  return JSON.parse(stdout);
}

describe('what a system keeps from start to start', () => {
  let folder: TempFolder;
  beforeEach(async () => {
    folder = await createTempFolder();
  });
  afterEach(() => folder.remove());

  it('are its ports, each process its own', async () => {
    const names = ['gateway-1', 'gateway-1 management', 'kafka'];
    const ports = await Promise.all(names.map((name) => readOrCreatePort(folder.path, name)));
    expect(new Set(ports).size).toBe(3);
    expect(await portsOfTheNext(folder.path, names)).toEqual(ports);
  });

  it('is another port where something listens, and that one from then on', async () => {
    const first = await readOrCreatePort(folder.path, 'kafka');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(first, '127.0.0.1', resolve));
    expect((other.address() as AddressInfo).port).toBe(first);
    const second = await portsOfTheNext(folder.path, ['kafka']);
    expect(second).not.toEqual([first]);
    await new Promise((resolve) => other.close(resolve));
    expect(await portsOfTheNext(folder.path, ['kafka'])).toEqual(second);
  });

  it('are its secrets, for their owner alone', () => {
    const secret = readOrCreateSecret(folder.path, 'administration.token', 'hex');
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(readOrCreateSecret(folder.path, 'administration.token', 'hex')).toBe(secret);
    expect(readOrCreateSecret(folder.path, 'services.token', 'hex')).not.toBe(secret);
    expect(statSync(join(folder.path, 'administration.token')).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readOrCreateSecret(folder.path, 'secrets.key', 'base64'), 'base64')).toHaveLength(32);
  });
});
