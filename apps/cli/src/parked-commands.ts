import type { ParkedMessage, ParkedRetry, ParkedShipment } from '@tracking/contracts';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { Runner } from './invocation.ts';
import type { Column } from './output.ts';

type ParkedItem = ParkedShipment | ParkedMessage;

const COLUMNS: readonly Column<ParkedItem>[] = [
  ['ID', ({ id }) => id],
  ['BY', (parked) => ('read_model' in parked ? parked.read_model : 'webhooks')],
  ['REVISION', (parked) => ('revision' in parked ? parked.revision : null)],
  ['EVENT', (parked) => ('event_type' in parked ? parked.event_type : null)],
  ['SINCE', ({ parked_at }) => parked_at],
  ['ATTEMPTS', (parked) => ('attempts' in parked ? parked.attempts : null)],
  ['ERROR', ({ error }) => error],
];

export function addParkedCommands(parked: Command, run: Runner): void {
  parked
    .command('list')
    .description(
      'list, over all workspaces, shipments that wait because an event could not be applied, and messages that are none',
    )
    .action(
      run(async ({ client, print }) => {
        print.list((await client.get<{ data: ParkedItem[] }>('/parked')).data, COLUMNS);
      }),
    );
  parked
    .command('retry')
    .argument('<id>', 'as listed')
    .description('try again what was parked')
    .action(
      run(async ({ client, print, operand }) => {
        const retried = await client.post<ParkedRetry>(`/parked/${encodeURIComponent(operand)}/retry`);
        print.one(retried, ({ id, outcome }) => `${id} ${outcome}`);
        if (retried.outcome === 'parked') throw new CliError(`${operand} could not be applied: see parked list`);
      }),
    );
}
