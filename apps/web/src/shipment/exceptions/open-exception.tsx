import { Alert, Autocomplete, Button, Group, Modal, Select, Stack, TextInput, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { failureOf, fieldErrors } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import {
  EXCEPTION_LABELS,
  type ExceptionType,
  SEVERITY_LABELS,
  type Severity,
} from '../../exceptions/exception-labels.ts';
import { useApi, useSession } from '../../session/session.ts';
import { SearchSelect } from '../../values/search-select.tsx';
import { useShipment } from '../shipment-queries.ts';
import { useShipmentTouches } from '../meanwhile/guarded-write.ts';

const TYPES = Object.entries(EXCEPTION_LABELS).map(([value, label]) => ({ value, label }));
const SEVERITIES = Object.entries(SEVERITY_LABELS).map(([value, label]) => ({ value, label }));
const WHOLE = '';

interface Props {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function OpenException({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Open an exception">
      <Fields onClose={onClose} />
    </Modal>
  );
}

function Fields({ onClose }: Pick<Props, 'onClose'>) {
  const [client, { id, container_numbers }, touches] = [useApi(), useShipment(), useShipmentTouches()];
  const me = useSession().user?.email ?? '';
  const form = useForm({
    initialValues: {
      type: null as ExceptionType | null,
      severity: 'medium' as Severity,
      container_number: WHOLE,
      title: '',
      detail: '',
      assignee: '',
    },
    validate: { type: (type) => (type === null ? 'Choose what is wrong' : null) },
  });
  const open = useWrite({
    write: ({ type, severity, ...words }: typeof form.values) => {
      const texts = Object.fromEntries(Object.entries(words).filter(([, word]) => word.trim() !== ''));
      return client.exceptions.open(id, { type: type ?? 'other', severity, ...texts }).withResponse();
    },
    touches,
    done: ({ status }) =>
      status === 201 ? 'The exception is open.' : 'One of this type is open already; nothing was changed.',
    onDone: onClose,
    shows: (error) => {
      form.setErrors(fieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => open.mutate(values))}>
      <Stack>
        {open.isError && (
          <Alert color="red" role="alert" title="Not opened">
            {failureOf(open.error).message}
          </Alert>
        )}
        <SearchSelect
          {...form.getInputProps('type')}
          value={form.values.type}
          label="What is wrong"
          data={TYPES}
          required
          data-autofocus
        />
        <Select {...form.getInputProps('severity')} label="Severity" data={SEVERITIES} allowDeselect={false} />
        {container_numbers.length > 0 && (
          <SearchSelect
            {...form.getInputProps('container_number')}
            value={form.values.container_number}
            label="Of"
            data={[
              { value: WHOLE, label: 'The whole shipment' },
              ...container_numbers.map((number) => ({ value: number, label: number })),
            ]}
            allowDeselect={false}
          />
        )}
        <TextInput {...form.getInputProps('title')} label="Title" description="By what is wrong, unless you name it" />
        <Textarea {...form.getInputProps('detail')} label="What exactly" autosize minRows={2} />
        <Autocomplete {...form.getInputProps('assignee')} label="Assignee" data={[me]} clearable />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={open.isPending}>
            Open it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
