import type { Command } from 'commander';
import type { Environment, JsonValue, Page, Timestamp } from '@tracking/contracts';
import {
  addDeliveryFilterOptions,
  addEnvironmentOption,
  addLimitOption,
  addDeliveryStatusFilterOption,
  type CommandInvocation,
  toQueryParameters,
  type Runner,
} from './invocation.ts';
import { type Column, describeEmptyList } from './terminal.ts';

/** Maximum number of characters of a response body in a table; `--json` shows the whole body. */
const MAX_SHOWN_RESPONSE_BODY_CHARACTERS = 200;
const FIELD_AND_VALUE_COLUMNS: readonly Column<readonly [string, string | number | boolean | null]>[] = [
  ['FIELD', ([name]) => name],
  ['VALUE', ([, value]) => value],
];
const ATTEMPT_COLUMNS: readonly Column<DeliveryAttempt>[] = [
  ['ATTEMPT', ({ number }) => number],
  ['AT', ({ at }) => at],
  ['MS', ({ duration_ms }) => duration_ms],
  ['STATUS', ({ status_code }) => status_code],
  ['MANUAL', ({ manual }) => (manual ? 'yes' : 'no')],
  ['ERROR', ({ error }) => error && error.message],
  ['RESPONSE', ({ response }) => response && response.body.slice(0, MAX_SHOWN_RESPONSE_BODY_CHARACTERS)],
];
const DELIVERY_COLUMNS: readonly Column<ListedDeliveryFields>[] = [
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

interface DeliveryAttempt {
  readonly number: number;
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly response: { readonly body: string } | null;
  readonly manual: boolean;
}
export interface DeliveryWithAttempts extends ListedDeliveryFields {
  readonly payload: JsonValue;
  readonly attempts: readonly DeliveryAttempt[];
}

export function addDeliveryCommands(deliveries: Command, run: Runner): void {
  addLimitOption(
    addDeliveryStatusFilterOption(addDeliveryFilterOptions(addScopeOptions(deliveries.command('list')))),
    'newest first',
  )
    .description('list deliveries to webhook endpoints, newest first')
    .option('--event <id>', 'only deliveries of this event, evt_…')
    .action(
      run((invocation) =>
        printDeliveries(invocation, { ...toScopeQueryParameters(invocation), ...toDeliveryFilterParams(invocation) }),
      ),
    );
  addScopeOptions(deliveries.command('show'))
    .argument('<id>', 'ID of the delivery, dlv_…')
    .description('show a delivery with its payload and every attempt')
    .action(run(async (invocation) => printDelivery(invocation, await readDelivery(invocation))));
  addScopeOptions(deliveries.command('retry'))
    .argument('<id>', 'ID of the delivery, dlv_…')
    .description('attempt a delivery once more, independent of its retry schedule')
    .action(
      run(async (invocation) => {
        const { client, print, operand } = invocation;
        const path = `/deliveries/${encodeURIComponent(operand)}/retry`;
        const delivery = await client.postJsonWithRetries<ListedDeliveryFields>(
          path,
          toScopeQueryParameters(invocation),
        );
        print.printResult(delivery, ({ id }) => `${id} is being attempted; for the result, use deliveries show`);
      }),
    );
}

/** Reads the delivery with the ID in the command. */
export async function readDelivery(invocation: CommandInvocation): Promise<DeliveryWithAttempts> {
  const { client, operand } = invocation;
  return client.getJson(`/deliveries/${encodeURIComponent(operand)}`, toScopeQueryParameters(invocation));
}

export function printDelivery({ print, options }: CommandInvocation, delivery: DeliveryWithAttempts): void {
  if (options['json'] === true) {
    print.printResult(delivery, () => '');
    return;
  }
  const { attempts, payload, last_error, ...fields } = delivery;
  print.printList(
    [
      ...Object.entries(fields),
      ['last_error', last_error && `${last_error.code}: ${last_error.message}`],
      ['payload', JSON.stringify(payload)],
    ],
    FIELD_AND_VALUE_COLUMNS,
  );
  print.printResult('', (blank) => blank);
  print.printList(attempts, ATTEMPT_COLUMNS);
}

/** Fields of a listed delivery that the commands use. */
interface ListedDeliveryFields {
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
/** Adds the options for workspace and environment. */
export function addScopeOptions(command: Command): Command {
  return addEnvironmentOption(command.option('--all-workspaces', 'list items of all workspaces'));
}

/** Returns the query parameters for workspace and environment. Without a workspace, the service searches all. */
export function toScopeQueryParameters({ workspace, options }: CommandInvocation): Readonly<Record<string, string>> {
  return toQueryParameters({
    workspace: options['allWorkspaces'] === true ? undefined : workspace,
    environment: options['environment'],
  });
}

export function toDeliveryFilterParams({
  options,
}: Pick<CommandInvocation, 'options'>): Readonly<Record<string, string>> {
  const { endpoint, event, eventType, status, reason, since, until } = options;
  return toQueryParameters({
    endpoint_id: endpoint,
    event_id: event,
    event_type: eventType,
    status,
    reason,
    since,
    until,
  });
}

export function printDeliveries(
  invocation: CommandInvocation,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  return printItemsUpToLimit(invocation, '/deliveries', params, DELIVERY_COLUMNS);
}

/** Prints the first items of a list over one or all workspaces, up to `--limit`. */
export async function printItemsUpToLimit<T>(
  { client, print, options }: CommandInvocation,
  path: string,
  params: Readonly<Record<string, string>>,
  columns: readonly Column<T>[],
): Promise<void> {
  const page = await client.readListItemsPageByPage<Page<T> & { readonly workspaces: string[] }>(
    path,
    params,
    Number(options['limit']),
  );
  const { data, workspaces, next_cursor } = page;
  if (data.length === 0 || options['json'] === true)
    print.printResult({ data, workspaces }, () => describeEmptyList(workspaces));
  else print.printList(data, columns);
  if (next_cursor !== null) print.printTextUnlessJson('more items match; raise --limit to see them');
}
