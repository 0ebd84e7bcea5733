import type { Command } from 'commander';
import { CliError, UsageError } from './cli-error.ts';
import { deliveryOf, printDelivery } from './delivery-commands.ts';
import { addWhere, filtersOf, findDeliveries, printDeliveries, whereOf } from './delivery-list.ts';
import { addDeliveryFilters, addLimit } from './filters.ts';
import type { Invocation, Runner } from './invocation.ts';
import { noneIn } from './output.ts';

const DEAD = { status: 'dead_lettered' };
/** Most that the service takes in one request. */
const AT_ONCE = 200;

export function addDeadLetterCommands(deadLetters: Command, run: Runner): void {
  addLimit(addDeliveryFilters(addWhere(deadLetters.command('list'))), 'the newest first')
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
        if (delivery.status !== DEAD.status) {
          throw new CliError(`${delivery.id} is no dead letter: ${delivery.status}`, 'not_found');
        }
        printDelivery(invocation, delivery);
      }),
    );
  addDeliveryFilters(addWhere(deadLetters.command('replay')))
    .argument('[ids...]', 'ids of deliveries, dlv_…; all that match without any')
    .description('deliver dead letters again, the oldest first, each with a new schedule')
    .action(run((invocation) => settle(invocation, 'replay', 'replayed'), refuseBoth));
  addDeliveryFilters(addWhere(deadLetters.command('discard')))
    .argument('[ids...]', 'ids of deliveries, dlv_…')
    .description('give dead letters up')
    .option('--all', 'all of them, where neither ids nor filters are given')
    .action(
      run(
        (invocation) => settle(invocation, 'discard', 'discarded'),
        (invocation) => {
          refuseBoth(invocation);
          const isAimed =
            invocation.operands.length > 0 || hasFilters(invocation) || invocation.options['all'] === true;
          if (!isAimed) throw new UsageError('name the dead letters, a filter, or --all');
        },
      ),
    );
}

type Given = Pick<Invocation, 'operands' | 'options'>;
const hasFilters = (invocation: Given) => Object.keys(filtersOf(invocation)).length > 0;

function refuseBoth(invocation: Given): void {
  if (invocation.operands.length === 0 || !hasFilters(invocation)) return;
  throw new UsageError('name either dead letters or filters');
}

/** In parts, so that no request takes long however many they are. Interrupted and repeated, it finds those left. */
async function settle(invocation: Invocation, how: 'replay' | 'discard', done: string): Promise<void> {
  const { client, print, operands } = invocation;
  const { ids, workspaces } = operands.length > 0 ? named(invocation) : await matching(invocation);
  const total = { matched: 0, done: 0 };
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const part = { ...whereOf(invocation), ids: ids.slice(start, start + AT_ONCE) };
    const answer = await client.post<typeof total>(`/dead_letters/${how}`, part);
    total.matched += answer.matched;
    total.done += answer.done;
  }
  if (ids.length === 0) print.one({ ...total, workspaces }, () => noneIn(workspaces));
  else print.one(total, (answer) => `${answer.done} of ${ids.length} dead letters ${done}`);
  const others = operands.length - total.matched;
  if (others > 0) throw new CliError(`${others} of the deliveries named are no dead letters`, 'not_found');
}

interface Chosen {
  readonly ids: readonly string[];
  readonly workspaces: readonly string[];
}

function named({ operands }: Invocation): Chosen {
  return { ids: [...new Set(operands)], workspaces: [] };
}

/** Oldest first. */
async function matching(invocation: Invocation): Promise<Chosen> {
  const params = { ...whereOf(invocation), ...filtersOf(invocation), ...DEAD };
  const { data, workspaces } = await findDeliveries(invocation.client, params, Infinity);
  return { ids: data.map(({ id }) => id).reverse(), workspaces };
}
