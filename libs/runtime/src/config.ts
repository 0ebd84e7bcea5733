import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Unavailable } from '@tracking/ports';
import { misspelt, type Misspelt } from './misspelt.ts';

/** A wrong or missing setting. Its message is the one line that an operator sees. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * What the machine refuses because of a setting (a port in use, a folder that may not be written) as a fault of that
 * setting; everything else passes as it is.
 * @param setting its name, and its value where the refusal does not show it
 * @throws ConfigError
 */
export async function blaming<T>(setting: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    const isRefusal = syscall !== undefined || error instanceof Unavailable;
    throw isRefusal ? new ConfigError(`${setting}: ${message}`, { cause: error }) : error;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads typed settings; every fault is a {@link ConfigError} that names the variable and never shows a secret. */
export class ConfigReader {
  private readonly asked = new Set<string>();

  constructor(private readonly env: Environment) {}

  /** Variables that are probably meant for what was read so far, under another name. */
  misspelt(): readonly Misspelt[] {
    return misspelt(this.env, this.asked);
  }

  /**
   * The value, from `NAME` or from the file that `NAME_FILE` names. An empty variable counts as absent, an empty file is
   * a fault: a secret that is not there yet must not be taken for one that is not wanted.
   */
  optional(name: string): string | undefined {
    this.asked.add(name);
    const value = this.env[name];
    const file = this.env[`${name}_FILE`];
    if (value && file) throw new ConfigError(`${name} and ${name}_FILE are both set: give one of them`);
    if (!file) return value || undefined;
    const content = contentOf(file, `${name}_FILE`);
    if (content === '') throw new ConfigError(`${name}_FILE: ${file} is empty`);
    return content;
  }

  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new ConfigError(`${name} is not set`);
    return value;
  }

  string(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) {
      throw new ConfigError(`${name}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`);
    }
    return value;
  }

  boolean(name: string, fallback: boolean): boolean {
    return this.oneOf(name, ['true', 'false'], String(fallback)) === 'true';
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const text = this.string(name, fallback);
    const found = allowed.find((value) => value === text);
    if (found === undefined) {
      throw new ConfigError(`${name}: expected one of ${allowed.join(', ')}, got ${JSON.stringify(text)}`);
    }
    return found;
  }

  /** Milliseconds, from `250ms`, `5s`, `10m`, `72h` or `30d`; never 0, which would repeat things without end. */
  duration(name: string, fallback: string): number {
    const text = this.string(name, fallback);
    const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
    const unit = UNITS[match?.[2] ?? ''];
    if (!match || unit === undefined || Number(match[1]) === 0) {
      throw new ConfigError(
        `${name}: expected a duration like 250ms, 5s, 10m, 72h or 30d, got ${JSON.stringify(text)}`,
      );
    }
    return Number(match[1]) * unit;
  }

  /** An absolute http(s) address without a trailing slash, to which paths can be added. */
  url(name: string, fallback: string): string {
    const text = this.string(name, fallback);
    const url = URL.parse(text);
    if (url && (url.username !== '' || url.password !== '')) {
      throw new ConfigError(`${name}: expected an address without user and password`);
    }
    if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) {
      throw new ConfigError(`${name}: expected an http or https address without query, got ${JSON.stringify(text)}`);
    }
    return text.replace(/\/+$/, '');
  }

  /** Comma-separated CIDRs; a bare address counts as itself alone. */
  cidrs(name: string): readonly string[] {
    const parts = this.list(name);
    for (const part of parts) {
      const [address = '', prefix, ...rest] = part.split('/');
      const bits = isIP(address) === 6 ? 128 : 32;
      const valid = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
      if (isIP(address) === 0 || !valid || rest.length > 0) {
        throw new ConfigError(`${name}: expected addresses or CIDRs like 10.0.0.0/8, got ${JSON.stringify(part)}`);
      }
    }
    return parts;
  }

  /** Comma-separated values, trimmed. */
  list(name: string): readonly string[] {
    return this.string(name, '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** Exactly `length` bytes, given as base64. */
  bytes(name: string, length: number): Uint8Array | undefined {
    const text = this.optional(name);
    if (text === undefined) return undefined;
    const bytes = Buffer.from(text, 'base64');
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text) || bytes.length !== length) {
      throw new ConfigError(`${name}: expected ${length} bytes as base64`);
    }
    return bytes;
  }
}

function contentOf(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ConfigError(`${setting}: cannot read ${file} (${reason})`);
  }
}
