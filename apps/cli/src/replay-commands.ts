import { DELIVERY_ERROR_CODES } from '@tracking/contracts';
import type { Page } from '@tracking/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addWhere, whereOf } from './delivery-list.ts';
import { addEventFilters, addLimit, queryOf } from './filters.ts';
import type { Invocation, Runner } from './invocation.ts';
import { noneIn } from './output.ts';
import { REPLAY_COLUMNS, type ReplaySummary, ended, requireCompleted, requireServing } from './replay-progress.ts';

const STATUSES = ['dead_lettered', 'discarded', 'succeeded', 'missed'] as const;

interface ReplayPage extends Page<ReplaySummary> {
  /** Names of those looked at. */
  readonly workspaces: readonly string[];
}

export function addReplayCommands(replays: Command, run: Runner): void {
  addLimit(addWhere(replays.command('list')), 'the newest first')
    .description('list what is sent again, or given up, and how far that is; the newest first')
    .option('--endpoint <id>', 'only those of this endpoint, whe_…')
    .action(run(list));
  addWhere(replays.command('show'))
    .argument('<id>', 'id of the replay, rpl_…')
    .description('show how far a replay is')
    .option('--wait', 'wait until it has ended, and tell how far it is')
    .action(
      run(async (invocation) => {
        const { client, operand } = invocation;
        await show(invocation, await client.get(`/replays/${encodeURIComponent(operand)}`, whereOf(invocation)));
      }),
    );
  addEventFilters(addWhere(replays.command('create')))
    .argument('<endpoint>', 'id of the endpoint, whe_…')
    .description('send an endpoint again what failed or was missed, the oldest first')
    .addOption(
      new Option('--status <statuses>', `some of ${STATUSES.join(', ')}, separated by commas`)
        .default([STATUSES[0], STATUSES[3]], 'dead_lettered,missed')
        .argParser(statuses),
    )
    .addOption(new Option('--reason <code>', 'only what failed for this reason').choices([...DELIVERY_ERROR_CODES]))
    .option('--wait', 'wait until it has ended, and tell how far it is')
    .action(run(create));
  for (const [how, does] of [
    ['cancel', 'begin no more of a replay; what was begun goes on by its schedule'],
    ['resume', 'go on with a replay where it was canceled'],
  ] as const) {
    addWhere(replays.command(how))
      .argument('<id>', 'id of the replay, rpl_…')
      .description(does)
      .action(
        run(async (invocation) => {
          const { client, operand } = invocation;
          const path = `/replays/${encodeURIComponent(operand)}/${how}`;
          await show(invocation, await client.post<ReplaySummary>(path, whereOf(invocation)));
        }),
      );
  }
}

async function list(invocation: Invocation): Promise<void> {
  const { client, print, options } = invocation;
  const params = { ...whereOf(invocation), ...queryOf({ endpoint_id: options['endpoint'] }) };
  const { data, workspaces, next_cursor } = await client.list<ReplayPage>('/replays', params, Number(options['limit']));
  if (data.length === 0 || options['json'] === true) print.one({ data, workspaces }, () => noneIn(workspaces));
  else print.list(data, REPLAY_COLUMNS);
  if (next_cursor !== null) print.hint('there are more, see --limit');
}

async function create(invocation: Invocation): Promise<void> {
  const { client, operand, options } = invocation;
  const { since, until, eventType, reason, status } = options;
  const filter = {
    since,
    until,
    event_types: eventType === undefined ? undefined : [eventType],
    statuses: status,
    reasons: reason === undefined ? undefined : [reason],
  };
  const path = `/webhook_endpoints/${encodeURIComponent(operand)}/replay`;
  await show(invocation, await client.post<ReplaySummary>(path, { ...whereOf(invocation), ...filter }));
}

async function show(invocation: Invocation, replay: ReplaySummary): Promise<void> {
  const { print, options } = invocation;
  const isWaiting = options['wait'] === true;
  if (isWaiting && replay.status === 'running') requireServing(invocation);
  const [now = replay] = isWaiting ? await ended(invocation, [replay]) : [];
  if (options['json'] === true) print.one(now, () => '');
  else print.list([now], REPLAY_COLUMNS);
  if (isWaiting) requireCompleted([now]);
}

function statuses(text: string): readonly string[] {
  const named = text.split(',');
  if (named.every((status) => STATUSES.some((known) => known === status))) return named;
  throw new InvalidArgumentError(`Allowed are ${STATUSES.join(', ')}.`);
}
