import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSocketPath, ERROR_CODES, type ErrorBody, type ErrorCode, type FieldError } from '@tracking/contracts';

/** Settings to reach the service, or to start one if none runs. */
export interface CliConfig {
  readonly dataDir: string;
  readonly socketPath: string;
  /** Path of the standalone server's main module; with `--administration` it serves the administration socket only. */
  readonly serviceMain: string;
  readonly serviceEnvironment: NodeJS.ProcessEnv;
  /** Management port of a gateway. If set, the data folder is not used. */
  readonly remote: RemoteServiceConfig | undefined;
  /** API key of commands that use the public API. */
  readonly apiKey: string | undefined;
}

interface RemoteServiceConfig {
  readonly url: string;
  readonly token: string;
}

/** Reads the settings of the command line tool, which it shares with the server. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): CliConfig {
  const dataDir = resolve(env['DATA_DIR'] || './data');
  return {
    dataDir,
    socketPath: getSocketPath(dataDir, tmpdir()),
    serviceMain: fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url)),
    serviceEnvironment: { ...env, DATA_DIR: dataDir },
    remote: readAdministrationServiceSettings(env),
    apiKey: env['API_KEY'] || undefined,
  };
}

function readAdministrationServiceSettings(env: NodeJS.ProcessEnv): RemoteServiceConfig | undefined {
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

/** An error for operators: one line without secrets. */
export class CliError extends Error {
  override readonly name: string = 'CliError';

  constructor(
    message: string,
    readonly code: ErrorCode = 'internal_error',
    readonly details: readonly FieldError[] = [],
    /** Exit code of the process. By default 2 for invalid usage or input, and 1 for other errors. */
    readonly exitCode?: number,
  ) {
    super(message);
  }

  /** Error as JSON in the API's format. */
  get body(): { readonly error: Omit<ErrorBody['error'], 'request_id'> & { readonly request_id: string | null } } {
    const { code, message, details } = this;
    const param = details[0]?.param ?? null;
    return { error: { type: ERROR_CODES[code], code, message, param, details, request_id: null } };
  }
}

/** An error in how the command was called. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, 'validation_failed');
  }
}

/** The service's rejection of a request. */
export class RefusedError extends CliError {
  override readonly name = 'RefusedError';

  private constructor(
    message: string,
    readonly status: number,
    private readonly received: Partial<ErrorBody['error']>,
  ) {
    super(message, received.code, received.details);
  }

  /** @param body response body, which may have any form if a proxy or another server responded */
  static createRefusedErrorFromResponse(
    status: number,
    body: unknown,
    summarize: (error: Partial<ErrorBody['error']>) => string,
  ): RefusedError {
    const { error = {} } = Object(body) as Partial<{ readonly error: Partial<ErrorBody['error']> }>;
    return new RefusedError(
      summarize(error) || error.message || `the service responded with status ${status}`,
      status,
      error,
    );
  }

  /** True if the input of the command caused the error. */
  get isInputError(): boolean {
    return this.status === 400;
  }

  override get body() {
    const { error } = super.body;
    return { error: { ...error, ...this.received } };
  }
}
