import {
  boolean,
  bytes,
  cidrs,
  ConfigError,
  duration,
  email,
  integer,
  oneOf,
  port,
  secret,
  serviceAddress,
  type SettingType,
  url,
} from './setting-types.ts';

describe('a setting', () => {
  it.each<[unknown, string, SettingType<unknown>]>([
    [250, '250ms', duration],
    [5_000, '5s', duration],
    [600_000, '10m', duration],
    [259_200_000, '72h', duration],
    [2_592_000_000, '30d', duration],
    [80, '80', port],
    [true, 'true', boolean],
    [['10.0.0.0/8', '::1', '127.0.0.1/32'], '10.0.0.0/8, ::1 ,127.0.0.1/32', cidrs],
    ['https://a.example/app', 'https://a.example/app/', url],
    ['ann@example.com', 'ann@example.com', email],
    ['dns:///shipments:4001', 'shipments:4001', serviceAddress],
  ])('is %p for the text %p', (value, given, type) => {
    expect(type(given, 'X')).toEqual(value);
  });

  it.each<[string, string, SettingType<unknown>]>([
    ['a duration', '5 seconds', duration],
    ['no duration at all', '0s', duration],
    ['a port', '70000', port],
    ['a number with a sign', '-1', integer(0, 5)],
    ['a boolean', 'yes', boolean],
    ['a choice', 'loud', oneOf('info', 'warn')],
    ['an address', 'ftp://example.org', url],
    ['an address with a query', 'https://a.example?b=c', url],
    ['an address with a fragment', 'https://a.example/#', url],
    ['an address with a user', 'https://me@a.example', url],
    ['an address of a service', 'shipments', serviceAddress],
    ['a CIDR', '10.0.0.0/33', cidrs],
    ['a CIDR of letters', 'localhost', cidrs],
    ['an e-mail address', 'ann', email],
    ['bytes', 'c2hvcnQ=', bytes(32)],
    ['a secret that is short', 'sesame', secret(32)],
  ])('rejects %s with one line that names the variable', (_, given, type) => {
    const act = () => type(given, 'X');
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^X\b[^\n]*$/);
  });

  it.each<[string, SettingType<unknown>]>([
    ['hunter2hunter2', bytes(32)],
    ['https://me:hunter2@a.example', url],
    ['hunter2', secret(32)],
  ])('never shows the secret %p', (given, type) => {
    expect(() => type(given, 'X')).toThrow(ConfigError);
    expect(() => type(given, 'X')).not.toThrow(/hunter2/);
  });
});
