import type { Environment, Page, Timestamp } from '@tracking/contracts';
import type { Command } from 'commander';
import type { AdministrationClient } from './administration-client.ts';
import { addEnvironment, queryOf } from './filters.ts';
import type { Invocation } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column } from './output.ts';

/** A delivery as the service lists it, as far as it is looked at here. */
export interface DeliverySummary {
  readonly id: string;
  readonly workspace: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly sandbox: boolean;
  readonly created_at: Timestamp;
  readonly next_attempt_at: Timestamp | null;
  readonly completed_at: Timestamp | null;
  readonly attempts_count: number;
  readonly last_error: { readonly code: string; readonly message: string } | null;
}
interface DeliveryPage extends Page<DeliverySummary> {
  /** Names of those looked at. */
  readonly workspaces: readonly string[];
}

const COLUMNS: readonly Column<DeliverySummary>[] = [
  ['ID', ({ id }) => id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['EVENT', ({ event_type }) => event_type],
  ['STATUS', ({ status }) => status],
  ['CREATED', ({ created_at }) => created_at],
  ['ATTEMPTS', ({ attempts_count }) => attempts_count],
  ['NEXT ATTEMPT', ({ next_attempt_at }) => next_attempt_at],
  ['LAST ERROR', ({ last_error }) => last_error && last_error.message],
];

/** Options that say where to look. */
export function addWhere(command: Command): Command {
  return addEnvironment(command.option('--all-workspaces', 'look into every workspace'));
}

/** Where to look, in the service's terms: without a workspace it looks into all. */
export function whereOf({ workspace, options }: Invocation): Readonly<Record<string, string>> {
  return queryOf({
    workspace: options['allWorkspaces'] === true ? undefined : workspace,
    environment: options['environment'],
  });
}

export function filtersOf({ options }: Pick<Invocation, 'options'>): Readonly<Record<string, string>> {
  const { endpoint, event, eventType, status, reason, since, until } = options;
  return queryOf({ endpoint_id: endpoint, event_id: event, event_type: eventType, status, reason, since, until });
}

/** The newest deliveries that match, and the names of the workspaces looked at. */
function findDeliveries(
  client: AdministrationClient,
  params: Readonly<Record<string, string>>,
  most: number,
): Promise<DeliveryPage> {
  return client.list<DeliveryPage>('/deliveries', params, most);
}

export async function printDeliveries(
  { client, print, options }: Invocation,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  const { data, workspaces, next_cursor } = await findDeliveries(client, params, Number(options['limit']));
  if (data.length === 0 || options['json'] === true) print.one({ data, workspaces }, () => noneIn(workspaces));
  else print.list(data, COLUMNS);
  if (next_cursor !== null) print.hint('there are more, see --limit');
}
