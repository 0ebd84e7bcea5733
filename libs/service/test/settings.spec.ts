import { readFile } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { ERROR_CODES } from '@tracking/contracts';
import {
  ConfigReader,
  type Program,
  SETTINGS,
  SETTING_NAMES,
  type SettingDefinition,
  type SettingName,
} from '@tracking/runtime';

const PROGRAMS: readonly Program[] = ['standalone', 'gateway', 'shipments', 'projections', 'webhooks', 'setup', 'mcp'];

/** All required settings, and settings that cause others to be read. */
const ENV = {
  ADMINISTRATION_TOKEN: 'a-token-of-thirty-two-characters',
  EVENTSTOREDB_URL: 'esdb://127.0.0.1:2113?tls=false',
  KAFKA_BROKERS: '127.0.0.1:9092',
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_PASSWORD: 'secret',
  KAFKA_SASL_USERNAME: 'somebody',
  MONGODB_URL: 'mongodb://127.0.0.1:27017',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  SERVICES_TOKEN: 'a-token-of-thirty-two-characters',
  SHIPMENTS_URL: '127.0.0.1:4001',
  TRACKING_API_KEY: 'sk_test_key',
  WEBHOOKS_URL: '127.0.0.1:4002',
};

const setting = (name: SettingName): SettingDefinition => SETTINGS[name];

it.each(PROGRAMS)('%s reads the settings that are declared for it', async (program) => {
  const read = jest.spyOn(ConfigReader.prototype, 'readSetting');
  // A computed path: no project imports an app, but for this look at all of them.
  const { loadConfig } = (await import(`../../../apps/${program}/src/config.ts`)) as {
    loadConfig(env: object): object;
  };
  loadConfig(ENV);
  const names = new Set(read.mock.calls.map(([name]) => name));
  read.mockRestore();
  expect([...names].sort()).toEqual(SETTING_NAMES.filter((name) => setting(name).programs.includes(program)).sort());
});

it('every default is a valid value', () => {
  for (const name of SETTING_NAMES) {
    const { type, default: usual } = setting(name);
    if (usual !== undefined) expect(() => type(usual, name)).not.toThrow();
  }
});

/** Returns the cells of the table rows of a page of the reference. */
async function readRows(page: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(new URL(`../../../docs/reference/${page}`, import.meta.url), 'utf8');
  const cells = (line: string) => line.split(/(?<!\\)\|/).map((cell) => cell.trim());
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) => cells(line).slice(1, -1));
}

it('the reference documents every setting as declared', async () => {
  const rows = (await readRows('settings.md')).filter(([name]) => /^`[A-Z]/.test(name ?? ''));
  expect(rows).toEqual(
    SETTING_NAMES.map((name) => {
      const { programs, default: usual, otherwise, for: purpose } = setting(name);
      return [`\`${name}\``, programs.join(', '), otherwise ?? (usual ? `\`${usual}\`` : 'none'), purpose];
    }),
  );
});

describe('the table of limits', () => {
  const LIMIT_NAME = /^(MAX|RATE_LIMIT)_|QUOTA|RESERVE/;

  /** Returns the cells of all rows without the header. */
  const readLimits = async () => (await readRows('limits.md')).slice(2);

  /** Returns the default of a setting as the table shows it, for example `8,000`, `3 s` or `10 GiB`. */
  function formatDefault(name: SettingName): string {
    const { default: usual = '' } = setting(name);
    return /^\d+$/.test(usual) ? Number(usual).toLocaleString('en') : usual.replace(/(?<=\d)(?=[a-zA-Z])/, ' ');
  }

  it('has a row for every setting of a limit', async () => {
    const names = (await readLimits()).map(([, , name]) => name);
    const limits = SETTING_NAMES.filter((name) => LIMIT_NAME.test(name));
    expect(names).toEqual(expect.arrayContaining(limits.map((name) => `\`${name}\``)));
  });

  it('states only settings and error codes that exist, and the default of each setting', async () => {
    for (const [, usual, cell = '', beyond = ''] of await readLimits()) {
      const name = cell.replaceAll('`', '') as SettingName;
      if (cell !== '') {
        expect(SETTING_NAMES).toContain(name);
        expect(`${usual} `).toMatch(new RegExp(`^${formatDefault(name)}[ ,]`));
      }
      const [, code] = /^\d{3} `(\w+)`/.exec(beyond) ?? [];
      if (code !== undefined) expect(Object.keys(ERROR_CODES)).toContain(code);
    }
  });
});
