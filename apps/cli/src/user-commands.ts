import { ROLES } from '@tracking/contracts';
import type { CreatedUser, PasswordReset, User } from '@tracking/contracts';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Runner } from './invocation.ts';
import { noneIn } from './output.ts';
import type { Column } from './output.ts';

const COLUMNS: readonly Column<User>[] = [
  ['ID', ({ id }) => id],
  ['E-MAIL', ({ email }) => email],
  ['NAME', ({ name }) => name],
  ['ROLE', ({ role }) => role],
  ['STATUS', ({ status }) => status],
  ['CREATED', ({ created_at }) => created_at],
  ['LAST SEEN', ({ last_seen_at }) => last_seen_at],
];

/** Users are named by their e-mail: in bodies, since a path shows up where bodies do not. */
export function addUserCommands(users: Command, run: Runner): void {
  users
    .command('create')
    .description('invite a user, and print the one-time link: it is never shown again')
    .requiredOption('--email <email>', 'by which they sign in')
    .addOption(new Option('--role <role>', 'what they may do').choices([...ROLES]).makeOptionMandatory())
    .option('--password-stdin', 'take a password from standard input instead of inviting, and print the id')
    .action(
      run(
        async ({ client, print, workspace, options, password }) => {
          const { email, role } = options;
          const given = options['passwordStdin'] === true && { password: await password() };
          const created = await client.post<CreatedUser>('/users', { workspace, email, role, ...given });
          print.one(created, ({ id, invitation_url }) => invitation_url ?? id);
        },
        async ({ options, password }) => {
          if (options['passwordStdin'] === true) await password();
        },
      ),
    );
  users
    .command('list')
    .description('list the users of the workspace, deactivated ones too')
    .action(
      run(async ({ client, print, workspace }) => {
        const { data } = await client.get<{ data: User[] }>('/users', { workspace });
        print.list(data, COLUMNS, noneIn([workspace]));
      }),
    );
  users
    .command('set-role')
    .argument('<email>', 'e-mail of the user')
    .addArgument(new Argument('<role>', 'what they may do from now on').choices([...ROLES]))
    .description('give a user another role; their keys and sessions have it within 5 s')
    .action(
      run(async ({ client, print, workspace, operands: [email, role] }) => {
        const changed = await client.post<User>('/users/set_role', { workspace, email, role });
        print.one(changed, (user) => `${user.email} has the role ${user.role}`);
      }),
    );
  users
    .command('deactivate')
    .argument('<email>', 'e-mail of the user')
    .description('end the sessions and keys of a user')
    .action(
      run(async ({ client, print, workspace, operand: email }) => {
        const ended = await client.post<User>('/users/deactivate', { workspace, email });
        print.one(ended, (user) => `${user.email} is ${user.status}`);
      }),
    );
  users
    .command('reset-password')
    .argument('<email>', 'e-mail of the user')
    .description('print a one-time link where a user sets a new password: it is never shown again')
    .action(
      run(async ({ client, print, workspace, operand: email }) => {
        const made = await client.post<PasswordReset>('/users/reset_password', { workspace, email });
        print.one(made, ({ reset_url }) => reset_url);
      }),
    );
}
