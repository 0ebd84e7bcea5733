import type { Workspace } from '@tracking/contracts';
import type { Command } from 'commander';
import type { Runner } from './invocation.ts';
import type { Column } from './output.ts';

const COLUMNS: readonly Column<Workspace>[] = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => name],
  ['CREATED', ({ created_at }) => created_at],
];

export function addWorkspaceCommands(workspaces: Command, run: Runner): void {
  workspaces
    .command('create')
    .description('make a workspace, and print its id')
    .requiredOption('--name <name>', 'unique, whatever its case')
    .action(
      run(async ({ client, print, options }) => {
        print.one(await client.post<Workspace>('/workspaces', { name: options['name'] }), ({ id }) => id);
      }),
    );
  workspaces
    .command('list')
    .description('list the workspaces')
    .action(
      run(async ({ client, print }) => {
        print.list((await client.get<{ data: Workspace[] }>('/workspaces')).data, COLUMNS);
      }),
    );
}
