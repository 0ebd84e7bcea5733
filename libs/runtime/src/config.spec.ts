import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Unavailable } from '@tracking/ports';
import { ConfigError, ConfigReader, blaming } from './config.ts';

const read = (env: Record<string, string>) => new ConfigReader(env);

describe('ConfigReader', () => {
  it('answers the fallback where nothing, or nothing but emptiness, is set', () => {
    expect(read({}).string('HOST', '127.0.0.1')).toBe('127.0.0.1');
    expect(read({ PORT: '' }).integer('PORT', 3000, 0, 65535)).toBe(3000);
  });

  it.each([
    ['250ms', 250],
    ['5s', 5_000],
    ['10m', 600_000],
    ['72h', 259_200_000],
    ['30d', 2_592_000_000],
  ])('reads the duration %s', (text, ms) => {
    expect(read({ T: text }).duration('T', '1s')).toBe(ms);
  });

  it.each([
    ['a duration', () => read({ X: '5 seconds' }).duration('X', '1s')],
    ['no duration at all', () => read({ X: '0s' }).duration('X', '1s')],
    ['a port', () => read({ X: '70000' }).integer('X', 1, 0, 65535)],
    ['a number with a sign', () => read({ X: '-1' }).integer('X', 1, 0, 65535)],
    ['a boolean', () => read({ X: 'yes' }).boolean('X', false)],
    ['a choice', () => read({ X: 'loud' }).oneOf('X', ['info', 'warn'], 'info')],
    ['an address', () => read({ X: 'ftp://example.org' }).url('X', 'http://a')],
    ['an address with a query', () => read({ X: 'https://a.example?b=c' }).url('X', 'http://a')],
    ['an address with a fragment', () => read({ X: 'https://a.example/#' }).url('X', 'http://a')],
    ['an address with a user', () => read({ X: 'https://me@a.example' }).url('X', 'http://a')],
    ['a CIDR', () => read({ X: '10.0.0.0/33' }).cidrs('X')],
    ['a CIDR of letters', () => read({ X: 'localhost' }).cidrs('X')],
    ['bytes', () => read({ X: 'c2hvcnQ=' }).bytes('X', 32)],
    ['a missing file', () => read({ X_FILE: '/does/not/exist' }).optional('X')],
    ['an empty file', () => read({ X_FILE: '/dev/null' }).optional('X')],
    ['two sources', () => read({ X: 'a', X_FILE: '/b' }).optional('X')],
  ])('refuses %s with one line that names the variable', (_, act) => {
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^X(_FILE)?\b[^\n]*$/);
  });

  it('never shows a secret that is wrong or in the wrong place', () => {
    for (const act of [
      () => read({ X: 'hunter2hunter2' }).bytes('X', 32),
      () => read({ X: 'https://me:hunter2@a.example' }).url('X', 'http://a'),
    ]) {
      expect(act).toThrow(ConfigError);
      expect(act).not.toThrow(/hunter2/);
    }
  });

  it('takes any setting from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      writeFileSync(join(folder, 'key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
      expect(read({ SECRETS_KEY_FILE: join(folder, 'key') }).bytes('SECRETS_KEY', 32)).toEqual(Buffer.alloc(32, 7));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reads lists of CIDRs and drops a trailing slash of addresses', () => {
    expect(read({ X: '10.0.0.0/8, ::1 ,127.0.0.1/32' }).cidrs('X')).toEqual(['10.0.0.0/8', '::1', '127.0.0.1/32']);
    expect(read({ X: 'https://a.example/app/' }).url('X', 'http://b')).toBe('https://a.example/app');
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
