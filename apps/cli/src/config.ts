import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { administrationSocketPath } from '@tracking/contracts';
import { UsageError } from './cli-error.ts';

/** Where the service is, and how it is started where none runs. */
export interface CliConfig {
  readonly dataDir: string;
  readonly socketPath: string;
  /** The standalone server; with `--administration` it serves the administration socket alone. */
  readonly serviceMain: string;
  readonly serviceEnvironment: NodeJS.ProcessEnv;
  /** A service elsewhere, on a gateway's management port: then the data folder does not matter. */
  readonly remote: RemoteService | undefined;
  /** For what goes through the public API. */
  readonly apiKey: string | undefined;
}

export interface RemoteService {
  readonly url: string;
  readonly token: string;
}

/** Settings of the command line tool: those of the server that it looks for. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  const dataDir = resolve(env['DATA_DIR'] || './data');
  return {
    dataDir,
    socketPath: administrationSocketPath(dataDir, tmpdir()),
    serviceMain: fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url)),
    serviceEnvironment: { ...env, DATA_DIR: dataDir },
    remote: remoteService(env),
    apiKey: env['API_KEY'] || undefined,
  };
}

function remoteService(env: NodeJS.ProcessEnv): RemoteService | undefined {
  const url = env['ADMINISTRATION_URL'];
  if (!url) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError(`ADMINISTRATION_URL: expected an http or https address, got ${JSON.stringify(url)}`);
  }
  const file = env['ADMINISTRATION_TOKEN_FILE'];
  const token = env['ADMINISTRATION_TOKEN'] || (file ? readFileSync(file, 'utf8').trim() : '');
  if (!token) throw new UsageError('ADMINISTRATION_URL needs ADMINISTRATION_TOKEN or ADMINISTRATION_TOKEN_FILE');
  return { url: url.replace(/\/+$/, ''), token };
}
