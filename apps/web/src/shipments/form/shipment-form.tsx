import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Paper,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  LOAD_TYPE_OPTIONS,
  calculateCheckDigit,
  suggestContainerNumberWithCorrectCheckDigit,
} from '../../values/codes.ts';
import { PLAIN_SHIPMENT_FIELD_NAMES, type PlainFieldName, getPlainFieldDefinition } from '../plain-fields.ts';
import { validateShipment, parseContainerNumbers } from './check-values.ts';
import type { ShipmentForm, ShipmentFormValues } from './form-values.ts';
import { RouteFormFields, LegFormFields } from './journey-fields.tsx';
import classes from './shipment-form.module.css';

/**
 * Creates the state of the shipment form. The form is validated when it is submitted, and from then on after each
 * change.
 */
export function useShipmentForm(initialValues: ShipmentFormValues): ShipmentForm {
  return useForm({ mode: 'controlled', initialValues, validate: validateShipment });
}

interface ShipmentFormFieldsProps {
  readonly form: ShipmentForm;
  /** Label of the submit button, such as "Create shipment". */
  readonly submit: string;
  /** True if the form edits an existing shipment. The reference of an existing shipment cannot be changed. */
  readonly isExisting?: boolean;
  readonly isPending: boolean;
  /** Error message shown above the submit button, for an error that belongs to no field. */
  readonly failure: ReactNode;
  readonly onSubmit: (values: ShipmentFormValues) => void;
  /** Page that the Cancel button opens. */
  readonly cancel: { readonly to: '/shipments' } | { readonly to: '/shipments/$id'; readonly params: { id: string } };
}

export function ShipmentFormFields({
  form,
  submit,
  isExisting = false,
  isPending,
  failure,
  onSubmit,
  cancel,
}: ShipmentFormFieldsProps) {
  return (
    <form
      onSubmit={form.onSubmit(onSubmit, (_errors, _values, event) => focusFirstError(event?.currentTarget))}
      className={classes['form']}
    >
      <Stack>
        <FormSection title="References">
          <div className={classes['fields']}>
            <TextInput
              {...form.getInputProps('external_id')}
              label="Your reference"
              description={isExisting ? 'The reference cannot be changed' : 'Unique reference, such as PO-1001'}
              readOnly={isExisting}
              variant={isExisting ? 'filled' : 'default'}
              data-autofocus={isExisting ? undefined : true}
            />
            {PLAIN_SHIPMENT_FIELD_NAMES.map((name) => (
              <PlainFieldInput key={name} form={form} name={name} />
            ))}
          </div>
        </FormSection>
        <FormSection title="Journey">
          <div className={classes['fields']}>
            <RouteFormFields form={form} />
            <Select
              {...form.getInputProps('load_type')}
              label="Load type"
              placeholder="Select a value"
              data={LOAD_TYPE_OPTIONS}
              clearable
              clearButtonProps={{ 'aria-label': 'Clear load type' }}
            />
          </div>
        </FormSection>
        <FormSection title="Containers">
          <ContainerNumbersField form={form} />
        </FormSection>
        <FormSection title="Parties">
          <div className={classes['fields']}>
            <TextInput {...form.getInputProps('shipper.name')} label="Shipper" />
            <TextInput {...form.getInputProps('shipper.external_id')} label="Your number for the shipper" />
            <TextInput {...form.getInputProps('consignee.name')} label="Consignee" />
            <TextInput {...form.getInputProps('consignee.external_id')} label="Your number for the consignee" />
          </div>
        </FormSection>
        <FormSection title="Legs">
          <LegFormFields form={form} />
        </FormSection>
        <FormSection title="Additional references">
          <NameValueFieldRows
            form={form}
            field="references"
            first="Type"
            firstExample="purchase_order"
            one="reference"
          />
        </FormSection>
        <FormSection title="Custom fields" about="Names and values of your choice, which are stored unchanged">
          <NameValueFieldRows form={form} field="metadata" first="Name" firstExample="cost_centre" one="custom field" />
        </FormSection>
        <div className={classes['foot']}>
          <Stack gap="xs">
            {failure}
            {Object.keys(form.errors).length > 0 && (
              <Alert color="red" role="alert" title="Some fields have errors">
                <Group gap="xs">
                  Correct the marked fields.
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={(event) => focusFirstError(event.currentTarget.form)}
                  >
                    Go to first error
                  </Button>
                </Group>
              </Alert>
            )}
            <Group justify="end">
              <Button variant="default" renderRoot={(props) => <Link {...props} {...cancel} />}>
                Cancel
              </Button>
              <Button type="submit" loading={isPending}>
                {submit}
              </Button>
            </Group>
          </Stack>
        </div>
      </Stack>
    </form>
  );
}

function PlainFieldInput({ form, name }: { readonly form: ShipmentForm; readonly name: PlainFieldName }) {
  const { label, description, choices } = getPlainFieldDefinition(name);
  const props = { ...form.getInputProps(name), label, description };
  if (choices === undefined) return <TextInput {...props} />;
  return (
    <Select
      {...props}
      value={form.values[name] === '' ? null : form.values[name]}
      onChange={(value) => form.setFieldValue(name, value ?? '')}
      data={choices}
      placeholder="Select a value"
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  );
}

/** Focuses the first field with an error. */
function focusFirstError(form: HTMLFormElement | null | undefined): void {
  // The field is focused after the next render, because the render sets `aria-invalid`.
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}

interface FormSectionProps {
  readonly title: string;
  readonly about?: string;
  readonly children: ReactNode;
}

function FormSection({ title, about, children }: FormSectionProps) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} size="h5" mb={about === undefined ? 'sm' : 2}>
        {title}
      </Title>
      {about !== undefined && (
        <Text size="sm" c="dimmed" mb="sm">
          {about}
        </Text>
      )}
      {children}
    </Paper>
  );
}

/**
 * Form field for container numbers, which the user types or pastes. The check digit of each number is validated
 * immediately.
 */
function ContainerNumbersField({ form }: { readonly form: ShipmentForm }) {
  const { onChange: _onChange, ...input } = form.getInputProps('container_numbers');
  const doubtful = form.values.container_numbers.filter(
    (number) => suggestContainerNumberWithCorrectCheckDigit(number) !== undefined,
  );
  return (
    <Stack gap={4}>
      <TagsInput
        {...input}
        label="Container numbers"
        description="Type or paste numbers, separated by commas or line breaks"
        placeholder={form.values.container_numbers.length === 0 ? 'CSQU3054383' : undefined}
        splitChars={[',', ';', '\n', '\t']}
        onChange={(texts) => form.setFieldValue('container_numbers', parseContainerNumbers(texts))}
        clearable
        clearButtonProps={{ 'aria-label': 'Remove all containers' }}
      />
      <Stack gap={2} aria-live="polite">
        {doubtful.map((number) => (
          <Text key={number} size="sm" className="late">
            {`${number}: the check digit should be ${calculateCheckDigit(number)}. Check for a typing error. If you save this number, an exception opens.`}
          </Text>
        ))}
      </Stack>
    </Stack>
  );
}

const MAX_NAME_VALUE_ROWS = 50;

interface NameValueRowsProps {
  readonly form: ShipmentForm;
  readonly field: 'references' | 'metadata';
  /** Label of the first field in each row, such as "Type". */
  readonly first: string;
  readonly firstExample: string;
  /** Name of a single row, such as "reference". */
  readonly one: string;
}

/** Form fields for a list of pairs, such as references with a type and a value. Each row has two fields. */
function NameValueFieldRows({ form, field, first, firstExample, one }: NameValueRowsProps) {
  const rows = form.values[field];
  const key = field === 'references' ? 'type' : 'name';
  const add = () =>
    field === 'references'
      ? form.insertListItem(field, { type: '', value: '' })
      : form.insertListItem(field, { name: '', value: '' });
  return (
    <Stack gap="xs">
      {rows.map((_, index) => (
        // The position of the row is its key, because rows have no id.
        <div key={index} className={classes['row']}>
          <TextInput
            {...form.getInputProps(`${field}.${index}.${key}`)}
            aria-label={`${first} ${index + 1}`}
            placeholder={firstExample}
          />
          <TextInput
            {...form.getInputProps(`${field}.${index}.value`)}
            aria-label={`Value ${index + 1}`}
            placeholder="Value"
          />
          <ActionIcon
            size={36}
            variant="subtle"
            color="gray"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => form.removeListItem(field, index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="default"
        w="fit-content"
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={add}
        disabled={rows.length >= MAX_NAME_VALUE_ROWS}
      >
        {`Add ${one}`}
      </Button>
    </Stack>
  );
}
