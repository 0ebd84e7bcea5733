import {
  Badge,
  Button,
  Group,
  PasswordInput,
  SegmentedControl,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
  VisuallyHidden,
  useMantineColorScheme,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { NotFoundError, RateLimitError } from '@tracking/client';
import type { ReactNode } from 'react';
import { getFieldErrors } from '../../app/failures.ts';
import { confirmAction } from '../../app/overlays.tsx';
import { PageHeader, FormErrorAlert, QueryResultPanel } from '../../app/page.tsx';
import { COLOR_SCHEMES } from '../../app/shell.tsx';
import { writeItemsConcurrently, useApiWrite } from '../../app/write.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from '../../session/roles.ts';
import { useApi, useEnvironment, useSession } from '../../session/session.ts';
import { PASSWORD_FIELD_HINT, validatePassword, useRateLimitCountdown } from '../../session/sign-in.ts';
import { UserLocalTimeText } from '../../values/time.tsx';

export function AccountPage() {
  const { user, workspace, role } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Stack gap="xl">
      <PageHeader title="My account" about={user?.email} />
      <AccountSection title="Profile">
        <ChangeNameForm />
        <Text size="sm">{`${ROLE_LABELS[role]} in ${workspace.name}. ${ROLE_DESCRIPTIONS[role]}`}</Text>
      </AccountSection>
      <AccountSection title="Theme">
        <SegmentedControl
          aria-label="Theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as typeof colorScheme)}
          data={COLOR_SCHEMES.map((each) => ({ ...each }))}
          w="fit-content"
        />
      </AccountSection>
      <AccountSection title="Password">
        <ChangePasswordForm />
      </AccountSection>
      <AccountSection title="Sessions">
        <SessionList />
      </AccountSection>
    </Stack>
  );
}

function AccountSection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function ChangeNameForm() {
  const [client, { user }] = [useApi(), useSession()];
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: user?.name ?? '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter your name' : null) },
  });
  const change = useApiWrite({
    write: (values: typeof form.values) => client.session.patch(values),
    done: 'Name saved.',
    invalidates: [['session'], ['users']],
    onDone: (_, values) => form.resetDirty(values),
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <FormErrorAlert error={change.error} fields={['name']} title="Not saved" />
      <Group align="end" gap="xs">
        <TextInput {...form.getInputProps('name')} label="Name" autoComplete="name" maxLength={100} w={280} />
        <Button type="submit" variant="default" disabled={!form.isDirty()} loading={change.isPending}>
          Save
        </Button>
      </Group>
    </form>
  );
}

function ChangePasswordForm() {
  const [client, { user }] = [useApi(), useSession()];
  const { left: wait, waitAfter } = useRateLimitCountdown();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { current_password: '', new_password: '' },
    validate: { new_password: validatePassword },
  });
  const change = useApiWrite({
    // Automatic retries are disabled, so that the form shows a rate limit immediately.
    write: (passwords: typeof form.values) => client.session.changePassword(passwords, { retries: 0 }),
    done: 'Password changed. All your other sessions were signed out.',
    invalidates: [['sessions']],
    onDone: () => form.reset(),
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      waitAfter(error);
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Stack maw={420}>
        <Text size="sm" c="dimmed">
          Changing your password signs out all your other sessions. Your API keys stay valid.
        </Text>
        {(wait > 0 || !(change.error instanceof RateLimitError)) && (
          <FormErrorAlert error={change.error} fields={['current_password', 'new_password']} title="Not saved" />
        )}
        {/* Password managers read the account from this field. */}
        <input type="email" autoComplete="username" value={user?.email ?? ''} readOnly hidden />
        <PasswordInput
          {...form.getInputProps('current_password')}
          key={form.key('current_password')}
          label="Current password"
          autoComplete="current-password"
          required
        />
        <PasswordInput
          {...form.getInputProps('new_password')}
          key={form.key('new_password')}
          label="New password"
          description={PASSWORD_FIELD_HINT}
          autoComplete="new-password"
          required
        />
        <Button type="submit" variant="default" w="fit-content" loading={change.isPending} disabled={wait > 0}>
          {wait > 0 ? `Try again in ${wait} s` : 'Change password'}
        </Button>
      </Stack>
    </form>
  );
}

/** List of the browser sessions of the user. */
function SessionList() {
  const [client, sessions] = [useApi(), useQuery(sessionsQuery(useEnvironment()))];
  const end = useApiWrite({
    write: async (ended: readonly OwnSession[]) => {
      const endOne = async ({ id }: OwnSession) => {
        try {
          await client.session.end(id);
        } catch (error) {
          // If the session has already ended, ending it counts as successful.
          if (!(error instanceof NotFoundError)) throw error;
        }
      };
      const neverAborted = new AbortController().signal;
      const { failed } = await writeItemsConcurrently(ended, {
        write: endOne,
        onProgress: () => undefined,
        signal: neverAborted,
      });
      if (failed[0] !== undefined) throw failed[0].error;
    },
    done: 'Signed out on other devices.',
    invalidates: [['sessions']],
  });
  const endOthers = (others: readonly OwnSession[]) =>
    confirmAction({
      title: 'Sign out of all other sessions?',
      children: <Text size="sm">{`${others.length} other sessions will end within five seconds.`}</Text>,
      labels: { confirm: 'Sign out', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => end.mutate(others),
    });
  return (
    <QueryResultPanel query={sessions} what="your sessions">
      {(all) => {
        const others = all.filter(({ current }) => !current);
        return (
          <Stack align="start" gap="sm">
            <Table.ScrollContainer minWidth={560} w="100%" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
              <Table verticalSpacing="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Device</Table.Th>
                    <Table.Th>IP address</Table.Th>
                    <Table.Th>Last active</Table.Th>
                    <Table.Th>Sign-in time</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.map((session) => (
                    <Table.Tr key={session.id}>
                      <Table.Td>
                        {session.device}{' '}
                        {session.current && (
                          <Badge color="green" variant="light" tt="none" miw="max-content">
                            This session
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>{session.address}</Table.Td>
                      <Table.Td>
                        <UserLocalTimeText value={session.last_seen_at} />
                      </Table.Td>
                      <Table.Td>
                        <UserLocalTimeText value={session.created_at} day />
                      </Table.Td>
                      <Table.Td ta="end" className="rowActions">
                        {!session.current && (
                          <Button
                            size="compact-sm"
                            variant="default"
                            onClick={() => end.mutate([session])}
                            aria-label={`Sign out ${session.device}, ${session.address}`}
                          >
                            Sign out
                          </Button>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            {others.length > 1 && (
              <Button variant="default" onClick={() => endOthers(others)}>
                Sign out of all other sessions…
              </Button>
            )}
          </Stack>
        );
      }}
    </QueryResultPanel>
  );
}

/** Query of the user's sessions. A session is valid in both environments. */
const sessionsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['sessions', environment],
    queryFn: ({ signal }) => getApiClient(environment).session.list({ limit: 200 }, { signal }).toArray(),
  });

type OwnSession = Awaited<
  ReturnType<ReturnType<ReturnType<typeof getApiClient>['session']['list']>['toArray']>
>[number];
