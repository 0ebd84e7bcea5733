import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import { DataFolderDamagedError, DataFolderInUseError, DataFolderTooNewError } from '@tracking/embedded';
import { PlacesFileError } from '@tracking/places';
import { UnavailableError, type Logger } from '@tracking/ports';
import { ConfigError, createLogger, standardErrorWriter, warnOfMisspelledVariables } from '@tracking/runtime';
import { loadConfig } from './config.ts';
import { printOrLogServerAddresses } from './first-start.ts';
import { startStandaloneApp } from './standalone.ts';

/** Prints an operator's error as one line, and any other error with its stack, then exits. */
function exitWithError(error: unknown): never {
  const isOperatorError =
    error instanceof ConfigError ||
    error instanceof DataFolderInUseError ||
    error instanceof DataFolderDamagedError ||
    error instanceof DataFolderTooNewError ||
    error instanceof PlacesFileError ||
    // The storage throws this error, for example when its disk is full.
    error instanceof UnavailableError;
  process.stderr.write(`${isOperatorError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(error instanceof DataFolderInUseError ? DATA_FOLDER_IN_USE_EXIT_CODE : 1);
}

/** Logger that writes only errors to standard error, where the command line that started this process reads them. */
const errorOutputLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, text) => standardErrorWriter.write(`${'error' in fields ? String(fields.error) : text}\n`),
};

try {
  const config = loadConfig();
  const administration = process.argv.includes('--administration');
  const logger = administration
    ? errorOutputLogger
    : await createLogger({ level: config.logLevel, service: 'standalone' });
  warnOfMisspelledVariables(logger, config.misspelt);
  const standalone = await startStandaloneApp(config, logger, administration ? 'administration' : 'server');
  const { ready, shutdown } = standalone;
  shutdown.shutDownOnSignals();
  // The input ends when the command line process that started this process has ended.
  if (administration) process.stdin.once('end', () => shutdown.endProcess()).resume();
  await ready;
  if (config.webhooks.allowedCidrs.length > 0) {
    const where = { addresses: config.webhooks.allowedCidrs, http: config.webhooks.allowHttp };
    logger.warn(where, 'settings allow webhook receivers in non-public networks: use this for development only');
  }
  await printOrLogServerAddresses(config, standalone, logger);
} catch (startError) {
  exitWithError(startError);
}
