import { Alert, Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { failureOf, fieldErrors } from '../../app/failures.ts';
import { ShownOnce } from '../../app/shown-once.tsx';
import { useWrite } from '../../app/write.ts';
import type { Environment } from '../../session/api.ts';
import { useApi, useEnvironment, useMay } from '../../session/session.ts';
import { ROLE_LABELS } from '../../session/roles.ts';
import { type ServiceAccount, serviceAccountsQuery } from './key-queries.ts';
import { mayHaveKeys } from './key-state.ts';

/** Stands for oneself among the accounts. */
const OWN = '';

interface Props {
  readonly onClose: () => void;
  /** Whose key it is to be, where that is settled already. */
  readonly account?: ServiceAccount;
}

export function CreateKey({ onClose, account }: Props) {
  const [client, environment] = [useApi(), useEnvironment()];
  const mayOfAccounts = useMay('keys:manage');
  const mayOfAdmins = useMay('workspace:admin');
  const accounts = useQuery({ ...serviceAccountsQuery(environment), enabled: mayOfAccounts && account === undefined });
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: '', environment, owner: account?.id ?? OWN },
    validate: { name: (name) => (name.trim() === '' ? 'Say what it is for' : null) },
  });
  const create = useWrite({
    write: ({ owner, ...key }: typeof form.values) =>
      client.keys.create({ ...key, ...(owner !== OWN && { service_account_id: owner }) }),
    touches: [['api-keys']],
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      return true;
    },
  });
  if (create.isSuccess) {
    return (
      <Stack>
        <ShownOnce label="Key" secret={create.data.key} />
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        {create.isError && (
          <Alert color="red" role="alert" title="No key was made">
            {failureOf(create.error).message}
          </Alert>
        )}
        <TextInput {...form.getInputProps('name')} label="Name" placeholder="Nightly import" required data-autofocus />
        <Stack gap={4}>
          <Text size="sm" fw={500} id="key-environment">
            Environment
          </Text>
          <SegmentedControl
            aria-labelledby="key-environment"
            value={form.values.environment}
            onChange={(value) => form.setFieldValue('environment', value as Environment)}
            data={[
              { value: 'test', label: 'Test' },
              { value: 'live', label: 'Live' },
            ]}
          />
        </Stack>
        {mayOfAccounts && account === undefined && (
          <Select
            {...form.getInputProps('owner')}
            label="Acts as"
            description="A system’s key belongs to a service account: it goes on when a person leaves."
            allowDeselect={false}
            data={[
              { value: OWN, label: 'Myself' },
              ...(accounts.data ?? [])
                .filter((each) => mayHaveKeys(each, mayOfAdmins))
                .map(({ id, name, role }) => ({ value: id, label: `${name} (${ROLE_LABELS[role]})` })),
            ]}
          />
        )}
        <Group justify="end">
          <Button variant="default" onClick={onClose} disabled={create.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
