import { isIP } from 'node:net';
import { UnavailableError } from '@tracking/ports';

const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses the text of a setting. @throws ConfigError with one line that starts with the setting's name */
export type SettingType<T> = (text: string, name: string) => T;

export const parseTextSetting: SettingType<string> = (given) => given;

/** Parses an API key. Errors do not contain it. */
export const parseApiKeySetting: SettingType<string> = (given, name) => {
  if (/^[\x21-\x7e]{1,500}$/.test(given)) return given;
  throw new ConfigError(`${name}: expected an API key, sk_live_… or sk_test_…`);
};

export function createIntegerSettingParser(min: number, max: number): SettingType<number> {
  return (given, name) => {
    const value = /^\d+$/.test(given) ? Number(given) : NaN;
    if (value >= min && value <= max) return value;
    throw createSettingError(name, `a whole number from ${min} to ${max}`, given);
  };
}

export const parsePortNumberSetting = createIntegerSettingParser(0, 65_535);

export function createChoiceSettingType<const T extends string>(...allowed: readonly T[]): SettingType<T> {
  return (given, name) => {
    const found = allowed.find((value) => value === given);
    if (found !== undefined) return found;
    throw createSettingError(name, `one of ${allowed.join(', ')}`, given);
  };
}

export const parseBoolean: SettingType<boolean> = (given, name) =>
  createChoiceSettingType('true', 'false')(given, name) === 'true';

/**
 * Parses a duration such as `250ms`, `5s`, `10m`, `72h` or `30d` to milliseconds. The duration is never 0, which would
 * repeat work without a pause.
 */
export const parseDuration: SettingType<number> = (given, name) => {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(given);
  const unit = MS_PER_UNIT[match?.[2] ?? ''];
  if (!match || unit === undefined || Number(match[1]) === 0) {
    throw createSettingError(name, 'a duration such as 250ms, 5s, 10m, 72h or 30d', given);
  }
  return Number(match[1]) * unit;
};

const SIZE_UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Parses a size in bytes, from `64KiB`, `500MiB`, `10GiB` or `2TiB`, or `0`. */
export const parseByteSize: SettingType<number> = (given, name) => {
  const [, count, unit = ''] = /^(\d{1,6})(KiB|MiB|GiB|TiB)$/.exec(given) ?? [];
  if (given === '0') return 0;
  if (count === undefined) throw createSettingError(name, 'a size such as 64KiB, 500MiB, 10GiB or 2TiB', given);
  return Number(count) * (SIZE_UNITS[unit] ?? 1);
};

/** Parses an absolute HTTP or HTTPS URL and removes trailing slashes, so that paths can be appended. */
export const parseHttpUrlSetting: SettingType<string> = (given, name) => {
  const parsed = URL.parse(given);
  if (parsed && (parsed.username !== '' || parsed.password !== '')) {
    throw new ConfigError(`${name}: expected a URL without user and password`);
  }
  if (!parsed || !/^https?:$/.test(parsed.protocol) || /[?#]/.test(given)) {
    throw createSettingError(name, 'an http or https URL without query', given);
  }
  return given.replace(/\/+$/, '');
};

/** Parses an e-mail address. The parser checks only that it has a name and a host. */
export const parseEmail: SettingType<string> = (given, name) => {
  if (/^[^\s@]+@[^\s@]+$/.test(given)) return given;
  throw createSettingError(name, 'an e-mail address', given);
};

/** Comma-separated values, trimmed. */
export const parseCommaSeparatedList: SettingType<readonly string[]> = (given) =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Parses comma-separated CIDRs. An address without a prefix length is a range of one address. */
export const parseCidrs: SettingType<readonly string[]> = (given, name) => {
  const parts = parseCommaSeparatedList(given, name);
  const invalid = parts.find((part) => !isCidr(part));
  if (invalid !== undefined) throw createSettingError(name, 'addresses or CIDRs such as 10.0.0.0/8', invalid);
  return parts;
};

/** Returns the type of a setting that contains base64 of exactly `length` bytes. */
export function createBase64BytesSettingType(length: number): SettingType<Uint8Array> {
  return (given, name) => {
    const decoded = Buffer.from(given, 'base64');
    if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(given) && decoded.length === length) return decoded;
    throw new ConfigError(`${name}: expected ${length} bytes as base64`);
  };
}

/** Parses a secret with a minimum length. Error messages never contain the secret. */
export function createSecretSettingType(minLength: number): SettingType<string> {
  return (given, name) => {
    if (given.length >= minLength) return given;
    throw new ConfigError(`${name}: expected at least ${minLength} characters`);
  };
}

/**
 * Parses the address of a service's replicas: `host:port`, or any name that gRPC accepts. Calls use all addresses of
 * the host in turn.
 */
export const parseServiceAddress: SettingType<string> = (given, name) => {
  if (/^(dns|ipv4|ipv6|unix):/.test(given)) return given;
  if (/^[^\s/@]+:\d{1,5}$/.test(given)) return `dns:///${given}`;
  throw createSettingError(name, 'host:port', given);
};

/** Address `host:port` of a single process. */
export const parseHostPortAddressSetting: SettingType<string> = (given, name) => {
  if (/^[^\s/@]+:\d{1,5}$/.test(given)) return given;
  throw createSettingError(name, 'host:port', given);
};

function isCidr(part: string): boolean {
  const [address = '', prefix, ...rest] = part.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && isPrefix && rest.length === 0;
}

function createSettingError(name: string, what: string, given: string): ConfigError {
  return new ConfigError(`${name}: expected ${what}, got ${JSON.stringify(given)}`);
}

/** An invalid or missing setting. The message is one line for operators. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reports an error of the machine, such as a port in use or a folder without write permission, as an error of the
 * setting that caused it. Other errors pass unchanged.
 * @param setting name of the setting, and its value if the error does not contain it
 * @throws ConfigError
 */
export async function convertMachineErrorToConfigError<T>(setting: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    const isRefusal = syscall !== undefined || error instanceof UnavailableError;
    throw isRefusal ? new ConfigError(`${setting}: ${message}`, { cause: error }) : error;
  }
}
