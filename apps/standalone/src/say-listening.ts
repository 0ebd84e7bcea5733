import { resolve } from 'node:path';
import type { Logger } from '@tracking/ports';
import type { StandaloneConfig } from './config.ts';
import { firstAdminLink, keepFirstAdminLink } from './first-admin.ts';
import type { Standalone } from './standalone.ts';
import { firstKeyCommand, welcome } from './welcome.ts';

/** Says where everything is, once it is there: to people at a terminal, or in a line of the log. */
export async function sayListening(config: StandaloneConfig, standalone: Standalone, logger: Logger): Promise<void> {
  const { url, managementUrl, shutdown } = standalone;
  if (url === undefined || managementUrl === undefined) return;
  const { dataDir, webhooks } = config;
  const isDefaultDataDir = dataDir === resolve('data');
  const allowsLocalReceivers = webhooks.allowedCidrs.length > 0;
  const where = { url, managementUrl, dataDir, isDefaultDataDir, allowsLocalReceivers };
  if (process.stdout.isTTY) {
    process.stdout.write(welcome({ ...where, firstAdminLink: await firstAdminLink(standalone) }));
    return;
  }
  const first_admin_link_file = await keepFirstAdminLink({ ...standalone, dataDir, logger }, shutdown);
  const fields = { url, docs: `${url}/docs`, management_url: managementUrl, data_dir: dataDir };
  const first = { make_a_key_with: firstKeyCommand(where), ...(first_admin_link_file && { first_admin_link_file }) };
  logger.info({ ...fields, ...first }, 'listening');
}
