import { ENVIRONMENTS, ROLES } from '@tracking/contracts';
import type { ApiKey, NewApiKey } from '@tracking/contracts';
import { Option } from 'commander';
import type { Command } from 'commander';
import { UsageError } from './cli-error.ts';
import type { Runner } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column } from './output.ts';

const COLUMNS: readonly Column<ApiKey>[] = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => name],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['ROLE', ({ role }) => role],
  ['KEY', ({ prefix, last_four }) => `${prefix}…${last_four}`],
  ['OWNER', ({ owner }) => owner.id],
  ['CREATED BY', ({ created_by }) => created_by.id],
  ['CREATED', ({ created_at }) => created_at],
  ['EXPIRES', ({ expires_at }) => expires_at],
  ['LAST USED', ({ last_used_at }) => last_used_at],
  ['REVOKED', ({ revoked_at }) => revoked_at],
];

export function addKeyCommands(keys: Command, run: Runner): void {
  keys
    .command('create')
    .description('make an API key of a new service account or of a user, and print it: it is never shown again')
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(
      new Option('--environment <environment>', 'what the key sees').choices([...ENVIRONMENTS]).makeOptionMandatory(),
    )
    .addOption(new Option('--role <role>', 'role of the service account').choices([...ROLES]).conflicts('user'))
    .option('--user <email>', 'whose key it is: it may do what they may do')
    .action(
      run(
        async ({ client, print, workspace, options }) => {
          const { name, environment, role, user } = options;
          const created = await client.post<NewApiKey>('/keys', { workspace, name, environment, role, user });
          print.one(created, ({ key }) => key);
        },
        ({ options: { role, user } }) => {
          if (role === undefined && user === undefined)
            throw new UsageError('name a role with --role or a user with --user');
        },
      ),
    );
  keys
    .command('list')
    .description('list the API keys of the workspace, revoked ones too')
    .action(
      run(async ({ client, print, workspace }) => {
        const { data } = await client.get<{ data: ApiKey[] }>('/keys', { workspace });
        print.list(data, COLUMNS, noneIn([workspace]));
      }),
    );
  keys
    .command('revoke')
    .argument('<id>', 'id of the key, key_…')
    .description('make an API key invalid for good')
    .action(
      run(async ({ client, print, workspace, operand }) => {
        const revoked = await client.post<ApiKey>(`/keys/${encodeURIComponent(operand)}/revoke`, { workspace });
        print.one(revoked, ({ id, revoked_at }) => `${id} revoked at ${String(revoked_at)}`);
      }),
    );
}
