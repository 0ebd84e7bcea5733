import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Refused } from '../../app/page.tsx';
import { fieldErrors, isOutdated } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { RoleChoice } from '../../session/permissions.tsx';
import type { Role } from '../../session/roles.ts';
import { useApi } from '../../session/session.ts';
import type { ServiceAccount } from '../api-keys/key-queries.ts';

interface Props {
  /** The one to change; none: a new one. */
  readonly account?: ServiceAccount;
  readonly onClose: () => void;
  readonly onMade: (account: ServiceAccount) => void;
}

export function AccountForm({ account, onClose, onMade }: Props) {
  const client = useApi();
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: account?.name ?? '', role: account?.role ?? ('operator' as Role) },
    validate: { name: (name) => (name.trim() === '' ? 'Say which system it is' : null) },
  });
  const save = useWrite<typeof form.values, ServiceAccount>({
    write: (fields) =>
      account === undefined
        ? client.serviceAccounts.create(fields)
        : client.serviceAccounts.patch(account.id, fields, { ifMatch: `"${account.version}"` }),
    done: ({ name }) => `${name} is saved.`,
    touches: [['service-accounts'], ['api-keys']],
    onDone: (saved) => (account === undefined ? onMade(saved) : onClose()),
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        {isOutdated(save.error) ? (
          <Alert color="red" role="alert" title="Not saved">
            Somebody else changed it since you opened this. Close it, and look at what it is now.
          </Alert>
        ) : (
          <Refused error={save.error} fields={['name']} title="Not saved" />
        )}
        <TextInput {...form.getInputProps('name')} label="Name" placeholder="TMS" required data-autofocus />
        <RoleChoice value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {account === undefined ? 'Make the account' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
