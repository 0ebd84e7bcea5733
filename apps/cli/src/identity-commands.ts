import { Argument, type Command, Option } from 'commander';
import {
  type ApiKey,
  type CreatedUser,
  ENVIRONMENTS,
  type CreatedApiKeyWithSecret,
  type PasswordResetLinkResponse,
  USER_ROLES,
  type User,
  type Workspace,
} from '@tracking/contracts';
import { UsageError } from './config.ts';
import type { CommandInvocation, Runner } from './invocation.ts';
import { type Column, describeEmptyList } from './terminal.ts';

const WORKSPACE_COLUMNS: readonly Column<Workspace>[] = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => name],
  ['CREATED', ({ created_at }) => created_at],
];

export function addWorkspaceCommands(workspaces: Command, run: Runner): void {
  workspaces
    .command('create')
    .description('create a workspace and print its ID')
    .requiredOption('--name <name>', 'name of the workspace; unique, ignoring case')
    .action(
      run(async ({ client, print, options }) => {
        print.printResult(
          await client.postJsonWithRetries<Workspace>('/workspaces', { name: options['name'] }),
          ({ id }) => id,
        );
      }),
    );
  workspaces
    .command('list')
    .description('list the workspaces')
    .action(
      run(async ({ client, print }) => {
        print.printList((await client.getJson<{ data: Workspace[] }>('/workspaces')).data, WORKSPACE_COLUMNS);
      }),
    );
}

const PRINTED_USER_COLUMNS: readonly Column<User>[] = [
  ['ID', ({ id }) => id],
  ['E-MAIL', ({ email }) => email],
  ['NAME', ({ name }) => name],
  ['ROLE', ({ role }) => role],
  ['STATUS', ({ status }) => status],
  ['CREATED', ({ created_at }) => created_at],
  ['LAST SEEN', ({ last_seen_at }) => last_seen_at],
];

/** Adds the commands for users. Their requests name users by e-mail in the body, because paths appear in logs. */
export function addUserCommands(users: Command, run: Runner): void {
  users
    .command('create')
    .description('invite a user and print the one-time link, which is shown only once')
    .requiredOption('--email <email>', 'e-mail address with which the user signs in')
    .addOption(
      new Option('--role <role>', 'role of the user, which determines their permissions')
        .choices([...USER_ROLES])
        .makeOptionMandatory(),
    )
    .option(
      '--password-stdin',
      'read a password from standard input instead of sending an invitation, and print the ID',
    )
    .action(
      run(
        async ({ client, print, workspace, options, password }) => {
          const { email, role } = options;
          const credentials = options['passwordStdin'] === true && { password: await password() };
          const created = await client.postJsonWithRetries<CreatedUser>('/users', {
            workspace,
            email,
            role,
            ...credentials,
          });
          print.printResult(created, ({ id, invitation_url }) => invitation_url ?? id);
        },
        async ({ options, password }) => {
          if (options['passwordStdin'] === true) await password();
        },
      ),
    );
  users
    .command('list')
    .description('list the users of the workspace, including deactivated ones')
    .action(run((invocation) => fetchAndPrintList(invocation, '/users', PRINTED_USER_COLUMNS)));
  users
    .command('set-role')
    .argument('<email>', 'e-mail address of the user')
    .addArgument(new Argument('<role>', 'new role of the user').choices([...USER_ROLES]))
    .description('change the role of a user; takes effect on their keys and sessions within 5 s')
    .action(
      run(async ({ client, print, workspace, operands: [email, role] }) => {
        const changed = await client.postJsonWithRetries<User>('/users/set_role', { workspace, email, role });
        print.printResult(changed, (user) => `${user.email} has the role ${user.role}`);
      }),
    );
  users
    .command('deactivate')
    .argument('<email>', 'e-mail address of the user')
    .description('deactivate a user: end their sessions and keys')
    .action(
      run(async ({ client, print, workspace, operand: email }) => {
        const deactivated = await client.postJsonWithRetries<User>('/users/deactivate', { workspace, email });
        print.printResult(deactivated, (user) => `${user.email} is ${user.status}`);
      }),
    );
  users
    .command('reset-password')
    .argument('<email>', 'e-mail address of the user')
    .description('end the sessions of a user and print a one-time link to set a new password, which is shown only once')
    .option('--revoke-keys', 'also revoke all API keys of the user')
    .action(
      run(async ({ client, print, workspace, operand: email, options }) => {
        const keys = options['revokeKeys'] === true && { revoke_api_keys: true };
        const reset = await client.postJsonWithRetries<PasswordResetLinkResponse>('/users/reset_password', {
          workspace,
          email,
          ...keys,
        });
        print.printResult(reset, ({ reset_url }) => reset_url);
      }),
    );
}

const PRINTED_API_KEY_COLUMNS: readonly Column<ApiKey>[] = [
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
    .description('create an API key for a new service account or for a user, and print it; the key is shown only once')
    .requiredOption('--name <name>', 'name that describes the purpose of the key')
    .addOption(
      new Option('--environment <environment>', 'environment of the key')
        .choices([...ENVIRONMENTS])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--role <role>', 'role of the service account').choices([...USER_ROLES]).conflicts('user'))
    .option('--user <email>', 'e-mail address of the user who owns the key and determines its permissions')
    .action(
      run(
        async ({ client, print, workspace, options }) => {
          const { name, environment, role, user } = options;
          const created = await client.postJsonWithRetries<CreatedApiKeyWithSecret>('/keys', {
            workspace,
            name,
            environment,
            role,
            user,
          });
          print.printResult(created, ({ key }) => key);
        },
        ({ options: { role, user } }) => {
          if (role === undefined && user === undefined)
            throw new UsageError('specify a role with --role or a user with --user');
        },
      ),
    );
  keys
    .command('list')
    .description('list the API keys of the workspace, including revoked ones')
    .action(run((invocation) => fetchAndPrintList(invocation, '/keys', PRINTED_API_KEY_COLUMNS)));
  keys
    .command('revoke')
    .argument('<id>', 'ID of the key, key_…')
    .description('revoke an API key permanently')
    .action(
      run(async ({ client, print, workspace, operand }) => {
        const revoked = await client.postJsonWithRetries<ApiKey>(`/keys/${encodeURIComponent(operand)}/revoke`, {
          workspace,
        });
        print.printResult(revoked, ({ id, revoked_at }) => `${id} revoked at ${String(revoked_at)}`);
      }),
    );
}

async function fetchAndPrintList<T>(
  { client, print, workspace }: CommandInvocation,
  path: string,
  columns: readonly Column<T>[],
): Promise<void> {
  const { data } = await client.getJson<{ data: T[] }>(path, { workspace });
  print.printList(data, columns, describeEmptyList([workspace]));
}
