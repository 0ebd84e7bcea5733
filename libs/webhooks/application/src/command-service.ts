import type { JsonObject, JsonValue } from '@tracking/contracts';
import type { CommandChannel, CommandServer } from '@tracking/ports';
import type { WebhooksApi } from './webhooks-api.ts';

const SERVICE = 'webhooks';

/** Every method of every part of the API: what is not here cannot be asked for. */
const METHODS: { readonly [Part in keyof WebhooksApi]: readonly (keyof WebhooksApi[Part] & string)[] } = {
  endpoints: ['create', 'list', 'get', 'change', 'remove', 'verify', 'enable', 'disable', 'test'],
  deliveries: ['list', 'get', 'retry', 'discard', 'replayDeadLetters', 'discardDeadLetters'],
  parked: ['list', 'retry'],
};

type Method = (request: JsonObject) => Promise<JsonValue>;
type Part = Record<string, Method>;

/** Answers the API's methods, as `endpoints.create`, for callers in other processes. Requests and answers are JSON. */
export function serveWebhooks(server: CommandServer, api: WebhooksApi): void {
  const methods: Record<string, Method> = {};
  for (const [name, names] of Object.entries(METHODS)) {
    const part = api[name as keyof WebhooksApi] as unknown as Part;
    for (const method of names) methods[`${name}.${method}`] = async (request) => part[method]?.(request) ?? null;
  }
  server.serve(SERVICE, methods);
}

/**
 * The API over the command channel.
 * @param deadlineMs for each call; longer than an attempt may take, since `verify` waits for the endpoint
 */
export function webhooksClient(channel: CommandChannel, deadlineMs: number): WebhooksApi {
  const part = (name: keyof WebhooksApi): unknown =>
    Object.fromEntries(
      METHODS[name].map((method): [string, Method] => [
        method,
        (request) => channel.call(SERVICE, `${name}.${method}`, request, deadlineMs),
      ]),
    );
  return {
    endpoints: part('endpoints') as WebhooksApi['endpoints'],
    deliveries: part('deliveries') as WebhooksApi['deliveries'],
    parked: part('parked') as WebhooksApi['parked'],
  };
}
