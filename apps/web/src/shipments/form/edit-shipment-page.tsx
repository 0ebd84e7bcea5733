import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { NotFoundError, type Shipment } from '@tracking/client';
import { useRef, useState } from 'react';
import { createOnDemandComponent } from '../../app/lazy.tsx';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { useApiWrite } from '../../app/write.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { ShipmentNotFoundPage } from '../../shipment/parts.tsx';
import { shipmentQuery, getShipmentTitle } from '../../shipment/shipment-queries.ts';
import { PlacesLoadingGate } from '../../values/await-places.tsx';
import {
  UnsavedChangesGuard,
  ContentForShipmentEditors,
  showShipmentSavedNotice,
  useSubmitErrorReporter,
} from './form-parts.tsx';
import { type ShipmentFormValues, listChangedFields, toShipmentFormValues } from './form-values.ts';
import {
  type ShipmentEditConflict,
  findShipmentEditConflict,
  readConcurrentShipmentChanges,
  saveShipmentChangesOrFindConflict,
} from './save-shipment.ts';
import { ShipmentFormFields, useShipmentForm } from './shipment-form.tsx';

const LazyConflictPanel = createOnDemandComponent(async () => (await import('./conflict-panel.tsx')).ConflictPanel);

export function EditShipmentPage() {
  const { id } = useParams({ from: '/signed-in/shipments/$id/edit' });
  const found = useQuery(shipmentQuery(useEnvironment(), id));
  if (found.error instanceof NotFoundError) return <ShipmentNotFoundPage />;
  return (
    <QueryResultPanel query={found} what="the shipment">
      {(shipment) => (
        <Stack>
          <PageHeader title={`Edit ${getShipmentTitle(shipment)}`} about="Only the fields that you change are saved." />
          <ContentForShipmentEditors>
            <PlacesLoadingGate codes={listPortsWhoseTimeZonesAreNeeded(shipment)}>
              <EditShipmentForm key={shipment.id} shipment={shipment} />
            </PlacesLoadingGate>
          </ContentForShipmentEditors>
        </Stack>
      )}
    </QueryResultPanel>
  );
}

/** Lists the ports whose time zones are needed to show the dates of whole days. */
function listPortsWhoseTimeZonesAreNeeded(shipment: Shipment): readonly (string | null)[] {
  return [shipment, ...shipment.legs].flatMap((journey) => [
    journey.etd_precision === 'day' ? journey.origin_port : null,
    journey.eta_precision === 'day' ? journey.destination_port : null,
  ]);
}

/**
 * Form that edits a shipment. @param shipment the current shipment; the form keeps the version with which it was opened
 */
function EditShipmentForm({ shipment }: { readonly shipment: Shipment }) {
  const [client, navigate] = [useApi(), useNavigate()];
  const [base, setBase] = useState(shipment);
  const [conflict, setConflict] = useState<ShipmentEditConflict>();
  const form = useShipmentForm(toShipmentFormValues(base));
  const refusal = useSubmitErrorReporter(form);
  const isSaved = useRef(false);
  const changed = listChangedFields(toShipmentFormValues(base), form.values);

  const done = () => {
    isSaved.current = true;
    void navigate({ to: '/shipments/$id', params: { id: base.id } });
  };
  const save = useApiWrite({
    write: ({ from, values }: { readonly from: Shipment; readonly values: ShipmentFormValues }) =>
      saveShipmentChangesOrFindConflict(client, from, values),
    invalidates: [['shipments'], ['shipment']],
    showsError: () => true,
    onDone: (saved) => {
      if (saved.kind === 'conflict') return setConflict(saved.conflict);
      showShipmentSavedNotice('Shipment saved.', saved.warnings);
      done();
    },
  });
  const compare = useApiWrite({
    write: () => readConcurrentShipmentChanges(client, base, form.values, shipment.version),
    onDone: setConflict,
  });
  const submit = (from: Shipment, values: ShipmentFormValues) => {
    refusal.clear();
    if (listChangedFields(toShipmentFormValues(from), values).length === 0) return done();
    save.mutate({ from, values }, { onError: (error) => refusal.showSubmitError(error, values) });
  };
  /** Bases the form on the latest version of the shipment, and keeps the given values. */
  const continueFrom = (from: Shipment, values: ShipmentFormValues) => {
    setBase(from);
    form.setValues(values);
    setConflict(undefined);
  };
  if (conflict !== undefined) {
    return (
      <>
        <UnsavedChangesGuard isDirty={() => !isSaved.current} />
        <LazyConflictPanel
          base={base}
          mine={form.values}
          conflict={conflict}
          onBack={(values) => continueFrom(conflict.theirs, values)}
          onSave={(values) => {
            continueFrom(conflict.theirs, values);
            submit(conflict.theirs, values);
          }}
        />
      </>
    );
  }
  return (
    <>
      <UnsavedChangesGuard isDirty={() => !isSaved.current && changed.length > 0} />
      {hasConcurrentChanges(base, shipment, form.values) && (
        <Alert color="yellow" role="status" title="Another user changed this shipment">
          <Group gap="xs">
            Review the changes before you save. Nothing is overwritten until then.
            <Button size="compact-xs" variant="default" loading={compare.isPending} onClick={() => compare.mutate()}>
              Review changes
            </Button>
          </Group>
        </Alert>
      )}
      <ShipmentFormFields
        form={form}
        submit="Save"
        isExisting
        isPending={save.isPending && !save.isPaused}
        failure={refusal.render(save.isPaused)}
        onSubmit={(values) => submit(base, values)}
        cancel={{ to: '/shipments/$id', params: { id: base.id } }}
      />
    </>
  );
}

/** Checks if another user has changed a field that the form shows since the form was opened. */
function hasConcurrentChanges(base: Shipment, now: Shipment, values: ShipmentFormValues): boolean {
  if (now.version <= base.version) return false;
  const { both, others } = findShipmentEditConflict(base, values, now, []);
  return both.length + others.length > 0;
}
