import { NativeSelect, Stack, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { fieldErrors } from '../../../app/failures.ts';
import { API_VERSIONS, type EndpointValues, MOST_CONCURRENCY, faultsOf } from './endpoint-fields.ts';
import { EventTypePicker } from './event-type-picker.tsx';
import { HeaderFields } from './header-fields.tsx';

export type EndpointForm = UseFormReturnType<EndpointValues>;

export function useEndpointForm(initialValues: EndpointValues): EndpointForm {
  return useForm<EndpointValues>({ mode: 'controlled', initialValues, validate: faultsOf });
}

/** Shows at its field what the service refused; `event_types[0]` and `headers.X-Site` are told at theirs. */
export function showRefusal(form: EndpointForm, error: unknown): void {
  const faults = Object.entries(fieldErrors(error) ?? {});
  form.setErrors(Object.fromEntries(faults.map(([param, message]) => [param.split(/[.[]/, 1)[0] ?? param, message])));
}

export function EndpointFormFields({ form }: { readonly form: EndpointForm }) {
  return (
    <Stack>
      <TextInput
        {...form.getInputProps('url')}
        label="URL"
        description="An https address that answers POST"
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
      <HeaderFields
        value={form.values.headers}
        onChange={(headers) => form.setFieldValue('headers', headers)}
        error={form.errors['headers']}
      />
      <NativeSelect
        {...form.getInputProps('api_version')}
        label="Payload version"
        description="How events look there; the newest unless you need another."
        data={[...API_VERSIONS]}
      />
      <TextInput
        label="Most requests at once"
        type="number"
        min={1}
        max={MOST_CONCURRENCY}
        value={form.values.max_concurrency ?? ''}
        onChange={({ currentTarget: { value } }) =>
          form.setFieldValue('max_concurrency', value === '' ? null : Number(value))
        }
        error={form.errors['max_concurrency']}
      />
    </Stack>
  );
}
