import { TrackingClient, type EventType } from '@tracking/client';
import type { EventEnvelope, JsonValue } from '@tracking/contracts';
import { startReceiver } from '@tracking/receiver';
import type { ReceivedDelivery, WebhookReceiver } from '@tracking/receiver';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { answered } from './api-refusal.ts';
import { CliError, RefusedError, UsageError } from './cli-error.ts';
import type { Invocation, LoneRunner } from './invocation.ts';

/** Milliseconds: longer than the service waits for an endpoint that is being verified. */
const TIMEOUT = 60_000;
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
        const api = clientOf(String(url), String(key));
        await listenUntilAborted(api, String(events).split(',') as EventType[], Number(port), invocation);
      }),
    );
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Expected a port.');
  return Number(text);
}

/** The endpoints of a workspace, over the public API, as any client uses it. */
interface Endpoints {
  readonly url: string;
  readonly endpoints: TrackingClient['webhookEndpoints'];
}

function clientOf(url: string, apiKey: string): Endpoints {
  try {
    const client = new TrackingClient({ baseUrl: url, apiKey, timeout: TIMEOUT, transport: { proxy: false } });
    return { url, endpoints: client.webhookEndpoints };
  } catch {
    throw new UsageError(`not the address of an API: ${url}`);
  }
}

/** The endpoint lives as long as this does. */
async function listenUntilAborted(
  api: Endpoints,
  event_types: EventType[],
  port: number,
  { print, signal }: Pick<Invocation, 'print' | 'signal'>,
): Promise<void> {
  const receiver = await startReceiver({ port }, (delivery) => print.one(delivery, line));
  try {
    const id = await register(api, receiver, event_types);
    try {
      await enable(api, id, receiver.url);
      const about = { endpoint_id: id, url: receiver.url, event_types };
      print.one(about, () => `${id} listens at ${receiver.url} for ${event_types.join(', ')}; Ctrl-C ends it`);
      await aborted(signal);
    } finally {
      // Said, not thrown: what made this end is worth more.
      await answered(api.url, api.endpoints.delete(id)).catch(({ message }: Error) => {
        const left = { endpoint_id: id, error: message };
        print.one(left, () => `${id} could not be deleted, do it by hand: ${message}`);
      });
    }
  } finally {
    await receiver.close();
  }
}

/** @returns the id of the endpoint */
async function register(
  { url, endpoints }: Endpoints,
  receiver: WebhookReceiver,
  event_types: EventType[],
): Promise<string> {
  const fields = { url: receiver.url, event_types, description: 'cli listen' };
  try {
    const { id, secret } = await answered(url, endpoints.create(fields));
    receiver.useSecret(secret);
    return id;
  } catch (error) {
    if (error instanceof RefusedError && error.details.some(({ param }) => param === 'url'))
      throw refusal(error.message);
    throw error;
  }
}

async function enable({ url, endpoints }: Endpoints, id: string, receiverUrl: string): Promise<void> {
  const { last_verification } = await answered(url, endpoints.verify(id));
  const error = last_verification?.error;
  if (error && NOT_ALLOWED.has(error.code)) throw refusal(error.message);
  if (error) throw new CliError(`the service did not get its challenge answered at ${receiverUrl}: ${error.message}`);
  await answered(url, endpoints.enable(id));
}

function refusal(reason: string): CliError {
  return new CliError(`the service sends nothing to this machine (${reason}): start it with npm run dev to allow that`);
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
