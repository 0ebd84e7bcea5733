import { DomainError } from '@tracking/contracts';
import { ConfigError } from './config-error.ts';
import type { ConfigReader } from './config.ts';

/** Who is made the first admin of the workspace `default`, where it has none. */
export interface FirstAdminConfig {
  readonly email: string;
  readonly password: string;
}

/** Undefined where neither is set. @throws ConfigError also where one is and the other is not */
export function readFirstAdminConfig(read: ConfigReader): FirstAdminConfig | undefined {
  const [email, password] = [read.get('ADMIN_EMAIL'), read.get('ADMIN_PASSWORD')];
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined) throw new ConfigError('ADMIN_PASSWORD is set and ADMIN_EMAIL is not: give both, or none');
  if (password === undefined) throw new ConfigError('ADMIN_EMAIL is set and ADMIN_PASSWORD is not: give both, or none');
  return { email, password };
}

/**
 * Makes the first admin.
 * @param make refuses with a DomainError what no form shows: a password that everybody has, an e-mail that somebody has
 * @throws ConfigError naming the setting that is refused
 */
export async function makeFirstAdmin(
  { email, password }: FirstAdminConfig,
  make: (admin: FirstAdminConfig) => Promise<unknown>,
): Promise<void> {
  try {
    await make({ email, password });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { param = 'email', message = error.message } = error.details[0] ?? {};
    throw new ConfigError(`${param === 'password' ? 'ADMIN_PASSWORD' : 'ADMIN_EMAIL'}: ${message}`, { cause: error });
  }
}
