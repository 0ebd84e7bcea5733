import { resolve } from 'node:path';
import {
  SETTINGS,
  SETTING_NAMES,
  type SettingDefinition,
  parseCommaSeparatedList,
  parseTextSetting,
} from '@tracking/runtime';
import { ConfigError, loadConfig } from './config.ts';

const REFUSING = SETTING_NAMES.filter((name) => {
  const { programs, type }: SettingDefinition = SETTINGS[name];
  return programs.includes('standalone') && type !== parseTextSetting && type !== parseCommaSeparatedList;
});

describe('settings of the standalone server', () => {
  it('are all optional', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      baseUrl: undefined,
      dataDir: resolve('./data'),
      rateLimitPerMinute: 1000,
      managementPort: 9464,
      trustedProxies: [],
      logLevel: 'info',
    });
  });

  it.each(REFUSING)('include %s in the error if it is invalid', (name) => {
    expect(() => loadConfig({ [name]: '?' })).toThrow(ConfigError);
    expect(() => loadConfig({ [name]: '?' })).toThrow(new RegExp(`^${name}: `));
  });
});
