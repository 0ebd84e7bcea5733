import {
  parseBoolean,
  createBase64BytesSettingType,
  parseCidrs,
  ConfigError,
  parseDuration,
  parseEmail,
  createIntegerSettingParser,
  createChoiceSettingType,
  parsePortNumberSetting,
  createSecretSettingType,
  parseServiceAddress,
  parseByteSize,
  type SettingType,
  parseHttpUrlSetting,
} from './setting-types.ts';

describe('a setting', () => {
  it.each<[unknown, string, SettingType<unknown>]>([
    [250, '250ms', parseDuration],
    [5_000, '5s', parseDuration],
    [600_000, '10m', parseDuration],
    [259_200_000, '72h', parseDuration],
    [2_592_000_000, '30d', parseDuration],
    [80, '80', parsePortNumberSetting],
    [true, 'true', parseBoolean],
    [['10.0.0.0/8', '::1', '127.0.0.1/32'], '10.0.0.0/8, ::1 ,127.0.0.1/32', parseCidrs],
    ['https://a.example/app', 'https://a.example/app/', parseHttpUrlSetting],
    ['ann@example.com', 'ann@example.com', parseEmail],
    ['dns:///shipments:4001', 'shipments:4001', parseServiceAddress],
    [65_536, '64KiB', parseByteSize],
    [10_737_418_240, '10GiB', parseByteSize],
    [0, '0', parseByteSize],
  ])('is %p for the text %p', (value, given, type) => {
    expect(type(given, 'X')).toEqual(value);
  });

  it.each<[string, string, SettingType<unknown>]>([
    ['a duration', '5 seconds', parseDuration],
    ['no duration at all', '0s', parseDuration],
    ['a port', '70000', parsePortNumberSetting],
    ['a number with a sign', '-1', createIntegerSettingParser(0, 5)],
    ['a boolean', 'yes', parseBoolean],
    ['a choice', 'loud', createChoiceSettingType('info', 'warn')],
    ['an address', 'ftp://example.org', parseHttpUrlSetting],
    ['an address with a query', 'https://a.example?b=c', parseHttpUrlSetting],
    ['an address with a fragment', 'https://a.example/#', parseHttpUrlSetting],
    ['an address with a user', 'https://me@a.example', parseHttpUrlSetting],
    ['an address of a service', 'shipments', parseServiceAddress],
    ['a CIDR', '10.0.0.0/33', parseCidrs],
    ['a CIDR of letters', 'localhost', parseCidrs],
    ['an e-mail address', 'ann', parseEmail],
    ['a size', '10GB', parseByteSize],
    ['a size', '1024', parseByteSize],
    ['bytes', 'c2hvcnQ=', createBase64BytesSettingType(32)],
    ['a secret that is short', 'sesame', createSecretSettingType(32)],
  ])('rejects %s with one line that names the variable', (_, given, type) => {
    const act = () => type(given, 'X');
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^X\b[^\n]*$/);
  });

  it.each<[string, SettingType<unknown>]>([
    ['hunter2hunter2', createBase64BytesSettingType(32)],
    ['https://me:hunter2@a.example', parseHttpUrlSetting],
    ['hunter2', createSecretSettingType(32)],
  ])('never shows the secret %p', (given, type) => {
    expect(() => type(given, 'X')).toThrow(ConfigError);
    expect(() => type(given, 'X')).not.toThrow(/hunter2/);
  });
});
