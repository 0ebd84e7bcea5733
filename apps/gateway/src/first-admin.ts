import type { Identity } from '@tracking/identity';
import type { Logger } from '@tracking/ports';
import { makeFirstAdmin } from '@tracking/runtime';
import type { GatewayConfig } from './config.ts';

/** Makes the first admin of the settings, or says how one is made. @throws ConfigError, Unavailable */
export async function seeToFirstAdmin(
  { firstAdmin }: Pick<Identity, 'firstAdmin'>,
  { firstAdmin: given }: Pick<GatewayConfig, 'firstAdmin'>,
  logger: Logger,
): Promise<void> {
  if (given) await makeFirstAdmin(given, (admin) => firstAdmin.ensure(admin));
  else if (await firstAdmin.isMissing()) {
    const make_one_with = 'users create --role admin --email';
    logger.info({ make_one_with }, 'the workspace default has no admin: the command line makes one');
  }
}
