import { Stack } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { isOutdatedVersionError } from '../../app/failures.ts';
import { PageHeader } from '../../app/page.tsx';
import { createRandomId, useApiWrite } from '../../app/write.ts';
import { useApi } from '../../session/session.ts';
import {
  UnsavedChangesGuard,
  ContentForShipmentEditors,
  showShipmentSavedNotice,
  useSubmitErrorReporter,
} from './form-parts.tsx';
import {
  EMPTY_SHIPMENT_VALUES,
  type ShipmentBody,
  type ShipmentFormValues,
  toShipmentRequestBody,
} from './form-values.ts';
import { ShipmentFormFields, useShipmentForm } from './shipment-form.tsx';

export function NewShipmentPage() {
  return (
    <Stack>
      <PageHeader title="New shipment" about="Enter at least your reference, a house bill or a container number." />
      <ContentForShipmentEditors>
        <NewShipmentForm />
      </ContentForShipmentEditors>
    </Stack>
  );
}

function NewShipmentForm() {
  const [client, navigate] = [useApi(), useNavigate()];
  const form = useShipmentForm(EMPTY_SHIPMENT_VALUES);
  const refusal = useSubmitErrorReporter(form);
  const isSaved = useRef(false);
  const sent = useRef<{ readonly body: string; readonly key: string }>(undefined);

  /**
   * Returns the idempotency key for a request body. If the same body is sent again, it has the same key, so a retry
   * creates no second shipment.
   */
  const keyOf = (body: ShipmentBody) => {
    const text = JSON.stringify(body);
    if (sent.current?.body !== text) sent.current = { body: text, key: createRandomId() };
    return sent.current.key;
  };
  const showFailure = async (error: unknown, values: ShipmentFormValues) => {
    if (!isOutdatedVersionError(error)) return refusal.showSubmitError(error, values);
    const external_id = values.external_id.trim();
    // Finds the existing shipment for the link in the error message. If this lookup fails, the message has no link.
    const [existing] = await client.shipments
      .list({ external_id })
      .toArray()
      .catch(() => []);
    // The error is dropped if the user has changed the reference during the lookup.
    if (form.getValues().external_id.trim() !== external_id) return;
    form.setErrors({ external_id: <ReferenceTakenMessage id={existing?.id} /> });
  };
  const create = useApiWrite({
    write: (values: ShipmentFormValues) => {
      const body = toShipmentRequestBody(values);
      // The header `If-None-Match: *` prevents that the request updates an existing shipment.
      const isNew = body.external_id === undefined ? {} : { ifNoneMatch: '*' as const };
      return client.shipments.upsert(body, { idempotencyKey: keyOf(body), ...isNew });
    },
    invalidates: [['shipments']],
    showsError: () => true,
    onDone: ({ id, warnings }) => {
      isSaved.current = true;
      showShipmentSavedNotice('Shipment created.', warnings);
      void navigate({ to: '/shipments/$id', params: { id } });
    },
  });
  const submit = (values: ShipmentFormValues) => {
    refusal.clear();
    create.mutate(values, { onError: (error) => void showFailure(error, values) });
  };
  return (
    <>
      <UnsavedChangesGuard isDirty={() => !isSaved.current && form.isDirty()} />
      <ShipmentFormFields
        form={form}
        submit="Create shipment"
        isPending={create.isPending && !create.isPaused}
        failure={refusal.render(create.isPaused)}
        onSubmit={submit}
        cancel={{ to: '/shipments' }}
      />
    </>
  );
}

function ReferenceTakenMessage({ id }: { readonly id: string | undefined }) {
  if (id === undefined) return 'A shipment with this reference already exists.';
  return (
    <>
      A shipment with this reference already exists:{' '}
      <Link to="/shipments/$id" params={{ id }}>
        Open the shipment
      </Link>
    </>
  );
}
