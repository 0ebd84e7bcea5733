import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Unavailable } from '@tracking/ports';
import { ConfigError, blaming } from './config-error.ts';
import { ConfigReader } from './config.ts';

const read = (env: Record<string, string>) => new ConfigReader(env);

describe('ConfigReader', () => {
  it('answers the default where nothing, or nothing but emptiness, is set', () => {
    expect(read({}).get('HOST')).toBe('127.0.0.1');
    expect(read({ PORT: '' }).get('PORT')).toBe(3000);
    expect(read({}).get('PORT', '4001')).toBe(4001);
    expect(read({ PORT: '80' }).get('PORT', '4001')).toBe(80);
    expect(read({}).get('PLACES_FILE')).toBeUndefined();
  });

  it.each([
    ['a missing setting', () => read({}).required('MONGODB_URL')],
    ['a wrong value', () => read({ MONGODB_URL: 'a', PORT: '?' }).get('PORT')],
    ['a missing file', () => read({ MONGODB_URL_FILE: '/does/not/exist' }).get('MONGODB_URL')],
    ['an empty file', () => read({ MONGODB_URL_FILE: '/dev/null' }).get('MONGODB_URL')],
    ['two sources', () => read({ MONGODB_URL: 'a', MONGODB_URL_FILE: '/b' }).get('MONGODB_URL')],
  ])('refuses %s with one line that names the variable', (_, act) => {
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^(MONGODB_URL|PORT)(_FILE)?\b[^\n]*$/);
  });

  it('takes any setting from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      writeFileSync(join(folder, 'key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
      expect(read({ SECRETS_KEY_FILE: join(folder, 'key') }).required('SECRETS_KEY')).toEqual(Buffer.alloc(32, 7));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('blaming', () => {
  it('tells what the machine or an engine refuses as a fault of the setting', async () => {
    const missing = readFile(join(tmpdir(), 'no', 'such', 'file'));
    await expect(blaming('DATA_DIR', missing)).rejects.toThrow(ConfigError);
    await expect(blaming('DATA_DIR', missing)).rejects.toThrow(/^DATA_DIR: ENOENT/);
    const broken = Promise.reject(new Unavailable('storage', 'file is not a database'));
    await expect(blaming('DATA_DIR', broken)).rejects.toThrow(/^DATA_DIR: storage: file is not a database$/);
  });

  it('lets results and faults of our own pass', async () => {
    await expect(blaming('PORT', Promise.resolve(1))).resolves.toBe(1);
    await expect(blaming('PORT', Promise.reject(new TypeError('ours')))).rejects.toThrow(TypeError);
  });
});
