import { Alert, Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Milestone } from '@tracking/client';
import { useState } from 'react';
import { formatFormFailure, getFieldErrors } from '../../app/failures.ts';
import { QueryResultPanel } from '../../app/page.tsx';
import { useApiWrite } from '../../app/write.ts';
import type { Environment } from '../../session/api.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { USER_TIME_ZONE, getDateIfWholeDay, formatDate, formatInstantInZone, isDateOnly } from '../../values/zones.ts';
import {
  ResourceChangedError,
  type VersionedResource,
  writeIfResourceUnchangedOrThrow,
  useQueryKeysOfShipmentPage,
} from '../concurrent-changes/guarded-write.ts';
import { FieldConflictPanel } from '../parts.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { MilestoneFormFields } from './milestone-form.tsx';
import {
  MILESTONE_FIELD_LABELS,
  type MilestoneChanges,
  type MilestoneField,
  buildMilestoneCorrectionBody,
  listDifferingFields,
  formatMilestoneField,
  isSameMilestoneRevision,
  milestoneHistoryQuery,
  fetchMilestoneWithVersion,
  toMilestoneFormValues,
} from './milestone-values.ts';

/**
 * Query of the milestone in its state when the form was opened. It is never refetched, so that later changes do not
 * alter the open form.
 */
function createMilestoneSnapshotQueryOptions(environment: Environment, shipmentId: string, milestoneId: string) {
  return queryOptions({
    queryKey: ['milestone-seen', environment, milestoneId],
    queryFn: () => fetchMilestoneWithVersion(environment, { shipment_id: shipmentId, id: milestoneId }),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });
}

interface CorrectMilestoneProps {
  readonly milestoneId: string;
  readonly onClose: () => void;
}

export default function CorrectMilestoneForm({ milestoneId, onClose }: CorrectMilestoneProps) {
  const seen = useQuery(createMilestoneSnapshotQueryOptions(useEnvironment(), useShipmentOfPage().id, milestoneId));
  return (
    <QueryResultPanel query={seen} what="the milestone">
      {(first) => <CorrectionForm first={first} onClose={onClose} />}
    </QueryResultPanel>
  );
}

function CorrectionForm({
  first,
  onClose,
}: {
  readonly first: VersionedResource<Milestone>;
  readonly onClose: () => void;
}) {
  const [shipment, client, environment, touches] = [
    useShipmentOfPage(),
    useApi(),
    useEnvironment(),
    useQueryKeysOfShipmentPage(),
  ];
  const [seen, setSeen] = useState(first);
  const [theirs, setTheirs] = useState<VersionedResource<Milestone>>();
  const [zone, setZone] = useState(first.thing.timezone ?? USER_TIME_ZONE);
  const form = useForm({ mode: 'controlled', initialValues: toMilestoneFormValues(first.thing, zone) });
  const { id } = first.thing;
  const correct = useApiWrite({
    write: (from: VersionedResource<Milestone>) =>
      writeIfResourceUnchangedOrThrow(from, {
        read: () => fetchMilestoneWithVersion(environment, first.thing),
        isSame: isSameMilestoneRevision,
        write: (ifMatch) =>
          client.milestones.correct(shipment.id, id, buildMilestoneCorrectionBody(seen.thing, form.values, zone), {
            ifMatch,
          }),
      }),
    done: 'Milestone corrected.',
    invalidates: touches,
    onDone: onClose,
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      if (error instanceof ResourceChangedError) setTheirs((error as ResourceChangedError<Milestone>).now);
      return true;
    },
  });
  if (theirs !== undefined) {
    const takeTheirs = () => {
      setSeen(theirs);
      form.setValues(toMilestoneFormValues(theirs.thing, zone));
      setTheirs(undefined);
      correct.reset();
    };
    return (
      <MilestoneConflictPanel
        before={seen.thing}
        theirs={theirs.thing}
        mine={buildMilestoneCorrectionBody(seen.thing, form.values, zone)}
        isPending={correct.isPending}
        onKeepMine={() => {
          setTheirs(undefined);
          correct.mutate(theirs);
        }}
        onTakeTheirs={takeTheirs}
        onClose={onClose}
      />
    );
  }
  const isSame = Object.keys(buildMilestoneCorrectionBody(seen.thing, form.values, zone)).length === 0;
  return (
    <form onSubmit={form.onSubmit(() => correct.mutate(seen))}>
      <Stack>
        {correct.isError && (
          <Alert color="red" role="alert" title="Milestone not corrected">
            {formatFormFailure(correct.error, Object.keys(form.values))}
          </Alert>
        )}
        <MilestoneFormFields form={form} zone={zone} onZone={setZone} corrects={seen.thing} />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={correct.isPending} disabled={isSame}>
            Save correction
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface MilestoneConflictPanelProps {
  readonly before: Milestone;
  readonly theirs: Milestone;
  readonly mine: MilestoneChanges;
  readonly isPending: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

/** Shows that another user has corrected or retracted the milestone since the form was opened. */
function MilestoneConflictPanel({ before, theirs, mine, onClose, ...choice }: MilestoneConflictPanelProps) {
  const history = useQuery(milestoneHistoryQuery(useEnvironment(), useShipmentOfPage().id, theirs));
  const who = history.data?.[0]?.actor.name;
  if (theirs.retracted_at !== null) {
    return (
      <Stack>
        <Alert color="yellow" role="alert" title="This milestone was retracted">
          {`${who ?? 'Another user'} retracted this milestone. It can no longer be corrected.`}
        </Alert>
        <Group justify="end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    );
  }
  const changed = new Set([...listDifferingFields(before, theirs), ...(Object.keys(mine) as MilestoneField[])]);
  const fields = [...changed].map((field) => ({
    label: MILESTONE_FIELD_LABELS[field],
    before: formatMilestoneFieldWithTime(before, field),
    now: formatMilestoneFieldWithTime(theirs, field),
    yours:
      field in mine
        ? formatMilestoneFieldWithTime({ ...theirs, ...mine, label: mine.code ?? theirs.label } as Milestone, field)
        : undefined,
  }));
  return <FieldConflictPanel what="the milestone" who={who} fields={fields} {...choice} />;
}

function formatMilestoneFieldWithTime(milestone: Milestone, field: MilestoneField): string {
  if (field !== 'occurred_at') return formatMilestoneField(milestone, field);
  const { occurred_at, timezone } = milestone;
  const date = isDateOnly(occurred_at) ? occurred_at : getDateIfWholeDay(occurred_at, timezone);
  return date === undefined ? formatInstantInZone(occurred_at, USER_TIME_ZONE) : formatDate(date);
}
