import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from './config.ts';

describe('loadConfig', () => {
  it('looks for the service on the default data folder', () => {
    const { dataDir, socketPath, serviceEnvironment } = loadConfig({ PATH: '/bin' });
    expect(dataDir).toBe(resolve('data'));
    expect(socketPath).toContain('administration.sock');
    expect(serviceEnvironment).toEqual({ PATH: '/bin', DATA_DIR: dataDir });
  });

  it('uses DATA_DIR as the server does', () => {
    expect(loadConfig({ DATA_DIR: '/srv/tracking/' })).toMatchObject({
      dataDir: '/srv/tracking',
      socketPath: '/srv/tracking/administration.sock',
    });
    expect(loadConfig({ DATA_DIR: 'here' }).dataDir).toBe(resolve('here'));
    expect(loadConfig({ DATA_DIR: '' }).dataDir).toBe(resolve('data'));
    const deep = `/srv/${'deep/'.repeat(30)}`;
    expect(loadConfig({ DATA_DIR: deep }).socketPath.startsWith(join(tmpdir(), 'tracking-'))).toBe(true);
  });

  it('reads the API key for commands that use the public API', () => {
    expect(loadConfig({ API_KEY: 'sk_test_x' }).apiKey).toBe('sk_test_x');
    expect(loadConfig({ API_KEY: '' }).apiKey).toBeUndefined();
  });

  it('starts the standalone server if none runs', () => {
    expect(loadConfig({}).serviceMain).toMatch(/apps\/standalone\/dist\/main\.js$/);
  });
});
