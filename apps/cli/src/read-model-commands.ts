import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ParkedMessage, ParkedRetry, ParkedShipment, ReadModelStatus } from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import { CliError, RefusedError, UsageError } from './config.ts';
import type { Runner } from './invocation.ts';
import type { Column } from './terminal.ts';

const STATUS_POLL_INTERVAL_MS = 100;
const READ_MODEL_COLUMNS: readonly Column<ReadModelStatus>[] = [
  ['NAME', ({ name }) => name],
  ['GENERATION', ({ generation }) => generation],
  ['BUILDING', ({ building }) => building && building.generation],
  ['CAUGHT UP', ({ caught_up }) => (caught_up ? 'yes' : 'no')],
  ['PARKED', ({ parked }) => parked],
];
const PARKED_COLUMNS: readonly Column<ParkedItem>[] = [
  ['ID', ({ id }) => id],
  ['PARKED BY', (parked) => ('read_model' in parked ? parked.read_model : 'webhooks')],
  ['REVISION', (parked) => ('revision' in parked ? parked.revision : null)],
  ['EVENT', (parked) => ('event_type' in parked ? parked.event_type : null)],
  ['SINCE', ({ parked_at }) => parked_at],
  ['ATTEMPTS', (parked) => ('attempts' in parked ? parked.attempts : null)],
  ['ERROR', ({ error }) => error],
];

export function addReadModelCommands(readModels: Command, run: Runner): void {
  readModels
    .command('list')
    .description('list the read models of all workspaces, and their progress')
    .action(run(async ({ client, print }) => print.list(await fetchStatuses(client), READ_MODEL_COLUMNS)));
  readModels
    .command('rebuild')
    .argument('[name]', 'name of a read model; all by default')
    .description(
      'rebuild read models from the events while queries use the current ones, and wait until queries use the new ones',
    )
    .action(
      run(async ({ client, print, operand, signal }) => {
        const names = operand === '' ? (await fetchStatuses(client)).map(({ name }) => name) : [operand];
        const generations = new Map<string, number>();
        for (const name of names) {
          const path = `/read_models/${encodeURIComponent(name)}/rebuild`;
          const { generation } = await client.post<{ generation: number }>(path).catch(throwUsageError);
          generations.set(name, generation);
        }
        print.list(await waitForGenerations(client, generations, signal), READ_MODEL_COLUMNS);
      }),
    );
}

/** Reports an unknown read model as a usage error. */
function throwUsageError(error: unknown): never {
  throw error instanceof RefusedError && error.status === 404 ? new UsageError(error.message) : error;
}

async function fetchStatuses(client: AdministrationClient): Promise<readonly ReadModelStatus[]> {
  return (await client.get<{ data: ReadModelStatus[] }>('/read_models')).data;
}

/** Waits until queries use the rebuilt generation of each read model, or a later one. */
async function waitForGenerations(
  client: AdministrationClient,
  wanted: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<readonly ReadModelStatus[]> {
  for (;;) {
    const now = (await fetchStatuses(client)).filter(({ name }) => wanted.has(name));
    if (now.every(({ name, generation }) => generation >= (wanted.get(name) ?? 0))) return now;
    await pause(STATUS_POLL_INTERVAL_MS, undefined, { signal });
  }
}

type ParkedItem = ParkedShipment | ParkedMessage;

export function addParkedCommands(parked: Command, run: Runner): void {
  parked
    .command('list')
    .description('list shipments and messages of all workspaces that could not be processed')
    .action(
      run(async ({ client, print }) => {
        print.list((await client.get<{ data: ParkedItem[] }>('/parked')).data, PARKED_COLUMNS);
      }),
    );
  parked
    .command('retry')
    .argument('<id>', 'ID of the parked item, from parked list')
    .description('process a parked item again')
    .action(
      run(async ({ client, print, operand }) => {
        const retried = await client.post<ParkedRetry>(`/parked/${encodeURIComponent(operand)}/retry`);
        print.printResult(retried, ({ id, outcome }) => `${id} ${outcome}`);
        if (retried.outcome === 'parked')
          throw new CliError(`${operand} could not be processed; for the reason, use parked list`);
      }),
    );
}
