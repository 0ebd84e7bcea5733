import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERY_ERROR_CODES } from '@tracking/contracts';
import { type AdministrationClient, isNoServiceListening } from './administration-client.ts';
import { CliError } from './config.ts';
import { addScopeOptions, printItemsUpToLimit, toScopeQueryParameters } from './delivery-commands.ts';
import {
  addEventFilterOptions,
  addLimitOption,
  type CommandInvocation,
  toQueryParameters,
  type Runner,
} from './invocation.ts';
import type { Column } from './terminal.ts';

const REPLAYABLE_STATUSES = ['dead_lettered', 'discarded', 'succeeded', 'missed'] as const;
const REPLAY_POLL_INTERVAL_MS = 1_000;
export const REPLAY_COLUMNS: readonly Column<ListedReplay>[] = [
  ['ID', ({ id }) => id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['ACTION', ({ action }) => action],
  ['STATUS', ({ status }) => status],
  ['MATCHED', ({ matched }) => matched],
  ['DONE', ({ done }) => done],
  ['FAILED', ({ failed }) => failed],
];

export function addReplayCommands(replays: Command, run: Runner): void {
  addLimitOption(addScopeOptions(replays.command('list')), 'newest first')
    .description('list jobs that send or discard deliveries, with their progress, newest first')
    .option('--endpoint <id>', 'only replays of this endpoint, whe_…')
    .action(
      run((invocation) => {
        const params = {
          ...toScopeQueryParameters(invocation),
          ...toQueryParameters({ endpoint_id: invocation.options['endpoint'] }),
        };
        return printItemsUpToLimit(invocation, '/replays', params, REPLAY_COLUMNS);
      }),
    );
  addScopeOptions(replays.command('show'))
    .argument('<id>', 'ID of the replay, rpl_…')
    .description('show the progress of a replay')
    .option('--wait', 'wait until the job is complete, and report progress')
    .action(
      run(async (invocation) => {
        const { client, operand } = invocation;
        await awaitAndPrintReplay(
          invocation,
          await client.getJson(`/replays/${encodeURIComponent(operand)}`, toScopeQueryParameters(invocation)),
        );
      }),
    );
  addEventFilterOptions(addScopeOptions(replays.command('create')))
    .argument('<endpoint>', 'ID of the endpoint, whe_…')
    .description('send failed or missed events to an endpoint again, oldest first')
    .addOption(
      new Option('--status <statuses>', `statuses among ${REPLAYABLE_STATUSES.join(', ')}, separated by commas`)
        .default([REPLAYABLE_STATUSES[0], REPLAYABLE_STATUSES[3]], 'dead_lettered,missed')
        .argParser(parseReplayableStatuses),
    )
    .addOption(
      new Option('--reason <code>', 'only events that failed for this reason').choices([...DELIVERY_ERROR_CODES]),
    )
    .option('--wait', 'wait until the job is complete, and report progress')
    .action(run(createReplay));
  for (const [how, does] of [
    ['cancel', 'stop starting deliveries of a replay; deliveries that it started continue'],
    ['resume', 'continue a canceled replay'],
  ] as const) {
    addScopeOptions(replays.command(how))
      .argument('<id>', 'ID of the replay, rpl_…')
      .description(does)
      .action(
        run(async (invocation) => {
          const { client, operand } = invocation;
          const path = `/replays/${encodeURIComponent(operand)}/${how}`;
          await awaitAndPrintReplay(
            invocation,
            await client.postJsonWithRetries<ListedReplay>(path, toScopeQueryParameters(invocation)),
          );
        }),
      );
  }
}

async function createReplay(invocation: CommandInvocation): Promise<void> {
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
  await awaitAndPrintReplay(
    invocation,
    await client.postJsonWithRetries<ListedReplay>(path, { ...toScopeQueryParameters(invocation), ...filter }),
  );
}

async function awaitAndPrintReplay(invocation: CommandInvocation, replay: ListedReplay): Promise<void> {
  const { print, options } = invocation;
  const isWaiting = options['wait'] === true;
  if (isWaiting && replay.status === 'running') requireRunningService(invocation);
  const [now = replay] = isWaiting ? await waitUntilReplaysEnded(invocation, [replay]) : [];
  if (options['json'] === true) print.printResult(now, () => '');
  else print.printList([now], REPLAY_COLUMNS);
  if (isWaiting) throwIfAnyReplayCanceled([now]);
}

function parseReplayableStatuses(text: string): readonly string[] {
  const named = text.split(',');
  if (named.every((status) => REPLAYABLE_STATUSES.some((known) => known === status))) return named;
  throw new InvalidArgumentError(`Allowed: ${REPLAYABLE_STATUSES.join(', ')}.`);
}

/** Fields of a listed replay that the commands use. */
export interface ListedReplay {
  readonly id: string;
  readonly workspace: string;
  readonly environment: string;
  readonly endpoint_id: string;
  readonly action: 'replay' | 'discard';
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

/**
 * Waits until the replays have ended, and reports their progress. If the user stops waiting, the replays continue.
 * @returns the final state of the replays
 */
export async function waitUntilReplaysEnded(
  { client, note, signal }: Pick<CommandInvocation, 'client' | 'note' | 'signal'>,
  replays: readonly ListedReplay[],
): Promise<readonly ListedReplay[]> {
  let now = replays;
  let reported = '';
  for (;;) {
    // The service may restart during the wait, and continues the replays after the restart.
    now = await refreshRunningReplays(client, now).catch((error: unknown) => {
      if (!isNoServiceListening(error)) throw error;
      return now;
    });
    const progress = describeReplayProgress(now);
    if (progress !== reported) note(progress);
    reported = progress;
    if (now.every(({ status }) => status !== 'running')) return now;
    await pause(REPLAY_POLL_INTERVAL_MS, undefined, { signal });
  }
}

function refreshRunningReplays(
  client: AdministrationClient,
  replays: readonly ListedReplay[],
): Promise<readonly ListedReplay[]> {
  return Promise.all(
    replays.map(async (replay) => {
      const { id, workspace, environment, status } = replay;
      return status === 'running' ? client.getJson<ListedReplay>(`/replays/${id}`, { workspace, environment }) : replay;
    }),
  );
}

/** Rejects `--wait` if no running service would complete the job. @throws CliError */
export function requireRunningService({ isServing }: Pick<CommandInvocation, 'isServing'>): void {
  const message = 'no running service would complete the job: start the service, or omit --wait';
  if (!isServing) throw new CliError(message, 'unavailable');
}

/** Checks that all replays completed. @throws CliError if one was canceled */
export function throwIfAnyReplayCanceled(replays: readonly ListedReplay[]): void {
  const canceled = replays.filter(({ status }) => status !== 'completed').length;
  if (canceled > 0)
    throw new CliError(`${canceled} of ${replays.length} replays were canceled; to continue, use replays resume`);
}

function describeReplayProgress(replays: readonly ListedReplay[]): string {
  const sum = (of: (replay: ListedReplay) => number) => replays.reduce((total, replay) => total + of(replay), 0);
  const running = replays.filter(({ status }) => status === 'running').length;
  const counts = `${sum(({ done }) => done)} of ${sum(({ matched }) => matched)} matching so far are done`;
  return `${counts}, ${sum(({ failed }) => failed)} failed; ${running} of ${replays.length} running`;
}
