import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { LoneRunner } from './invocation.ts';
import { addPublicApi, publicApiOf } from './public-api.ts';
import type { PublicApi } from './public-api.ts';

/** What endpoints of `listen` are called, by which they are found again. */
export const LISTENING = 'cli listen';

/** Milliseconds between looks at a replay, and for how long. */
const POLL = 100;
const PATIENCE = 10_000;

interface Resent {
  readonly endpoint_id: string;
  readonly event_id: string;
  /** What is attempted once more; null where the event was never sent there: then a replay brings it. */
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
  const deadline = performance.now() + PATIENCE;
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
