import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type {
  LeaseState,
  ParkedMessage,
  ParkedShipmentRetryOutcome,
  ParkedShipment,
  PartitionCountStatus,
  ReadModelStatus,
} from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import { CliError, RefusedError, UsageError } from './config.ts';
import { parsePositiveInteger, type Runner } from './invocation.ts';
import type { Column } from './terminal.ts';

const STATUS_POLL_INTERVAL_MS = 100;
const PRINTED_READ_MODEL_COLUMNS: readonly Column<ReadModelStatus>[] = [
  ['NAME', ({ name }) => name],
  ['GENERATION', ({ generation }) => generation],
  ['BUILDING', ({ building }) => building && building.generation],
  ['CAUGHT UP', ({ caught_up }) => (caught_up ? 'yes' : 'no')],
  ['PARKED', ({ parked }) => parked],
];
const PARKED_ITEM_TABLE_COLUMNS: readonly Column<ParkedItem>[] = [
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
    .action(
      run(async ({ client, print }) =>
        print.printList(await fetchReadModelStatuses(client), PRINTED_READ_MODEL_COLUMNS),
      ),
    );
  readModels
    .command('rebuild')
    .argument('[name]', 'name of a read model; all by default')
    .description(
      'rebuild read models from the events while queries use the current ones, and wait until queries use the new ones',
    )
    .action(
      run(async ({ client, print, operand, signal }) => {
        const names = operand === '' ? (await fetchReadModelStatuses(client)).map(({ name }) => name) : [operand];
        const generations = new Map<string, number>();
        for (const name of names) {
          const path = `/read_models/${encodeURIComponent(name)}/rebuild`;
          const { generation } = await client
            .postJsonWithRetries<{ generation: number }>(path)
            .catch(rethrowNotFoundAsUsageError);
          generations.set(name, generation);
        }
        print.printList(
          await waitUntilQueriesUseRebuiltReadModels(client, generations, signal),
          PRINTED_READ_MODEL_COLUMNS,
        );
      }),
    );
}

/** Reports an unknown name as a usage error. */
function rethrowNotFoundAsUsageError(error: unknown): never {
  throw error instanceof RefusedError && error.status === 404 ? new UsageError(error.message) : error;
}

async function fetchReadModelStatuses(client: AdministrationClient): Promise<readonly ReadModelStatus[]> {
  return (await client.getJson<{ data: ReadModelStatus[] }>('/read_models')).data;
}

/** Waits until queries use the rebuilt generation of each read model, or a later one. */
async function waitUntilQueriesUseRebuiltReadModels(
  client: AdministrationClient,
  wanted: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<readonly ReadModelStatus[]> {
  for (;;) {
    const now = (await fetchReadModelStatuses(client)).filter(({ name }) => wanted.has(name));
    if (now.every(({ name, generation }) => generation >= (wanted.get(name) ?? 0))) return now;
    await pause(STATUS_POLL_INTERVAL_MS, undefined, { signal });
  }
}

const PRINTED_LEASE_COLUMNS: readonly Column<LeaseState>[] = [
  ['LEASE', ({ name }) => name],
  ['EPOCH', ({ epoch }) => epoch],
  ['HOLDER', ({ holder }) => holder?.name ?? null],
  ['ADDRESS', ({ holder }) => holder?.address ?? null],
];

export function addLeaseCommands(leases: Command, run: Runner): void {
  leases
    .command('list')
    .description('list the shards, partitions and jobs that processes work on, and the process of each')
    .action(
      run(async ({ client, print }) => {
        print.printList((await client.getJson<{ data: LeaseState[] }>('/leases')).data, PRINTED_LEASE_COLUMNS);
      }),
    );
}

const PARTITION_STATUS_TABLE_COLUMNS: readonly Column<PartitionCountStatus>[] = [
  ['SUBSCRIBER', ({ subscriber }) => subscriber],
  ['PARTITIONS', ({ partitions }) => partitions],
  ['REQUESTED', ({ requested }) => requested],
];

export function addPartitionCommands(partitions: Command, run: Runner): void {
  partitions
    .command('list')
    .description('list the numbers of partitions into which the services divide the shipments')
    .action(
      run(async ({ client, print }) =>
        print.printList(await fetchPartitionStatuses(client), PARTITION_STATUS_TABLE_COLUMNS),
      ),
    );
  partitions
    .command('set')
    .argument('<subscriber>', 'name of the subscriber, from partitions list')
    .argument('<number>', 'number of partitions: 1, 2, 4, 8, 16 or 32', parsePositiveInteger)
    .description('change the number of partitions, and wait until the services use it; no event is handled again')
    .action(
      run(async ({ client, print, operands: [subscriber = '', partitions], signal }) => {
        await fetchPartitionStatuses(client);
        const path = `/partitions/${encodeURIComponent(subscriber)}`;
        await client.postJsonWithRetries(path, { partitions: Number(partitions) }).catch(rethrowNotFoundAsUsageError);
        print.printList(
          [await waitForRequestedPartitionCount(client, subscriber, signal)],
          PARTITION_STATUS_TABLE_COLUMNS,
        );
      }),
    );
}

/** @throws UsageError if the client is connected to a standalone process, which has no route for partitions */
async function fetchPartitionStatuses(client: AdministrationClient): Promise<readonly PartitionCountStatus[]> {
  try {
    return (await client.getJson<{ data: PartitionCountStatus[] }>('/partitions')).data;
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    throw new UsageError('a standalone process has one partition; only the services can have several');
  }
}

/** Waits until the services use the number of partitions that was requested last. */
async function waitForRequestedPartitionCount(
  client: AdministrationClient,
  subscriber: string,
  signal: AbortSignal,
): Promise<PartitionCountStatus> {
  for (;;) {
    const status = (await fetchPartitionStatuses(client)).find((each) => each.subscriber === subscriber);
    if (status !== undefined && status.partitions === status.requested) return status;
    await pause(STATUS_POLL_INTERVAL_MS, undefined, { signal });
  }
}

type ParkedItem = ParkedShipment | ParkedMessage;

export function addParkedCliCommands(parked: Command, run: Runner): void {
  parked
    .command('list')
    .description('list shipments and messages of all workspaces that could not be processed')
    .action(
      run(async ({ client, print }) => {
        print.printList((await client.getJson<{ data: ParkedItem[] }>('/parked')).data, PARKED_ITEM_TABLE_COLUMNS);
      }),
    );
  parked
    .command('retry')
    .argument('<id>', 'ID of the parked item, from parked list')
    .description('process a parked item again')
    .action(
      run(async ({ client, print, operand }) => {
        const retried = await client.postJsonWithRetries<ParkedShipmentRetryOutcome>(
          `/parked/${encodeURIComponent(operand)}/retry`,
        );
        print.printResult(retried, ({ id, outcome }) => `${id} ${outcome}`);
        if (retried.outcome === 'parked')
          throw new CliError(`${operand} could not be processed; for the reason, use parked list`);
      }),
    );
}
