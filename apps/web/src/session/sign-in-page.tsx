import { Alert, Anchor, Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure, useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { describeFailure } from '../app/failures.ts';
import { NarrowPageLayout } from '../app/page.tsx';
import { getApiClient } from './api.ts';
import { notifyOtherTabs } from './session.ts';
import { isPathWithinApplication, useRateLimitCountdown } from './sign-in.ts';

export function SignInPage() {
  useDocumentTitle('Sign in · Shipment tracking');
  const { next, ended } = useSearch({ from: '/sign-in' });
  const [queries, navigate, router] = [useQueryClient(), useNavigate(), useRouter()];
  const [asksWorkspace, { open: askWorkspace }] = useDisclosure(false);
  const { left: wait, waitAfter } = useRateLimitCountdown();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '', workspace: '' } });
  const signIn = useMutation({
    mutationFn: ({ workspace, ...credentials }: typeof form.values) =>
      // Automatic retries are disabled, so that the form can show the time to wait after a rate limit.
      getApiClient('live').session.signIn({ ...credentials, ...(workspace !== '' && { workspace }) }, { retries: 0 }),
    onSuccess: async () => {
      notifyOtherTabs();
      queries.clear();
      if (isPathWithinApplication(next)) router.history.push(next);
      else await navigate({ to: '/shipments', search: {} });
    },
    onError: (error) => {
      form.setFieldValue('password', '');
      waitAfter(error);
    },
  });
  return (
    <NarrowPageLayout>
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack>
          <Title order={1} size="h3">
            Sign in
          </Title>
          {ended === true && !signIn.isError && (
            <Alert role="status" title="Your session has ended">
              Sign in to continue where you left off.
            </Alert>
          )}
          {signIn.isError && (
            <Alert color="red" role="alert" title="Sign-in failed">
              {describeFailure(signIn.error).message}
            </Alert>
          )}
          <TextInput
            {...form.getInputProps('email')}
            key={form.key('email')}
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus
          />
          <PasswordInput
            {...form.getInputProps('password')}
            key={form.key('password')}
            label="Password"
            autoComplete="current-password"
            required
          />
          {asksWorkspace ? (
            <TextInput
              {...form.getInputProps('workspace')}
              key={form.key('workspace')}
              label="Workspace"
              description="Name of the workspace. Leave empty for your oldest workspace."
              autoComplete="organization"
              autoFocus
            />
          ) : (
            <Anchor component="button" type="button" size="sm" ta="start" onClick={askWorkspace}>
              I belong to several workspaces
            </Anchor>
          )}
          <Button type="submit" loading={signIn.isPending} disabled={wait > 0}>
            {wait > 0 ? `Try again in ${wait} s` : 'Sign in'}
          </Button>
          <Text size="sm" c="dimmed">
            New here, or forgot your password? Ask an administrator of your workspace for a link. At its first start,
            the server prints a link for the first administrator.
          </Text>
        </Stack>
      </form>
    </NarrowPageLayout>
  );
}
