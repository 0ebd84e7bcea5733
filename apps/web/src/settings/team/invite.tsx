import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Refused } from '../../app/page.tsx';
import { fieldErrors } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { RoleChoice } from '../../session/permissions.tsx';
import type { Role } from '../../session/roles.ts';
import { useApi } from '../../session/session.ts';
import { LinkShown } from './link-shown.tsx';

export function Invite({ onClose }: { readonly onClose: () => void }) {
  const client = useApi();
  const form = useForm({
    mode: 'controlled',
    initialValues: { email: '', role: 'operator' as Role },
    validate: { email: (email) => (email.includes('@') ? null : 'An e-mail, as jo@example.com') },
  });
  const invite = useWrite({
    write: (user: typeof form.values) => client.users.invite(user),
    touches: [['users']],
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      return true;
    },
  });
  if (invite.isSuccess) {
    const { email, invitation_url: url, invitation_expires_at: until } = invite.data;
    return <LinkShown email={email} url={url} until={until} onClose={onClose} />;
  }
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <Refused error={invite.error} fields={['email']} title="Not invited" />
        <TextInput {...form.getInputProps('email')} label="E-mail" type="email" required data-autofocus />
        <RoleChoice value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
        <Group justify="end">
          <Button variant="default" onClick={onClose} disabled={invite.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Make the link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
