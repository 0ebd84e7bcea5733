import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import { DataFolderInUse, DataFolderTooNew } from '@tracking/embedded';
import { PlacesFileError } from '@tracking/places';
import type { Logger } from '@tracking/ports';
import { ConfigError, createLogger } from '@tracking/runtime';
import { loadConfig } from './config.ts';
import { startStandalone } from './standalone.ts';

/** What an operator did wrong is told in one line; anything else is a fault of ours and shows where. */
function giveUp(error: unknown): never {
  const theirs =
    error instanceof ConfigError ||
    error instanceof DataFolderInUse ||
    error instanceof DataFolderTooNew ||
    error instanceof PlacesFileError;
  process.stderr.write(`${theirs ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(error instanceof DataFolderInUse ? DATA_FOLDER_IN_USE_EXIT_CODE : 1);
}

/** Where the command line, which started it for its own use, looks for what went wrong. */
const onErrorOutput: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, text) => {
    process.stderr.write(`${'error' in fields ? String(fields.error) : text}\n`);
  },
};

try {
  const config = loadConfig();
  const administration = process.argv.includes('--administration');
  const logger = administration ? onErrorOutput : await createLogger({ level: config.logLevel, service: 'standalone' });
  const { url, managementUrl, ready, shutdown } = await startStandalone(
    config,
    logger,
    administration ? 'administration' : 'server',
  );
  shutdown.onSignals();
  // Whoever started it for its own use is gone when this input ends.
  if (administration) process.stdin.once('end', () => void shutdown.run().then(() => process.exit(0))).resume();
  await ready;
  if (config.webhooks.allowedCidrs.length > 0) {
    const where = { addresses: config.webhooks.allowedCidrs, http: config.webhooks.allowHttp };
    logger.warn(where, 'webhook receivers on these addresses are allowed: for development');
  }
  if (url !== undefined) {
    const where = { url, docs: `${url}/docs`, management_url: managementUrl, data_dir: config.dataDir };
    const firstKey = 'npm run --silent cli -- keys create --name my-first-key --environment test --role operator';
    logger.info({ ...where, make_a_key_with: firstKey }, 'listening');
  }
} catch (error) {
  giveUp(error);
}
