import type { Command } from 'commander';
import type { ErrorCode } from '@tracking/contracts';
import { CliError, UsageError } from './config.ts';
import {
  addWhere,
  type DeliveryDetail,
  deliveryOf,
  filtersOf,
  printDeliveries,
  printDelivery,
  whereOf,
} from './delivery-commands.ts';
import { addDeadLetterFilters, addLimit, type Invocation, type Runner } from './invocation.ts';
import {
  REPLAY_COLUMNS,
  type ReplaySummary,
  requireCompleted,
  requireServing,
  waitUntilEnded,
} from './replay-commands.ts';
import { type Column, noneIn, type Printer } from './terminal.ts';

const DEAD = { status: 'dead_lettered' };
/** Maximum number of ids in one command. */
const MAX_NAMED = 200;
const COUNT: Column<Count> = ['COUNT', counted];
const REASONS: readonly Column<Summary['by_reason'][number]>[] = [['REASON', ({ reason }) => reason], COUNT];
const TYPES: readonly Column<Summary['by_event_type'][number]>[] = [['EVENT', ({ event_type }) => event_type], COUNT];
const ENDPOINTS: readonly Column<Summary['by_endpoint'][number]>[] = [
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['STATUS', ({ status }) => status],
  ['URL', ({ url }) => url],
  COUNT,
];
/** Result of `counted` if there are none, exactly. */
const NONE = '0';

type How = 'replay' | 'discard';
interface Settled {
  readonly data: readonly ReplaySummary[];
  readonly refused: readonly {
    readonly endpoint_id: string;
    readonly workspace: string;
    readonly code: ErrorCode;
    readonly message: string;
  }[];
  readonly workspaces: readonly string[];
}

export function addDeadLetterCommands(deadLetters: Command, run: Runner): void {
  addLimit(addDeadLetterFilters(addWhere(deadLetters.command('list'))), 'the newest first')
    .description('list deliveries that failed for good, the newest first')
    .action(
      run((invocation) => printDeliveries(invocation, { ...whereOf(invocation), ...filtersOf(invocation), ...DEAD })),
    );
  addWhere(deadLetters.command('show'))
    .argument('<id>', 'id of the delivery, dlv_…')
    .description('show a dead letter with its payload and every attempt')
    .action(
      run(async (invocation) => {
        const delivery = await deliveryOf(invocation);
        requireDead(delivery);
        printDelivery(invocation, delivery);
      }),
    );
  addDeadLetterFilters(addWhere(deadLetters.command('summary')))
    .description('count dead letters by reason, endpoint and event type')
    .action(
      run(async (invocation) => {
        const summary = await summaryOf(invocation);
        if (invocation.options['json'] === true) invocation.print.one(summary, () => '');
        else printSummary(invocation.print, summary);
      }),
    );
  addSettling(deadLetters.command('replay'))
    .argument('[ids...]', 'ids of deliveries, dlv_…; all that match without any')
    .description('deliver dead letters again, the oldest first, each with a new schedule')
    .action(run((invocation) => settle(invocation, 'replay'), refuseUnclear));
  addSettling(deadLetters.command('discard'))
    .argument('[ids...]', 'ids of deliveries, dlv_…')
    .description('give dead letters up')
    .option('--all', 'all of them, where neither ids nor filters are given')
    .action(
      run(
        (invocation) => settle(invocation, 'discard'),
        (invocation) => {
          refuseUnclear(invocation);
          const isAimed =
            invocation.operands.length > 0 || hasFilters(invocation) || invocation.options['all'] === true;
          if (!isAimed) throw new UsageError('name the dead letters, a filter, or --all');
        },
      ),
    );
}

function addSettling(command: Command): Command {
  return addDeadLetterFilters(addWhere(command))
    .option('--yes', 'do not ask')
    .option('--wait', 'wait until it is done, and tell how far it is');
}

type Input = Pick<Invocation, 'operands' | 'options'>;
const hasFilters = (invocation: Input) => Object.keys(filtersOf(invocation)).length > 0;

function refuseUnclear(invocation: Input): void {
  const { operands } = invocation;
  if (operands.length > MAX_NAMED) throw new UsageError(`name at most ${MAX_NAMED} dead letters`);
  if (operands.length > 0 && hasFilters(invocation)) throw new UsageError('name either dead letters or filters');
}

/** Shows the affected dead letters, asks for confirmation, and starts the replays or discards them. */
async function settle(invocation: Invocation, how: How): Promise<void> {
  const { client, print, operands, options } = invocation;
  const isWaiting = options['wait'] === true;
  if (isWaiting) requireServing(invocation);
  const [count, workspaces] = operands.length > 0 ? await findNamed(invocation) : await findMatching(invocation);
  if (count === NONE) return print.one({ data: [], refused: [], workspaces }, () => noneIn(workspaces));
  await requireConfirmed(invocation, how === 'replay' ? `Deliver ${count} again?` : `Give ${count} up for good?`);
  const asked = { ...whereOf(invocation), ...selectionOf(invocation) };
  const settled = await client.post<Settled>(`/dead_letters/${how}`, asked);
  const data = isWaiting ? await waitUntilEnded(invocation, settled.data) : settled.data;
  printSettled(invocation, { ...settled, data });
  if (isWaiting) requireCompleted(data);
  const { refused } = settled;
  if (refused[0] !== undefined) throw new CliError(`not begun for ${refused.length} of the endpoints`, refused[0].code);
}

async function requireConfirmed({ options, confirm }: Invocation, question: string): Promise<void> {
  const isAsked = options['yes'] !== true && options['json'] !== true;
  if (isAsked && !(await confirm(question))) throw new CliError('nothing was done');
}

function printSettled({ print, options, note }: Invocation, settled: Settled): void {
  const { data, refused } = settled;
  if (options['json'] === true) return print.one(settled, () => '');
  if (data.length > 0) print.list(data, REPLAY_COLUMNS);
  if (data.some(({ status }) => status === 'running')) print.hint('see replays show, or --wait');
  for (const { endpoint_id, workspace, message } of refused) note(`${endpoint_id} of ${workspace}: ${message}`);
}

/** The number of dead letters, and the names of the searched workspaces. */
type Affected = readonly [count: string, workspaces: readonly string[]];

async function findMatching(invocation: Invocation): Promise<Affected> {
  const summary = await summaryOf(invocation);
  const count = counted(summary);
  if (count !== NONE && invocation.options['json'] !== true) printSummary(invocation.print, summary);
  return [count, summary.workspaces];
}

async function findNamed(invocation: Invocation): Promise<Affected> {
  const named = [...new Set(invocation.operands)];
  for (const operand of named) requireDead(await deliveryOf({ ...invocation, operand }));
  return [String(named.length), []];
}

/** The selection of dead letters in the body of a request. */
function selectionOf({ operands, options }: Input): object {
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

function requireDead({ id, status }: DeliveryDetail): void {
  if (status !== DEAD.status) throw new CliError(`${id} is no dead letter: ${status}`, 'not_found');
}

interface Count {
  readonly count: number;
  readonly is_exact: boolean;
}
interface Summary extends Count {
  readonly by_reason: readonly (Count & { readonly reason: string })[];
  readonly by_endpoint: readonly (Count & {
    readonly endpoint_id: string;
    readonly url: string | null;
    readonly status: string;
    readonly workspace: string;
    readonly environment: string;
  })[];
  readonly by_event_type: readonly (Count & { readonly event_type: string })[];
  /** Names of the searched workspaces. */
  readonly workspaces: readonly string[];
}

/** Counts the deliveries that the command's filters select. */
function summaryOf(invocation: Invocation): Promise<Summary> {
  const params = { ...whereOf(invocation), ...filtersOf(invocation) };
  return invocation.client.get<Summary>('/dead_letters/summary', params);
}

function printSummary(print: Printer, summary: Summary): void {
  const { by_reason, by_endpoint, by_event_type, workspaces } = summary;
  if (counted(summary) === NONE) return print.hint(noneIn(workspaces));
  print.hint(`${counted(summary)} dead letters`);
  print.list(by_reason, REASONS);
  print.hint('');
  print.list(by_endpoint, ENDPOINTS);
  print.hint('');
  print.list(by_event_type, TYPES);
}

/** The count, with a plus if there are more. */
function counted({ count, is_exact }: Count): string {
  return `${count}${is_exact ? '' : '+'}`;
}
