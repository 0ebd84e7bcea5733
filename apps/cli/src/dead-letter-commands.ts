import type { Command } from 'commander';
import type { ErrorCode } from '@tracking/contracts';
import { CliError, UsageError } from './config.ts';
import {
  addScopeOptions,
  type DeliveryWithAttempts,
  readDelivery,
  toDeliveryFilterParams,
  printDeliveries,
  printDelivery,
  toScopeQueryParameters,
} from './delivery-commands.ts';
import { addDeadLetterFilterOptions, addLimitOption, type CommandInvocation, type Runner } from './invocation.ts';
import {
  REPLAY_COLUMNS,
  type ListedReplay,
  throwIfAnyReplayCanceled,
  requireRunningService,
  waitUntilReplaysEnded,
} from './replay-commands.ts';
import { type Column, describeEmptyList, type Printer } from './terminal.ts';

const DEAD_LETTER_FILTER = { status: 'dead_lettered' };
/** Maximum number of ids in one command. */
const MAX_DEAD_LETTER_IDS = 200;
const PRINTED_COUNT_COLUMN: Column<DeadLetterCount> = ['COUNT', formatDeadLetterCount];
const PRINTED_REASON_COLUMNS: readonly Column<DeadLetterSummary['by_reason'][number]>[] = [
  ['REASON', ({ reason }) => reason],
  PRINTED_COUNT_COLUMN,
];
const PRINTED_EVENT_TYPE_COLUMNS: readonly Column<DeadLetterSummary['by_event_type'][number]>[] = [
  ['EVENT', ({ event_type }) => event_type],
  PRINTED_COUNT_COLUMN,
];
const DEAD_LETTERS_BY_ENDPOINT_COLUMNS: readonly Column<DeadLetterSummary['by_endpoint'][number]>[] = [
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['STATUS', ({ status }) => status],
  ['URL', ({ url }) => url],
  PRINTED_COUNT_COLUMN,
];
/** Text that `formatDeadLetterCount` returns for an exact count of 0. */
const TEXT_OF_ZERO_COUNT = '0';

type BulkAction = 'replay' | 'discard';
interface DeadLetterBulkResult {
  readonly data: readonly ListedReplay[];
  readonly refused: readonly {
    readonly endpoint_id: string;
    readonly workspace: string;
    readonly code: ErrorCode;
    readonly message: string;
  }[];
  readonly workspaces: readonly string[];
}

export function addDeadLetterCommands(deadLetters: Command, run: Runner): void {
  addLimitOption(addDeadLetterFilterOptions(addScopeOptions(deadLetters.command('list'))), 'newest first')
    .description('list deliveries that failed permanently, newest first')
    .action(
      run((invocation) =>
        printDeliveries(invocation, {
          ...toScopeQueryParameters(invocation),
          ...toDeliveryFilterParams(invocation),
          ...DEAD_LETTER_FILTER,
        }),
      ),
    );
  addScopeOptions(deadLetters.command('show'))
    .argument('<id>', 'ID of the delivery, dlv_…')
    .description('show a dead letter with its payload and every attempt')
    .action(
      run(async (invocation) => {
        const delivery = await readDelivery(invocation);
        assertDeliveryIsDeadLetter(delivery);
        printDelivery(invocation, delivery);
      }),
    );
  addDeadLetterFilterOptions(addScopeOptions(deadLetters.command('summary')))
    .description('count dead letters by reason, endpoint and event type')
    .action(
      run(async (invocation) => {
        const summary = await fetchDeadLetterSummary(invocation);
        if (invocation.options['json'] === true) invocation.print.printResult(summary, () => '');
        else printDeadLetterSummary(invocation.print, summary);
      }),
    );
  addDeadLetterBulkCommandOptions(deadLetters.command('replay'))
    .argument('[ids...]', 'IDs of deliveries, dlv_…; without IDs, all that match the filters')
    .description('deliver dead letters again, oldest first, each with a new retry schedule')
    .action(run((invocation) => runDeadLetterBulkAction(invocation, 'replay'), checkDeadLetterSelection));
  addDeadLetterBulkCommandOptions(deadLetters.command('discard'))
    .argument('[ids...]', 'IDs of the deliveries, dlv_…')
    .description('discard dead letters permanently')
    .option('--all', 'discard all dead letters; do not combine with IDs or filters')
    .action(
      run(
        (invocation) => runDeadLetterBulkAction(invocation, 'discard'),
        (invocation) => {
          checkDeadLetterSelection(invocation);
          const hasSelection =
            invocation.operands.length > 0 || hasFilters(invocation) || invocation.options['all'] === true;
          if (!hasSelection) throw new UsageError('specify the IDs of dead letters, a filter, or --all');
        },
      ),
    );
}

function addDeadLetterBulkCommandOptions(command: Command): Command {
  return addDeadLetterFilterOptions(addScopeOptions(command))
    .option('--yes', 'run without asking for confirmation')
    .option('--wait', 'wait until the job is complete, and report progress');
}

type Input = Pick<CommandInvocation, 'operands' | 'options'>;
const hasFilters = (invocation: Input) => Object.keys(toDeliveryFilterParams(invocation)).length > 0;

function checkDeadLetterSelection(invocation: Input): void {
  const { operands } = invocation;
  if (operands.length > MAX_DEAD_LETTER_IDS)
    throw new UsageError(`specify at most ${MAX_DEAD_LETTER_IDS} dead letters`);
  if (operands.length > 0 && hasFilters(invocation))
    throw new UsageError('specify either dead letters or filters, not both');
}

/** Shows the affected dead letters, asks for confirmation, and then replays or discards them. */
async function runDeadLetterBulkAction(invocation: CommandInvocation, action: BulkAction): Promise<void> {
  const { client, print, operands, options } = invocation;
  const isWaiting = options['wait'] === true;
  if (isWaiting) requireRunningService(invocation);
  const [count, workspaces] =
    operands.length > 0
      ? await countDeadLettersNamedByOperands(invocation)
      : await fetchAndPrintDeadLetterSummary(invocation);
  if (count === TEXT_OF_ZERO_COUNT)
    return print.printResult({ data: [], refused: [], workspaces }, () => describeEmptyList(workspaces));
  await requireConfirmation(
    invocation,
    action === 'replay' ? `Deliver ${count} again?` : `Discard ${count} permanently?`,
  );
  const request = { ...toScopeQueryParameters(invocation), ...toDeadLetterSelection(invocation) };
  const result = await client.postJsonWithRetries<DeadLetterBulkResult>(`/dead_letters/${action}`, request);
  const data = isWaiting ? await waitUntilReplaysEnded(invocation, result.data) : result.data;
  printDeadLetterBulkResult(invocation, { ...result, data });
  if (isWaiting) throwIfAnyReplayCanceled(data);
  const { refused } = result;
  if (refused[0] !== undefined)
    throw new CliError(`the job was not started for ${refused.length} endpoints`, refused[0].code);
}

async function requireConfirmation({ options, confirm }: CommandInvocation, question: string): Promise<void> {
  const needsConfirmation = options['yes'] !== true && options['json'] !== true;
  if (needsConfirmation && !(await confirm(question)))
    throw new CliError('the command was canceled; nothing was changed');
}

function printDeadLetterBulkResult({ print, options, note }: CommandInvocation, settled: DeadLetterBulkResult): void {
  const { data, refused } = settled;
  if (options['json'] === true) return print.printResult(settled, () => '');
  if (data.length > 0) print.printList(data, REPLAY_COLUMNS);
  if (data.some(({ status }) => status === 'running'))
    print.printTextUnlessJson('to follow the progress, use replays show or --wait');
  for (const { endpoint_id, workspace, message } of refused) note(`${endpoint_id} of ${workspace}: ${message}`);
}

/** Number of dead letters, and names of the searched workspaces. */
type Affected = readonly [count: string, workspaces: readonly string[]];

async function fetchAndPrintDeadLetterSummary(invocation: CommandInvocation): Promise<Affected> {
  const summary = await fetchDeadLetterSummary(invocation);
  const count = formatDeadLetterCount(summary);
  if (count !== TEXT_OF_ZERO_COUNT && invocation.options['json'] !== true)
    printDeadLetterSummary(invocation.print, summary);
  return [count, summary.workspaces];
}

async function countDeadLettersNamedByOperands(invocation: CommandInvocation): Promise<Affected> {
  const ids = [...new Set(invocation.operands)];
  for (const operand of ids) assertDeliveryIsDeadLetter(await readDelivery({ ...invocation, operand }));
  return [String(ids.length), []];
}

/** Returns the selection of dead letters for a request body. */
function toDeadLetterSelection({ operands, options }: Input): object {
  if (operands.length > 0) return { delivery_ids: [...new Set(operands)] };
  const { endpoint, eventType, reason, since, until } = options;
  return {
    endpoint_id: endpoint,
    event_types: eventType === undefined ? undefined : [eventType],
    reasons: reason === undefined ? undefined : [reason],
    since,
    until,
  };
}

function assertDeliveryIsDeadLetter({ id, status }: DeliveryWithAttempts): void {
  if (status !== DEAD_LETTER_FILTER.status)
    throw new CliError(`${id} is not a dead letter: its status is ${status}`, 'not_found');
}

interface DeadLetterCount {
  readonly count: number;
  readonly is_exact: boolean;
}
interface DeadLetterSummary extends DeadLetterCount {
  readonly by_reason: readonly (DeadLetterCount & { readonly reason: string })[];
  readonly by_endpoint: readonly (DeadLetterCount & {
    readonly endpoint_id: string;
    readonly url: string | null;
    readonly status: string;
    readonly workspace: string;
    readonly environment: string;
  })[];
  readonly by_event_type: readonly (DeadLetterCount & { readonly event_type: string })[];
  /** Names of the searched workspaces. */
  readonly workspaces: readonly string[];
}

/** Requests the counts of the dead letters that the command's filters select. */
function fetchDeadLetterSummary(invocation: CommandInvocation): Promise<DeadLetterSummary> {
  const params = { ...toScopeQueryParameters(invocation), ...toDeliveryFilterParams(invocation) };
  return invocation.client.getJson<DeadLetterSummary>('/dead_letters/summary', params);
}

function printDeadLetterSummary(print: Printer, summary: DeadLetterSummary): void {
  const { by_reason, by_endpoint, by_event_type, workspaces } = summary;
  if (formatDeadLetterCount(summary) === TEXT_OF_ZERO_COUNT)
    return print.printTextUnlessJson(describeEmptyList(workspaces));
  print.printTextUnlessJson(`${formatDeadLetterCount(summary)} dead letters`);
  print.printList(by_reason, PRINTED_REASON_COLUMNS);
  print.printTextUnlessJson('');
  print.printList(by_endpoint, DEAD_LETTERS_BY_ENDPOINT_COLUMNS);
  print.printTextUnlessJson('');
  print.printList(by_event_type, PRINTED_EVENT_TYPE_COLUMNS);
}

/** Returns the count as text. A plus shows that the count is a minimum. */
function formatDeadLetterCount({ count, is_exact }: DeadLetterCount): string {
  return `${count}${is_exact ? '' : '+'}`;
}
