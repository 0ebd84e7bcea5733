import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Refused } from '../../app/page.tsx';
import { fieldErrors } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { useApi, useSession } from '../../session/session.ts';

export function ChangeName() {
  const [client, { user }] = [useApi(), useSession()];
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: user?.name ?? '' },
    validate: { name: (name) => (name.trim() === '' ? 'Say what you are called' : null) },
  });
  const change = useWrite({
    write: (values: typeof form.values) => client.session.patch(values),
    done: 'Your name is changed.',
    touches: [['session'], ['users']],
    onDone: (_, values) => form.resetDirty(values),
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Refused error={change.error} fields={['name']} title="Not changed" />
      <Group align="end" gap="xs">
        <TextInput {...form.getInputProps('name')} label="Name" autoComplete="name" maxLength={100} w={280} />
        <Button type="submit" variant="default" disabled={!form.isDirty()} loading={change.isPending}>
          Save
        </Button>
      </Group>
    </form>
  );
}
