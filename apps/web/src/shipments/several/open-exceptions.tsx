import { Select, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Shipment } from '@tracking/client';
import { DoSeveral } from '../../app/do-several.tsx';
import {
  EXCEPTION_LABELS,
  type ExceptionType,
  type Severity,
  SEVERITY_LABELS,
} from '../../exceptions/exception-labels.ts';
import { useApi } from '../../session/session.ts';
import { SearchSelect } from '../../values/search-select.tsx';
import { nameOf } from '../../values/codes.ts';
import { Names, type SeveralProps } from './cancel-several.tsx';

const optionsOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));
const TYPES = optionsOf(EXCEPTION_LABELS);
const SEVERITIES = optionsOf(SEVERITY_LABELS);

interface Values {
  readonly type: ExceptionType;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly assignee: string;
}

/** The same exception for each of several shipments. */
export function OpenExceptions({ shipments, ...props }: SeveralProps) {
  const client = useApi();
  const form = useForm<Values>({
    initialValues: { type: 'other', severity: 'medium', title: '', detail: '', assignee: '' },
  });
  const open = ({ id }: Shipment) => {
    const { type, severity, title, detail, assignee } = form.values;
    const told = { title: title.trim() || null, detail: detail.trim() || null, assignee: assignee.trim() || null };
    return client.exceptions.open(id, { type, severity, ...told });
  };
  const label = shipments.length === 1 ? 'Open the exception' : `Open ${shipments.length} exceptions`;
  return (
    <DoSeveral
      title="Open an exception"
      items={shipments}
      nameOf={nameOf}
      action={{ label }}
      cancel="Leave it"
      write={open}
      done="opened"
      {...props}
    >
      <Names shipments={shipments} />
      <SearchSelect
        {...form.getInputProps('type')}
        value={form.values.type}
        label="Type"
        data={TYPES}
        allowDeselect={false}
      />
      <Select label="Severity" data={SEVERITIES} allowDeselect={false} {...form.getInputProps('severity')} />
      <TextInput label="Title" description="Its type, unless told" maxLength={1000} {...form.getInputProps('title')} />
      <Textarea label="What exactly is wrong" maxLength={1000} autosize {...form.getInputProps('detail')} />
      <TextInput label="Assigned to" maxLength={1000} {...form.getInputProps('assignee')} />
      <Text size="xs" c="dimmed">
        A shipment that has one of this type already keeps it as it is.
      </Text>
    </DoSeveral>
  );
}
