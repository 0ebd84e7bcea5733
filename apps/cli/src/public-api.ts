import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError, ConnectionError, TrackingClient } from '@tracking/client';
import { CliError, RefusedError, UsageError } from './config.ts';
import type { CommandInvocation, LocalRunner } from './invocation.ts';

/** Timeout of a request, longer than the service waits for an endpoint during verification. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Client of a service's public API, which it calls with an API key. */
export interface PublicApiClient {
  readonly client: TrackingClient;
  /** Awaits the response of a call. @throws RefusedError, CliError, as one line for operators */
  receive<T>(call: PromiseLike<T>): Promise<T>;
}

/** Adds the options for address and API key. */
export function addPublicApiOptions(command: Command): Command {
  return command
    .option('--key <key>', 'API key with webhooks:manage; prefer API_KEY, because process lists show arguments')
    .option('--url <url>', 'URL of the API', 'http://127.0.0.1:3000');
}

/** @param apiKey API key that applies if `--key` is not set */
export function createPublicApiClient(
  { options }: Pick<CommandInvocation, 'options'>,
  apiKey: string | undefined,
): PublicApiClient {
  const { url, key = apiKey } = options;
  if (key === undefined) throw new UsageError('specify an API key with --key or API_KEY; create one with keys create');
  return {
    client: createTrackingClient(String(url), String(key)),
    receive: (call) => rethrowConnectionErrorAsCliError(String(url), call),
  };
}

function createTrackingClient(baseUrl: string, apiKey: string): TrackingClient {
  try {
    return new TrackingClient({ baseUrl, apiKey, timeout: REQUEST_TIMEOUT_MS, transport: { proxy: false } });
  } catch {
    throw new UsageError(`${baseUrl} is not a valid API URL`);
  }
}

async function rethrowConnectionErrorAsCliError<T>(url: string, call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new CliError(`no response from ${url}: ${describeError(error)}`, 'unavailable');
    if (!(error instanceof ApiError)) throw error;
    const { status, type, code, message, param, details, request_id } = error;
    const known = code === 'unexpected_answer' ? {} : { type, code };
    const body = { error: { ...known, message, param, details, request_id } };
    throw RefusedError.createRefusedErrorFromResponse(status, body, ({ details: all = [] }) =>
      all.map((each) => each.message).join(' '),
    );
  }
}

function describeError({ cause, message }: ConnectionError): string {
  return cause instanceof Error ? cause.message : message;
}

/** Description by which `listen` identifies its endpoints. */
export const LISTEN_COMMAND_ENDPOINT_MARKER = 'cli listen';
const REPLAY_POLL_INTERVAL_MS = 100;
/** Maximum milliseconds until a replay finds its event. */
const REPLAY_EVENT_SEARCH_TIMEOUT_MS = 10_000;

interface ResendResult {
  readonly endpoint_id: string;
  readonly event_id: string;
  /** ID of the retried delivery. It is null if the event was never sent to the endpoint, so that a replay sends it. */
  readonly delivery_id: string | null;
  readonly replay_id: string | null;
}

export function addResendCommand(resend: Command, run: LocalRunner, apiKey: string | undefined): void {
  addPublicApiOptions(resend)
    .argument('<id>', 'ID of the event, evt_…')
    .description(
      'send an event again immediately, to every running listen or to one endpoint; the API key selects the workspace',
    )
    .option('--endpoint <id>', 'only to this endpoint, whe_…')
    .action(
      run(async (invocation) => {
        const { operand, options, print, signal } = invocation;
        const api = createPublicApiClient(invocation, apiKey);
        const named = options['endpoint'];
        const endpoints = named === undefined ? await findEndpointsOfListenCommands(api) : [String(named)];
        let isSent = false;
        for (const endpoint of endpoints) {
          const sent = await resendEvent(api, endpoint, operand, signal);
          if (sent === undefined) continue;
          print.printResult(sent, formatResendResult);
          isSent = true;
        }
        if (!isSent) throw createNotSubscribedError(operand, endpoints);
      }),
    );
}

/**
 * Sends an event to an endpoint again, or for the first time if the event is older than the endpoint.
 * @returns undefined if the endpoint is not subscribed to the event type
 * @throws CliError
 */
export async function resendEvent(
  api: PublicApiClient,
  endpoint_id: string,
  event_id: string,
  signal: AbortSignal,
): Promise<ResendResult | undefined> {
  const { client, receive } = api;
  const { data } = await receive(client.webhookDeliveries.list({ endpoint_id, event_id, limit: 1 }).page());
  const [delivery] = data;
  if (delivery === undefined) {
    const replay_id = await replayMissedEvent(api, endpoint_id, event_id, signal);
    return replay_id === undefined ? undefined : { endpoint_id, event_id, delivery_id: null, replay_id };
  }
  await receive(client.webhookDeliveries.retry(delivery.id));
  return { endpoint_id, event_id, delivery_id: delivery.id, replay_id: null };
}

export function formatResendResult({ endpoint_id, event_id, replay_id }: ResendResult): string {
  return `${event_id} is sent to ${endpoint_id} ${replay_id === null ? 'again' : `by ${replay_id}`}`;
}

export function createNotSubscribedError(event_id: string, endpoints: readonly string[]): CliError {
  return new CliError(`${event_id} has a type to which ${endpoints.join(', ')} is not subscribed`, 'not_found');
}

/**
 * Replays the millisecond in which the event was created. @returns the ID of the replay if it has found an event;
 * undefined if it finds none
 */
async function replayMissedEvent(
  { client, receive }: PublicApiClient,
  endpoint_id: string,
  event_id: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { type, created_at } = await receive(client.events.get(event_id));
  const filter = { since: created_at, until: created_at, event_types: [type], statuses: ['missed' as const] };
  const { id } = await receive(client.webhookReplays.create(endpoint_id, filter));
  const deadline = performance.now() + REPLAY_EVENT_SEARCH_TIMEOUT_MS;
  for (;;) {
    const { matched, status } = await receive(client.webhookReplays.get(id));
    if (matched > 0 || performance.now() > deadline) return id;
    if (status !== 'running') return undefined;
    await pause(REPLAY_POLL_INTERVAL_MS, undefined, { signal });
  }
}

async function findEndpointsOfListenCommands({ client, receive }: PublicApiClient): Promise<readonly string[]> {
  const endpoints = await receive(client.webhookEndpoints.list().toArray());
  const ids = endpoints
    .filter(({ description, status }) => description === LISTEN_COMMAND_ENDPOINT_MARKER && status === 'enabled')
    .map(({ id }) => id);
  if (ids.length > 0) return ids;
  throw new CliError(
    'no listen is running with a key of this workspace and environment: start one, or specify --endpoint',
    'not_found',
  );
}

/**
 * Timeout in milliseconds for a connection to a port of this machine. A port that does not respond in time counts as
 * used.
 */
const LOCAL_PORT_PROBE_TIMEOUT_MS = 1_000;

/**
 * Deletes endpoints of killed `listen` commands, because the next process on their port would receive their deliveries.
 * Nothing listens on the port of such an endpoint: a running `listen` opens its port before it creates its endpoint,
 * and deletes the endpoint before it closes the port.
 * @param own the endpoint of this command. Other endpoints with the same URL are abandoned. The verification of this
 *   endpoint proved that
 * 127.0.0.1 is this machine for the service too
 * @returns the ids of the deleted endpoints
 */
export async function deleteEndpointsOfKilledListenCommands(
  { client, receive }: PublicApiClient,
  own: { readonly id: string; readonly url: string },
): Promise<readonly string[]> {
  const endpoints = await receive(client.webhookEndpoints.list().toArray());
  const deletedIds: string[] = [];
  for (const { id, url, description } of endpoints) {
    if (description !== LISTEN_COMMAND_ENDPOINT_MARKER || id === own.id) continue;
    if (url !== own.url && !(await isAddressRefusingConnections(url))) continue;
    // This cleanup is optional, so errors are ignored. If they persist, the next request reports them.
    const isDeleted = await receive(client.webhookEndpoints.delete(id)).catch(() => undefined);
    if (isDeleted) deletedIds.push(id);
  }
  return deletedIds;
}

/** Returns true if this machine refuses connections to the address. */
function isAddressRefusingConnections(address: string): Promise<boolean> {
  const url = URL.parse(address);
  if (url?.hostname !== '127.0.0.1') return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) || 80, timeout: LOCAL_PORT_PROBE_TIMEOUT_MS });
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
