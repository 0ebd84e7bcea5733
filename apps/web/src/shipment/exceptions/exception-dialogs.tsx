import { Alert, Autocomplete, Button, Group, Modal, Select, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ShipmentException } from '@tracking/client';
import { formatFormFailure, getFieldErrors } from '../../app/failures.ts';
import { useApiWrite } from '../../app/write.ts';
import {
  EXCEPTION_LABELS,
  type ExceptionType,
  MANUAL_RESOLUTIONS,
  RESOLUTION_LABELS,
  SEVERITY_LABELS,
  type Severity,
} from '../../exceptions/exception-labels.ts';
import { useApi, useSession } from '../../session/session.ts';
import { SearchableSelectField } from '../../values/search-select.tsx';
import { localizeTimesInText } from '../../values/time.tsx';
import { useQueryKeysOfShipmentPage } from '../concurrent-changes/guarded-write.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import type { ExceptionAction } from './exception-queries.ts';

const EXCEPTION_ACTION_LABELS: Readonly<Record<ExceptionAction['kind'], string>> = {
  acknowledge: 'Acknowledge',
  assign: 'Assign',
  remark: 'Add note',
  resolve: 'Resolve',
};

interface ExceptionActionDialogProps {
  readonly exception: ShipmentException;
  readonly kind: ExceptionAction['kind'];
  /** Assignees of other exceptions of the shipment. The assignee field suggests these names. */
  readonly known: readonly string[];
  readonly isPending: boolean;
  readonly onDeal: (dealing: ExceptionAction) => void;
  readonly onClose: () => void;
}

export function ExceptionActionDialog(props: ExceptionActionDialogProps) {
  return (
    <Modal opened onClose={props.onClose} title={`${EXCEPTION_ACTION_LABELS[props.kind]}: ${props.exception.title}`}>
      <ExceptionActionForm {...props} />
    </Modal>
  );
}

function ExceptionActionForm({ exception, kind, known, isPending, onDeal, onClose }: ExceptionActionDialogProps) {
  const me = useSession().user?.email ?? '';
  const form = useForm({
    initialValues: {
      assignee: exception.assignee ?? (kind === 'acknowledge' ? me : ''),
      code: 'fixed' as (typeof MANUAL_RESOLUTIONS)[number],
      note: '',
    },
    validate: { note: (note) => (kind === 'remark' && note.trim() === '' ? 'Enter a note' : null) },
  });
  const others = [...new Set(known)].filter((one) => one !== me);
  const submit = ({ assignee, code, note }: typeof form.values) => {
    const noteField = note.trim() === '' ? {} : { note: note.trim() };
    if (kind === 'remark') onDeal({ kind, note: note.trim() });
    else if (kind === 'resolve') onDeal({ kind, code, ...noteField });
    else onDeal({ kind, assignee: assignee.trim() === '' ? null : assignee.trim(), ...noteField });
  };
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        {exception.detail !== null && <Text size="sm">{localizeTimesInText(exception.detail)}</Text>}
        {(kind === 'acknowledge' || kind === 'assign') && (
          <Autocomplete
            {...form.getInputProps('assignee')}
            label="Assignee"
            description="Email address or name of the assignee. Leave the field empty to assign nobody."
            data={[
              { group: 'You', items: [me] },
              { group: 'Other assignees', items: others },
            ]}
            clearable
            data-autofocus
          />
        )}
        {kind === 'resolve' && (
          <Select
            {...form.getInputProps('code')}
            label="Resolution"
            data={MANUAL_RESOLUTIONS.map((value) => ({ value, label: RESOLUTION_LABELS[value] }))}
            allowDeselect={false}
            data-autofocus
          />
        )}
        <Textarea
          {...form.getInputProps('note')}
          label="Note"
          description="The note is added to the shipment history."
          autosize
          minRows={2}
          required={kind === 'remark'}
          data-autofocus={kind === 'remark' || undefined}
        />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {EXCEPTION_ACTION_LABELS[kind]}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const EXCEPTION_TYPE_OPTIONS = Object.entries(EXCEPTION_LABELS).map(([value, label]) => ({ value, label }));
const SEVERITY_OPTIONS = Object.entries(SEVERITY_LABELS).map(([value, label]) => ({ value, label }));
const WHOLE_SHIPMENT_OPTION = '';

interface OpenExceptionDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewExceptionDialog({ opened, onClose }: OpenExceptionDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Open exception">
      <OpenExceptionForm onClose={onClose} />
    </Modal>
  );
}

function OpenExceptionForm({ onClose }: Pick<OpenExceptionDialogProps, 'onClose'>) {
  const [client, { id, container_numbers }, touches] = [useApi(), useShipmentOfPage(), useQueryKeysOfShipmentPage()];
  const me = useSession().user?.email ?? '';
  const form = useForm({
    initialValues: {
      type: null as ExceptionType | null,
      severity: 'medium' as Severity,
      container_number: WHOLE_SHIPMENT_OPTION,
      title: '',
      detail: '',
      assignee: '',
    },
    validate: { type: (type) => (type === null ? 'Choose a type' : null) },
  });
  const open = useApiWrite({
    write: ({ type, severity, ...words }: typeof form.values) => {
      const texts = Object.fromEntries(Object.entries(words).filter(([, word]) => word.trim() !== ''));
      return client.exceptions.open(id, { type: type ?? 'other', severity, ...texts }).withResponse();
    },
    invalidates: touches,
    done: ({ status }) =>
      status === 201 ? 'Exception opened.' : 'An exception of this type is already open. Nothing was changed.',
    onDone: onClose,
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => open.mutate(values))}>
      <Stack>
        {open.isError && (
          <Alert color="red" role="alert" title="Exception not opened">
            {formatFormFailure(open.error, Object.keys(form.values))}
          </Alert>
        )}
        <SearchableSelectField
          {...form.getInputProps('type')}
          value={form.values.type}
          label="Type"
          data={EXCEPTION_TYPE_OPTIONS}
          required
          data-autofocus
        />
        <Select {...form.getInputProps('severity')} label="Severity" data={SEVERITY_OPTIONS} allowDeselect={false} />
        {container_numbers.length > 0 && (
          <SearchableSelectField
            {...form.getInputProps('container_number')}
            value={form.values.container_number}
            label="Applies to"
            data={[
              { value: WHOLE_SHIPMENT_OPTION, label: 'Whole shipment' },
              ...container_numbers.map((number) => ({ value: number, label: number })),
            ]}
            allowDeselect={false}
          />
        )}
        <TextInput
          {...form.getInputProps('title')}
          label="Title"
          description="The default is the name of the exception type."
        />
        <Textarea {...form.getInputProps('detail')} label="Description" autosize minRows={2} />
        <Autocomplete {...form.getInputProps('assignee')} label="Assignee" data={[me]} clearable />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={open.isPending}>
            Open exception
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
