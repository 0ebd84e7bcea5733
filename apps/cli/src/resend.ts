import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { LoneRunner } from './invocation.ts';
import { addPublicApi, publicApiOf } from './public-api.ts';
import type { PublicApi } from './public-api.ts';

/** What endpoints of `listen` are called, by which they are found again. */
export const LISTENING = 'cli listen';

interface Resent {
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly delivery_id: string;
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
        const { operand, options, print } = invocation;
        const api = publicApiOf(invocation, apiKey);
        const named = options['endpoint'];
        const endpoints = named === undefined ? await listening(api) : [String(named)];
        for (const endpoint of endpoints) print.one(await resent(api, endpoint, operand), resentLine);
      }),
    );
}

/** Has the service send an event again to an endpoint that it was sent to before. @throws CliError */
export async function resent({ client, answered }: PublicApi, endpoint_id: string, event_id: string): Promise<Resent> {
  const { data } = await answered(client.webhookDeliveries.list({ endpoint_id, event_id, limit: 1 }).page());
  const [delivery] = data;
  if (delivery === undefined) throw new CliError(`${event_id} was never sent to ${endpoint_id}`, 'not_found');
  await answered(client.webhookDeliveries.retry(delivery.id));
  return { endpoint_id, event_id, delivery_id: delivery.id };
}

export function resentLine({ endpoint_id, event_id }: Resent): string {
  return `${event_id} is sent to ${endpoint_id} again`;
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
