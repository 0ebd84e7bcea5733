import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError, ConnectionError, TrackingClient } from '@tracking/client';
import { CliError, RefusedError, UsageError } from './config.ts';
import type { Invocation, LoneRunner } from './invocation.ts';

/** Milliseconds: longer than the service waits for an endpoint that is being verified. */
const TIMEOUT = 60_000;

/** The public API of a service, asked with a key as any client asks it. */
export interface PublicApi {
  readonly client: TrackingClient;
  /** Returns the response of a call. @throws RefusedError, CliError, as one line for operators */
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

/** Description of the endpoints of `listen`, by which they are found again. */
export const LISTENING = 'cli listen';
/** Milliseconds between looks at a replay, and for how long. */
const POLL = 100;
const DELIVERY_TIMEOUT_MS = 10_000;

interface Resent {
  readonly endpoint_id: string;
  readonly event_id: string;
  /** The delivery to retry; null if the event was never sent to the endpoint, so that a replay is needed. */
  readonly delivery_id: string | null;
  readonly replay_id: string | null;
}

export function addResendCommand(resend: Command, run: LoneRunner, apiKey: string | undefined): void {
  addPublicApi(resend)
    .argument('<id>', 'id of the event, evt_…')
    .description(
      'have an event sent again at once, to every listen that runs or to one endpoint; the key says of which workspace',
    )
    .option('--endpoint <id>', 'to this endpoint, whe_…')
    .action(
      run(async (invocation) => {
        const { operand, options, print, signal } = invocation;
        const api = publicApiOf(invocation, apiKey);
        const named = options['endpoint'];
        const endpoints = named === undefined ? await listening(api) : [String(named)];
        let isSent = false;
        for (const endpoint of endpoints) {
          const sent = await resent(api, endpoint, operand, signal);
          if (sent === undefined) continue;
          print.one(sent, resentLine);
          isSent = true;
        }
        if (!isSent) throw notAskedFor(operand, endpoints);
      }),
    );
}

/**
 * Has the service send an event to an endpoint again, or for the first time what is from before it was enabled.
 * @returns undefined where the endpoint does not ask for such events
 * @throws CliError
 */
export async function resent(
  api: PublicApi,
  endpoint_id: string,
  event_id: string,
  signal: AbortSignal,
): Promise<Resent | undefined> {
  const { client, answered } = api;
  const { data } = await answered(client.webhookDeliveries.list({ endpoint_id, event_id, limit: 1 }).page());
  const [delivery] = data;
  if (delivery === undefined) {
    const replay_id = await missed(api, endpoint_id, event_id, signal);
    return replay_id === undefined ? undefined : { endpoint_id, event_id, delivery_id: null, replay_id };
  }
  await answered(client.webhookDeliveries.retry(delivery.id));
  return { endpoint_id, event_id, delivery_id: delivery.id, replay_id: null };
}

export function resentLine({ endpoint_id, event_id, replay_id }: Resent): string {
  return `${event_id} is sent to ${endpoint_id} ${replay_id === null ? 'again' : `by ${replay_id}`}`;
}

export function notAskedFor(event_id: string, endpoints: readonly string[]): CliError {
  return new CliError(`${event_id} is of a type that ${endpoints.join(', ')} did not ask for`, 'not_found');
}

/** A replay of the one moment in which the event was made. @returns its id, once it has found something; else undefined */
async function missed(
  { client, answered }: PublicApi,
  endpoint_id: string,
  event_id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { type, created_at } = await answered(client.events.get(event_id));
  const moment = { since: created_at, until: created_at, event_types: [type], statuses: ['missed' as const] };
  const { id } = await answered(client.webhookReplays.create(endpoint_id, moment));
  const deadline = performance.now() + DELIVERY_TIMEOUT_MS;
  for (;;) {
    const { matched, status } = await answered(client.webhookReplays.get(id));
    if (matched > 0 || performance.now() > deadline) return id;
    if (status !== 'running') return undefined;
    await pause(POLL, undefined, { signal });
  }
}

async function listening({ client, answered }: PublicApi): Promise<readonly string[]> {
  const endpoints = await answered(client.webhookEndpoints.list().toArray());
  const ids = endpoints
    .filter(({ description, status }) => description === LISTENING && status === 'enabled')
    .map(({ id }) => id);
  if (ids.length > 0) return ids;
  throw new CliError(
    'no listen runs with a key of this workspace and environment: start one, or name an --endpoint',
    'not_found',
  );
}

/** Milliseconds for an answer of this machine; one that gives none counts as there. */
const REACH_TIMEOUT_MS = 1_000;

/**
 * Deletes endpoints of a `listen` that was killed: nothing listens at their port any more, and whatever takes it next would
 * get their deliveries. A `listen` that runs has its port before its endpoint, and its endpoint goes before its port.
 * @param own of this one: whoever was at its address before is gone. It is verified, so the service means this machine by
 *   127.0.0.1 too
 * @returns the ids of those that are deleted
 */
export async function clearAbandoned(
  { client, answered }: PublicApi,
  own: { readonly id: string; readonly url: string },
): Promise<readonly string[]> {
  const endpoints = await answered(client.webhookEndpoints.list().toArray());
  const cleared: string[] = [];
  for (const { id, url, description } of endpoints) {
    if (description !== LISTENING || id === own.id) continue;
    if (url !== own.url && !(await isDeserted(url))) continue;
    // It is cleanliness alone: whatever is in the way is told by what comes next.
    const isDeleted = await answered(client.webhookEndpoints.delete(id)).catch(() => undefined);
    if (isDeleted) cleared.push(id);
  }
  return cleared;
}

/** Whether this machine says that nothing listens there. */
function isDeserted(address: string): Promise<boolean> {
  const url = URL.parse(address);
  if (url?.hostname !== '127.0.0.1') return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) || 80, timeout: REACH_TIMEOUT_MS });
    const end = (isRefused: boolean) => {
      socket.destroy();
      resolve(isRefused);
    };
    socket
      .once('connect', () => end(false))
      .once('timeout', () => end(false))
      .once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
  });
}
