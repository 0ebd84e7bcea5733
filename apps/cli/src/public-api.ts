import { ApiError, ConnectionError, TrackingClient } from '@tracking/client';
import type { Command } from 'commander';
import { CliError, RefusedError, UsageError } from './cli-error.ts';
import type { Invocation } from './invocation.ts';

/** Milliseconds: longer than the service waits for an endpoint that is being verified. */
const TIMEOUT = 60_000;

/** The public API of a service, asked with a key as any client asks it. */
export interface PublicApi {
  readonly client: TrackingClient;
  /** What a call answers. @throws RefusedError, CliError: in an operator's one line */
  answered<T>(call: PromiseLike<T>): Promise<T>;
}

/** Options that say where it is and who asks. */
export function addPublicApi(command: Command): Command {
  return command
    .option('--key <key>', 'API key with webhooks:manage; better given as API_KEY, which no list of processes shows')
    .option('--url <url>', 'where the API is', 'http://127.0.0.1:3000');
}

/** @param apiKey what is taken where no `--key` is given */
export function publicApiOf({ options }: Pick<Invocation, 'options'>, apiKey: string | undefined): PublicApi {
  const { url, key = apiKey } = options;
  if (key === undefined) throw new UsageError('give an API key with --key or API_KEY: see keys create');
  return { client: clientOf(String(url), String(key)), answered: (call) => answered(String(url), call) };
}

function clientOf(baseUrl: string, apiKey: string): TrackingClient {
  try {
    return new TrackingClient({ baseUrl, apiKey, timeout: TIMEOUT, transport: { proxy: false } });
  } catch {
    throw new UsageError(`not the address of an API: ${baseUrl}`);
  }
}

async function answered<T>(url: string, call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new CliError(`no answer from ${url}: ${reasonOf(error)}`, 'unavailable');
    if (!(error instanceof ApiError)) throw error;
    const { status, type, code, message, param, details, request_id } = error;
    const known = code === 'unexpected_answer' ? {} : { type, code };
    const body = { error: { ...known, message, param, details, request_id } };
    throw RefusedError.of(status, body, (told) => (told.details ?? []).map((each) => each.message).join(' '));
  }
}

function reasonOf({ cause, message }: ConnectionError): string {
  return cause instanceof Error ? cause.message : message;
}
