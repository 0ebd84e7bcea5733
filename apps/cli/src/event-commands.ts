import type { Command } from 'commander';
import { printEvents } from './event-list.ts';
import { exported, imported } from './event-transfer.ts';
import { addEnvironment, addEventFilters, addLimit } from './filters.ts';
import type { Runner } from './invocation.ts';

export function addEventCommands(events: Command, run: Runner): void {
  addLimit(addEventFilters(addEnvironment(events.command('list'))), 'the oldest first')
    .description('list the events that are announced to webhook endpoints')
    .action(run(printEvents));
  events
    .command('export')
    .argument('<file>', 'is made; must not be there; - for standard output')
    .description('write the events of all shipments to a file, with the workspaces that they name')
    .action(
      run(async (invocation) => {
        const count = await exported(invocation);
        // Standard output holds the events, and their count at the end.
        if (invocation.operand === '-') invocation.note(`${count} events`);
        else invocation.print.one({ events: count }, () => `${count} events`);
      }),
    );
  events
    .command('import')
    .argument('<file>', 'as export made it; - for standard input')
    .description('store the events of a file that are not there yet; may be repeated')
    .action(
      run(async (invocation) => {
        const count = await imported(invocation);
        invocation.print.one({ events: count }, () => `${count} events`);
      }),
    );
}
