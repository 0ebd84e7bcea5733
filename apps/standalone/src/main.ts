import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import { DataFolderDamaged, DataFolderInUse, DataFolderTooNew } from '@tracking/embedded';
import { PlacesFileError } from '@tracking/places';
import { Unavailable, type Logger } from '@tracking/ports';
import { ConfigError, createLogger, warnOfMisspelledVariables } from '@tracking/runtime';
import { loadConfig } from './config.ts';
import { announceStart } from './first-start.ts';
import { startStandalone } from './standalone.ts';

/** Prints an operator's mistake as one line; anything else is a fault of the program, and is printed with its stack. */
function exitWithError(error: unknown): never {
  const isOperatorError =
    error instanceof ConfigError ||
    error instanceof DataFolderInUse ||
    error instanceof DataFolderDamaged ||
    error instanceof DataFolderTooNew ||
    error instanceof PlacesFileError ||
    // Thrown by the storage, for example when its disk is full.
    error instanceof Unavailable;
  process.stderr.write(`${isOperatorError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(error instanceof DataFolderInUse ? DATA_FOLDER_IN_USE_EXIT_CODE : 1);
}

/** Where the command line, which started it for its own use, looks for what went wrong. */
const errorOutputLogger: Logger = {
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
  const logger = administration
    ? errorOutputLogger
    : await createLogger({ level: config.logLevel, service: 'standalone' });
  warnOfMisspelledVariables(logger, config.misspelt);
  const standalone = await startStandalone(config, logger, administration ? 'administration' : 'server');
  const { ready, shutdown } = standalone;
  shutdown.onSignals();
  // The command line that started this process has ended when the input ends.
  if (administration) process.stdin.once('end', () => void shutdown.run().then(() => process.exit(0))).resume();
  await ready;
  if (config.webhooks.allowedCidrs.length > 0) {
    const where = { addresses: config.webhooks.allowedCidrs, http: config.webhooks.allowHttp };
    logger.warn(where, 'webhook receivers on these addresses are allowed: for development');
  }
  await announceStart(config, standalone, logger);
} catch (error) {
  exitWithError(error);
}
