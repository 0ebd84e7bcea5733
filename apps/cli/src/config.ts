import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { administrationSocketPath } from '@tracking/contracts';

/** Where the service is, and how it is started where none runs. */
export interface CliConfig {
  readonly dataDir: string;
  readonly socketPath: string;
  /** The standalone server; with `--administration` it serves the administration socket alone. */
  readonly serviceMain: string;
  readonly serviceEnvironment: NodeJS.ProcessEnv;
  /** For what goes through the public API. */
  readonly apiKey: string | undefined;
}

/** Settings of the command line tool: those of the server that it looks for. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  const dataDir = resolve(env['DATA_DIR'] || './data');
  return {
    dataDir,
    socketPath: administrationSocketPath(dataDir, tmpdir()),
    serviceMain: fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url)),
    serviceEnvironment: { ...env, DATA_DIR: dataDir },
    apiKey: env['API_KEY'] || undefined,
  };
}
