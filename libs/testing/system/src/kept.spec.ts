import { statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { tempFolder, type TempFolder } from '@tracking/testing';
import { keptPort, keptSecret } from './kept.ts';

/** Another process would not know which ports this one gave out. */
const anew = async () => {
  jest.resetModules();
  return (await import('./kept.ts')).keptPort;
};

describe('what a system keeps from start to start', () => {
  let folder: TempFolder;
  beforeEach(async () => {
    folder = await tempFolder();
  });
  afterEach(() => folder.remove());

  it('are its ports, each process its own', async () => {
    const names = ['gateway-1', 'gateway-1 management', 'kafka'];
    const ports = (port: typeof keptPort) => Promise.all(names.map((name) => port(folder.path, name)));
    const first = await ports(keptPort);
    expect(new Set(first).size).toBe(3);
    expect(await ports(await anew())).toEqual(first);
  });

  it('is another port where something listens, and that one from then on', async () => {
    const first = await keptPort(folder.path, 'kafka');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(first, '127.0.0.1', resolve));
    expect((other.address() as AddressInfo).port).toBe(first);
    const second = await (await anew())(folder.path, 'kafka');
    expect(second).not.toBe(first);
    await new Promise((resolve) => other.close(resolve));
    expect(await (await anew())(folder.path, 'kafka')).toBe(second);
  });

  it('are its secrets, for their owner alone', () => {
    const secret = keptSecret(folder.path, 'administration.token', 'hex');
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(keptSecret(folder.path, 'administration.token', 'hex')).toBe(secret);
    expect(keptSecret(folder.path, 'services.token', 'hex')).not.toBe(secret);
    expect(statSync(join(folder.path, 'administration.token')).mode & 0o777).toBe(0o600);
    expect(Buffer.from(keptSecret(folder.path, 'secrets.key', 'base64'), 'base64')).toHaveLength(32);
  });
});
