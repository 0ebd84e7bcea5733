import { Alert, Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { NotFoundError } from '@tracking/client';
import type { ReactNode } from 'react';
import { getFieldErrors } from '../app/failures.ts';
import { NarrowPageLayout, FormErrorAlert, QueryResultPanel } from '../app/page.tsx';
import { getApiClient } from './api.ts';
import { ROLE_LABELS } from './roles.ts';
import { notifyOtherTabs } from './session.ts';
import { PASSWORD_FIELD_HINT, validatePassword } from './sign-in.ts';

const LINK_PURPOSE_TITLES = {
  invitation: 'Accept the invitation',
  first_admin: 'Set up the first administrator',
  password_reset: 'Choose a new password',
} as const;

/**
 * The page that a one-time link opens. The token follows the `#` in the URL, so it reaches neither servers nor logs.
 */
export function InvitationPage() {
  useDocumentTitle('Invitation · Shipment tracking');
  const { hash: token } = useLocation();
  const link = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => getApiClient('live').invitations.get(token, { signal }),
    enabled: token !== '',
    staleTime: Infinity,
  });
  if (token === '')
    return (
      <InvalidLinkMessage title="This link is incomplete">
        Copy the whole link, including the part after the #.
      </InvalidLinkMessage>
    );
  if (link.error instanceof NotFoundError) {
    return (
      <InvalidLinkMessage title="This link has expired or was already used">
        An invitation link works once and for seven days. A newer link replaces all older links. Ask an administrator
        for a new link.
      </InvalidLinkMessage>
    );
  }
  return (
    <NarrowPageLayout>
      <QueryResultPanel query={link} what="the invitation">
        {(data) => <AcceptLinkForm token={token} link={data} />}
      </QueryResultPanel>
    </NarrowPageLayout>
  );
}

function InvalidLinkMessage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <NarrowPageLayout>
      <Stack>
        <Title order={1} size="h3">
          {title}
        </Title>
        <Alert color="red" role="alert">
          {children}
        </Alert>
        <Link to="/sign-in">Sign in</Link>
      </Stack>
    </NarrowPageLayout>
  );
}

type OneTimeLink = Awaited<ReturnType<ReturnType<typeof getApiClient>['invitations']['get']>>;

function AcceptLinkForm({ token, link }: { readonly token: string; readonly link: OneTimeLink }) {
  const [queries, navigate] = [useQueryClient(), useNavigate()];
  const asksEmail = link.purpose === 'first_admin';
  const asksName = link.purpose !== 'password_reset';
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: link.email ?? '', name: '', password: '' },
    validate: { password: validatePassword },
  });
  const accept = useMutation({
    mutationFn: async ({ email, name, password }: typeof form.values) => {
      const person = { password, ...(asksName && { name }), ...(asksEmail && { email }) };
      await getApiClient('live').invitations.use(token, person);
      const workspace = link.workspace.id;
      // The link is already used here, so a failed sign-in is not an error of this form. The sign-in page reports it.
      return getApiClient('live')
        .session.signIn({ email: asksEmail ? email : (link.email ?? ''), password, workspace }, { retries: 0 })
        .then(() => true)
        .catch(() => false);
    },
    onSuccess: async (isSignedIn) => {
      notifyOtherTabs();
      queries.clear();
      await navigate({ to: isSignedIn ? '/shipments' : '/sign-in', search: {} });
    },
    onError: (error) => form.setErrors(getFieldErrors(error) ?? {}),
  });
  return (
    <form onSubmit={form.onSubmit((values) => accept.mutate(values))}>
      <Stack>
        <Title order={1} size="h3">
          {LINK_PURPOSE_TITLES[link.purpose]}
        </Title>
        <Text c="dimmed">
          {link.workspace.name} · {ROLE_LABELS[link.role]}
        </Text>
        <FormErrorAlert
          error={accept.error}
          fields={['email', 'password', ...(asksName ? ['name'] : [])]}
          title="Not saved"
        />
        <TextInput
          {...form.getInputProps('email')}
          key={form.key('email')}
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          readOnly={!asksEmail}
        />
        {asksName && (
          <TextInput
            {...form.getInputProps('name')}
            key={form.key('name')}
            label="Your name"
            autoComplete="name"
            required
          />
        )}
        <PasswordInput
          {...form.getInputProps('password')}
          key={form.key('password')}
          label="Password"
          description={PASSWORD_FIELD_HINT}
          autoComplete="new-password"
          required
        />
        <Button type="submit" loading={accept.isPending}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}
