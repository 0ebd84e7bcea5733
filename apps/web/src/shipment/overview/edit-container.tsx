import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatFormFailure, getFieldErrors } from '../../app/failures.ts';
import { useApiWrite } from '../../app/write.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { DATE_LIMITS } from '../../values/zones.ts';
import {
  ResourceChangedError,
  type VersionedResource,
  writeIfResourceUnchangedOrThrow,
  useQueryKeysOfShipmentPage,
} from '../concurrent-changes/guarded-write.ts';
import { FieldConflictPanel } from '../parts.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import {
  EDITABLE_CONTAINER_FIELD_LABELS,
  type Container,
  type ContainerField,
  type ContainerValues,
  buildContainerPatch,
  toContainerFormValues,
  haveSameContainerFields,
} from './overview-values.ts';

interface EditContainerProps {
  readonly number: string;
  readonly onClose: () => void;
}

/** Form for the size, the seal and the free days of a container. No milestone reports these values. */
export default function EditContainerForm({ number, onClose }: EditContainerProps) {
  const [shipment, client, touches] = [useShipmentOfPage(), useApi(), useQueryKeysOfShipmentPage()];
  const read = async () => {
    const { containers, version } = await client.shipments.get(shipment.id);
    return { thing: containers.find((each) => each.number === number), version };
  };
  const [seen, setSeen] = useState<VersionedResource<Container | undefined>>({
    thing: shipment.containers.find((each) => each.number === number),
    version: shipment.version,
  });
  const [theirs, setTheirs] = useState<VersionedResource<Container | undefined>>();
  const form = useForm<ContainerValues>({ mode: 'controlled', initialValues: toContainerFormValues(seen.thing) });
  const changes = buildContainerPatch(seen.thing, form.values);
  const write = useApiWrite({
    write: (from: typeof seen) =>
      writeIfResourceUnchangedOrThrow(from, {
        read,
        isSame: haveSameContainerFields,
        write: (ifMatch) => client.shipments.patchContainer(shipment.id, number, changes, { ifMatch }),
      }),
    done: `Container ${number} saved.`,
    invalidates: touches,
    onDone: onClose,
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      if (error instanceof ResourceChangedError) setTheirs((error as ResourceChangedError<Container | undefined>).now);
      return true;
    },
  });
  if (theirs !== undefined) {
    return (
      <ContainerConflictComparison
        before={seen.thing}
        theirs={theirs.thing}
        mine={changes}
        isPending={write.isPending}
        onKeepMine={() => {
          setTheirs(undefined);
          write.mutate(theirs);
        }}
        onTakeTheirs={() => {
          setSeen(theirs);
          form.setValues(toContainerFormValues(theirs.thing));
          setTheirs(undefined);
          write.reset();
        }}
      />
    );
  }
  return (
    <form onSubmit={form.onSubmit(() => write.mutate(seen))}>
      <Stack>
        {write.isError && (
          <Alert color="red" role="alert" title="Container not saved">
            {formatFormFailure(write.error, Object.keys(form.values))}
          </Alert>
        )}
        <TextInput
          {...form.getInputProps('size_type')}
          label={EDITABLE_CONTAINER_FIELD_LABELS.size_type}
          placeholder="45G1"
          data-autofocus
        />
        <TextInput {...form.getInputProps('seal_number')} label={EDITABLE_CONTAINER_FIELD_LABELS.seal_number} />
        <TextInput
          {...form.getInputProps('last_free_day')}
          type="date"
          {...DATE_LIMITS}
          label={EDITABLE_CONTAINER_FIELD_LABELS.last_free_day}
          description="Last day at the terminal without demurrage, in local time."
        />
        <TextInput
          {...form.getInputProps('empty_return_by')}
          type="date"
          {...DATE_LIMITS}
          label={EDITABLE_CONTAINER_FIELD_LABELS.empty_return_by}
          description="Last day for the empty return without detention, in local time."
        />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} disabled={Object.keys(changes).length === 0}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ContainerConflictProps {
  readonly before: Container | undefined;
  readonly theirs: Container | undefined;
  readonly mine: ReturnType<typeof buildContainerPatch>;
  readonly isPending: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}

function ContainerConflictComparison({ before, theirs, mine, ...choice }: ContainerConflictProps) {
  const [client, environment, { id }] = [useApi(), useEnvironment(), useShipmentOfPage()];
  const history = useQuery({
    queryKey: ['container-changed', environment, id],
    queryFn: async ({ signal }) => {
      const { data } = await client.shipments.history(id, { limit: 50 }, { signal }).page();
      return data.find(({ changes }) => 'containers' in changes)?.actor.name ?? null;
    },
    gcTime: 0,
  });
  const all = Object.entries(EDITABLE_CONTAINER_FIELD_LABELS) as [ContainerField, string][];
  const fields = all
    .filter(([field]) => field in mine || before?.[field] !== theirs?.[field])
    .map(([field, label]) => ({
      label,
      before: before?.[field] ?? '—',
      now: theirs?.[field] ?? '—',
      yours: field in mine ? (mine[field] ?? '—') : undefined,
    }));
  return <FieldConflictPanel what="the container" who={history.data} fields={fields} {...choice} />;
}
