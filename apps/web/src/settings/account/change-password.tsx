import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { RateLimitError } from '@tracking/client';
import { Refused } from '../../app/page.tsx';
import { fieldErrors } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { PASSWORD_ABOUT, passwordFault, useWait } from '../../session/sign-in.ts';
import { useApi, useSession } from '../../session/session.ts';

export function ChangePassword() {
  const [client, { user }] = [useApi(), useSession()];
  const { left: wait, waitAfter } = useWait();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { current_password: '', new_password: '' },
    validate: { new_password: passwordFault },
  });
  const change = useWrite({
    // Where it is refused for a while, the person is told at once.
    write: (passwords: typeof form.values) => client.session.changePassword(passwords, { retries: 0 }),
    done: 'Your password is changed. You are signed out everywhere else.',
    touches: [['sessions']],
    onDone: () => form.reset(),
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      waitAfter(error);
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Stack maw={420}>
        <Text size="sm" c="dimmed">
          Another password ends every other session of yours. Keys stay valid.
        </Text>
        {(wait > 0 || !(change.error instanceof RateLimitError)) && (
          <Refused error={change.error} fields={['current_password', 'new_password']} title="Not changed" />
        )}
        {/* For password managers, which then know whose it is. */}
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
          description={PASSWORD_ABOUT}
          autoComplete="new-password"
          required
        />
        <Button type="submit" variant="default" w="fit-content" loading={change.isPending} disabled={wait > 0}>
          {wait > 0 ? `Wait ${wait} s` : 'Change the password'}
        </Button>
      </Stack>
    </form>
  );
}
