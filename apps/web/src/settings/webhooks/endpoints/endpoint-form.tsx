import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Input,
  NativeSelect,
  PasswordInput,
  ScrollArea,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { IconPlus, IconSearch, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { getFieldErrors, getTopLevelField } from '../../../app/failures.ts';
import {
  type EventType,
  getEventTypeDescription,
  groupEventTypes,
  getEventLabel,
} from '../../../values/event-types.ts';
import {
  API_VERSIONS,
  type EndpointFormValues,
  type HeaderFormValue,
  MAX_ENDPOINT_CONCURRENCY,
  PAYLOAD_FORM_LABELS,
  type Subscription,
  addOrRemoveEventTypes,
  toggleFutureStandardEventTypes,
  validateEndpointForm,
  isSubscribedTo,
} from './endpoint-fields.ts';

type EndpointForm = UseFormReturnType<EndpointFormValues>;

export function useEndpointForm(initialValues: EndpointFormValues): EndpointForm {
  return useForm<EndpointFormValues>({ mode: 'controlled', initialValues, validate: validateEndpointForm });
}

/**
 * Shows errors of the API at the form fields. Parameters such as `event_types[0]` or `headers.X-Site` belong to the
 * fields `event_types` and `headers`.
 */
export function showFieldErrors(form: EndpointForm, error: unknown): void {
  const errors = Object.entries(getFieldErrors(error) ?? {});
  form.setErrors(Object.fromEntries(errors.map(([param, message]) => [getTopLevelField(param), message])));
}

interface EndpointFormFieldsProps {
  readonly form: EndpointForm;
  /** Names of stored headers that the service removes when the form is saved. */
  readonly dropped?: readonly string[];
}

export function EndpointFormFields({ form, dropped = [] }: EndpointFormFieldsProps) {
  return (
    <Stack>
      <TextInput
        {...form.getInputProps('url')}
        label="URL"
        description="HTTPS URL that accepts POST requests"
        placeholder="https://tms.example.com/webhooks"
        type="url"
        inputMode="url"
        required
        data-autofocus
      />
      <TextInput {...form.getInputProps('description')} label="Description" placeholder="Our TMS" maxLength={1_000} />
      <EventTypePicker
        value={form.values.event_types}
        onChange={(types) => form.setFieldValue('event_types', types)}
        error={form.errors['event_types']}
      />
      <CustomHeadersFieldset
        value={form.values.headers}
        onChange={(headers) => form.setFieldValue('headers', headers)}
        dropped={dropped}
        error={form.errors['headers']}
      />
      <NativeSelect
        {...form.getInputProps('api_version')}
        label="Payload version"
        description="Format of the event payloads. Choose the newest version unless your system needs an older one."
        data={[...API_VERSIONS]}
      />
      <NativeSelect
        {...form.getInputProps('payload')}
        label="Payload form"
        description="Choose Thin if your system refuses large requests. It can read the resource over the API."
        data={Object.entries(PAYLOAD_FORM_LABELS).map(([value, label]) => ({ value, label }))}
      />
      <TextInput
        label="Max concurrency"
        type="number"
        min={1}
        max={MAX_ENDPOINT_CONCURRENCY}
        value={form.values.max_concurrency ?? ''}
        onChange={({ currentTarget: { value } }) =>
          form.setFieldValue('max_concurrency', value === '' ? null : Number(value))
        }
        error={form.errors['max_concurrency']}
      />
    </Stack>
  );
}

interface EventTypePickerProps {
  readonly value: Subscription;
  readonly onChange: (value: Subscription) => void;
  readonly error?: React.ReactNode;
}

/** Form field for the selection of event types, with groups and a search. */
function EventTypePicker({ value, onChange, error }: EventTypePickerProps) {
  const [search, setSearch] = useState('');
  const groups = groupEventTypes(search);
  const all = value.includes('*');
  return (
    <Fieldset legend="Events">
      <Stack gap="sm">
        <Switch
          label="All standard types"
          description="This choice includes event types that later releases add."
          checked={all}
          onChange={(event) => onChange(toggleFutureStandardEventTypes(value, event.currentTarget.checked))}
        />
        <TextInput
          aria-label="Search event types"
          placeholder="Search"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Event types' }}>
          <Stack gap="md" p={2}>
            {groups.map(({ group, types }) => (
              <EventTypeGroupField key={group} group={group} types={types} value={value} onChange={onChange} />
            ))}
            {groups.length === 0 && (
              <Text size="sm" c="dimmed">
                No matching event types.
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
        {error !== undefined && error !== null && <Input.Error role="alert">{error}</Input.Error>}
      </Stack>
    </Fieldset>
  );
}

interface EventTypeGroupProps {
  readonly group: string;
  readonly types: readonly EventType[];
  readonly value: Subscription;
  readonly onChange: (value: Subscription) => void;
}

function EventTypeGroupField({ group, types, value, onChange }: EventTypeGroupProps) {
  const chosen = types.filter((type) => isSubscribedTo(value, type));
  return (
    <Stack gap={6}>
      <Checkbox
        label={<Text fw={600}>{group}</Text>}
        checked={chosen.length === types.length}
        indeterminate={chosen.length > 0 && chosen.length < types.length}
        onChange={(event) => onChange(addOrRemoveEventTypes(value, types, event.currentTarget.checked))}
      />
      {types.map((type) => (
        <Group key={type} pl="lg">
          <Checkbox
            label={getEventLabel(type)}
            description={`${type} — ${getEventTypeDescription(type)}`}
            checked={isSubscribedTo(value, type)}
            onChange={(event) => onChange(addOrRemoveEventTypes(value, [type], event.currentTarget.checked))}
          />
        </Group>
      ))}
    </Stack>
  );
}

const MAX_ENDPOINT_HEADERS = 20;

function getHeaderValueInputPlaceholder({ name, hasStoredValue }: HeaderFormValue, dropped: readonly string[]): string {
  if (!hasStoredValue) return '';
  return dropped.includes(name) ? 'Enter the value again' : 'Value is unchanged';
}

interface HeaderFieldsProps {
  readonly value: readonly HeaderFormValue[];
  readonly onChange: (value: HeaderFormValue[]) => void;
  readonly dropped: readonly string[];
  readonly error?: React.ReactNode;
}

/** Form fields for the custom headers of the endpoint. The service never returns header values. */
function CustomHeadersFieldset({ value, onChange, dropped, error }: HeaderFieldsProps) {
  const nextKey = Math.max(-1, ...value.map(({ key }) => key)) + 1;
  const change = (key: number, change: Partial<HeaderFormValue>) =>
    onChange(value.map((row) => (row.key === key ? { ...row, ...change } : row)));
  return (
    <Fieldset legend="Headers">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          Headers are sent with every delivery. Their values are encrypted and never shown again.
        </Text>
        {dropped.length > 0 && (
          <Alert color="yellow" role="status">
            {`The URL has another scheme, host or port. Saving removes these headers unless you enter their values again: ${dropped.join(', ')}.`}
          </Alert>
        )}
        {value.map((row, index) => (
          <Group key={row.key} gap="xs" align="end" wrap="nowrap">
            <TextInput
              label={index === 0 ? 'Name' : undefined}
              aria-label={`Name of header ${index + 1}`}
              placeholder="Authorization"
              value={row.name}
              readOnly={row.hasStoredValue}
              onChange={(event) => change(row.key, { name: event.currentTarget.value })}
              flex={1}
              miw={0}
            />
            <PasswordInput
              label={index === 0 ? 'Value' : undefined}
              aria-label={`Value of header ${index + 1}`}
              placeholder={getHeaderValueInputPlaceholder(row, dropped)}
              autoComplete="off"
              value={row.value}
              onChange={(event) => change(row.key, { value: event.currentTarget.value })}
              flex={1}
              miw={0}
            />
            <ActionIcon
              size={36}
              variant="subtle"
              color="red"
              aria-label={`Remove header ${row.name || index + 1}`}
              onClick={() => onChange(value.filter(({ key }) => key !== row.key))}
            >
              <IconTrash size={18} />
            </ActionIcon>
          </Group>
        ))}
        {error !== undefined && error !== null && <Input.Error role="alert">{error}</Input.Error>}
        {value.length < MAX_ENDPOINT_HEADERS && (
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => onChange([...value, { key: nextKey, name: '', value: '', hasStoredValue: false }])}
            >
              Add header
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}
