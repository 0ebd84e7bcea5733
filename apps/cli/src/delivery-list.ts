import { ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type { Environment, Timestamp } from '@tracking/contracts';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { AdministrationClient } from './administration-client.ts';
import type { Invocation } from './invocation.ts';
import type { Column } from './output.ts';

const DEFAULT_LIMIT = 50;
/** Most that the service answers with at once. */
const PAGE = 200;

/** A delivery as the service lists it, as far as it is looked at here. */
export interface Delivery {
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
interface DeliveryPage {
  readonly data: readonly Delivery[];
  readonly workspaces: readonly string[];
  readonly next_cursor: string | null;
}

const COLUMNS: readonly Column<Delivery>[] = [
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
  return command
    .option('--all-workspaces', 'look into every workspace')
    .addOption(new Option('--environment <environment>', 'one environment only').choices([...ENVIRONMENTS]));
}

/** Options that say what to look for. */
export function addFilters(command: Command): Command {
  return command
    .option('--endpoint <id>', 'only those to this endpoint, whe_…')
    .addOption(new Option('--event-type <type>', 'only those of such events').choices([...EVENT_TYPES]))
    .option('--since <time>', 'only those of events of this time or later, as 2026-11-21T09:30:00Z')
    .option('--until <time>', 'only those of events of this time or earlier');
}

export function addLimit(command: Command): Command {
  return command.option('--limit <number>', 'most to list, the newest first', wholeNumber, DEFAULT_LIMIT);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Expected a whole number from 1 on.');
  return Number(text);
}

/** Where to look, in the service's terms: without a workspace it looks into all. */
export function whereOf({ workspace, options }: Invocation): Readonly<Record<string, string>> {
  return defined({
    workspace: options['allWorkspaces'] === true ? undefined : workspace,
    environment: options['environment'],
  });
}

export function filtersOf({ options }: Invocation): Readonly<Record<string, string>> {
  const { endpoint, event, eventType, status, since, until } = options;
  return defined({ endpoint_id: endpoint, event_id: event, event_type: eventType, status, since, until });
}

function defined(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** The newest deliveries that match, and the names of the workspaces looked at. */
export async function findDeliveries(
  client: AdministrationClient,
  params: Readonly<Record<string, string>>,
  most: number,
): Promise<DeliveryPage> {
  const found: Delivery[] = [];
  for (let cursor: string | null = null; ;) {
    const limit = String(Math.min(most - found.length, PAGE));
    const page: DeliveryPage = await client.get('/deliveries', {
      ...params,
      limit,
      ...(cursor !== null && { cursor }),
    });
    found.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null || found.length >= most) return { ...page, data: found };
  }
}

export async function printDeliveries(
  { client, print, options }: Invocation,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  const { data, workspaces, next_cursor } = await findDeliveries(client, params, Number(options['limit']));
  if (data.length === 0 || options['json'] === true) print.one({ data, workspaces }, () => noneIn(workspaces));
  else print.list(data, COLUMNS);
  if (next_cursor !== null && options['json'] !== true) print.one(next_cursor, () => 'there are more, see --limit');
}

export function noneIn(workspaces: readonly string[]): string {
  return `none in ${workspaces.length === 1 ? 'workspace' : 'the workspaces'} ${workspaces.join(', ')}`;
}
