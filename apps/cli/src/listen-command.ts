import type { EventEnvelope, JsonValue } from '@tracking/contracts';
import { startReceiver } from '@tracking/receiver';
import type { ReceivedDelivery, WebhookReceiver } from '@tracking/receiver';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { ApiClient } from './api-client.ts';
import { CliError, RefusedError, UsageError } from './cli-error.ts';
import type { Invocation, LoneRunner } from './invocation.ts';

interface Endpoint {
  readonly id: string;
  readonly last_verification: { readonly ok: boolean; readonly error: VerificationFailure | null } | null;
}
interface VerificationFailure {
  readonly code: string;
  readonly message: string;
}
/** Why a service does not send to an address: by its settings, not because nobody answers there. */
const NOT_ALLOWED: ReadonlySet<string> = new Set(['address_not_allowed', 'url_not_allowed']);

export function addListenCommand(listen: Command, run: LoneRunner, apiKey: string | undefined): void {
  listen
    .description('receive webhooks on this machine and print them; the key says of which workspace')
    .option('--key <key>', 'API key with webhooks:manage; better given as API_KEY, which no list of processes shows')
    .option('--url <url>', 'where the API is', 'http://127.0.0.1:3000')
    .option('--events <types>', 'types of events, separated by commas; * for the six standard ones', '*')
    .option('--port <port>', 'port to listen on; any free one by default', portNumber, 0)
    .action(
      run(async (invocation) => {
        const { url, key = apiKey, events, port } = invocation.options;
        if (key === undefined) throw new UsageError('give an API key with --key or API_KEY: see keys create');
        const api = new ApiClient(String(url), String(key));
        await listenUntilAborted(api, String(events).split(','), Number(port), invocation);
      }),
    );
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Expected a port.');
  return Number(text);
}

/** The endpoint lives as long as this does. */
async function listenUntilAborted(
  api: ApiClient,
  event_types: readonly string[],
  port: number,
  { print, signal }: Pick<Invocation, 'print' | 'signal'>,
): Promise<void> {
  const receiver = await startReceiver({ port }, (delivery) => print.one(delivery, line));
  try {
    const endpoint = await register(api, receiver, event_types);
    try {
      await enable(api, endpoint, receiver.url);
      const about = { endpoint_id: endpoint.id, url: receiver.url, event_types };
      print.one(about, () => `${endpoint.id} listens at ${receiver.url} for ${event_types.join(', ')}; Ctrl-C ends it`);
      await aborted(signal);
    } finally {
      // Said, not thrown: what made this end is worth more.
      await api.delete(pathOf(endpoint)).catch(({ message }: Error) => {
        const left = { endpoint_id: endpoint.id, error: message };
        print.one(left, () => `${endpoint.id} could not be deleted, do it by hand: ${message}`);
      });
    }
  } finally {
    await receiver.close();
  }
}

async function register(api: ApiClient, receiver: WebhookReceiver, event_types: readonly string[]): Promise<Endpoint> {
  const fields = { url: receiver.url, event_types, description: 'cli listen' };
  try {
    const { secret, ...endpoint } = await api.post<Endpoint & { readonly secret: string }>(
      '/v1/webhook_endpoints',
      fields,
    );
    receiver.useSecret(secret);
    return endpoint;
  } catch (error) {
    if (error instanceof RefusedError && error.details.some(({ param }) => param === 'url'))
      throw refusal(error.message);
    throw error;
  }
}

async function enable(api: ApiClient, endpoint: Endpoint, url: string): Promise<void> {
  const { last_verification } = await api.post<Endpoint>(`${pathOf(endpoint)}/verify`);
  const error = last_verification?.error;
  if (error && NOT_ALLOWED.has(error.code)) throw refusal(error.message);
  if (error) throw new CliError(`the service did not get its challenge answered at ${url}: ${error.message}`);
  await api.post(`${pathOf(endpoint)}/enable`);
}

function refusal(reason: string): CliError {
  return new CliError(`the service sends nothing to this machine (${reason}): start it with npm run dev to allow that`);
}

function pathOf({ id }: Endpoint): string {
  return `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function line({ event, verdict, repeated, receivedAt }: ReceivedDelivery): string {
  const at = receivedAt.toISOString();
  // Anybody could have sent it: nothing is known of what is in it.
  if (verdict !== 'valid') return `${at}  refused  (signature ${verdict})`;
  const what = `${event.type.padEnd(20)}  ${event.id}  ${about(event)}`;
  return `${at}  ${what}  (signature valid${repeated ? ', repeated' : ''})`;
}

/** What tells one event from the next at a glance. */
function about({ data }: EventEnvelope): string {
  const { shipment_id, external_id, milestone, exception, changes } = data as Readonly<
    Record<string, Readonly<Record<string, JsonValue>> | string | null | undefined>
  >;
  const of = (value: typeof milestone, name: string) => (typeof value === 'object' ? value?.[name] : undefined);
  const what = of(milestone, 'code') ?? of(exception, 'type') ?? Object.keys(changes ?? {}).join(', ');
  return [external_id ?? shipment_id, what].filter((part) => part !== undefined && part !== '').join(' ');
}
