import { Alert, Badge, Button, Group, Loader, Modal, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Milestone } from '@tracking/client';
import { Suspense, useState } from 'react';
import { createLazyComponentWithImportRetry, createOnDemandComponent } from '../../app/lazy.tsx';
import { confirmAction } from '../../app/overlays.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import { PermissionGuardedButton } from '../../session/permissions.tsx';
import { useApi, useEnvironment } from '../../session/session.ts';
import { MilestoneLocationText, MilestoneTimeText, usePlaces } from '../../values/place.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import { CLASSIFIER_LABELS, getReasonLabel } from '../labels.ts';
import { useGuardedWrite } from '../concurrent-changes/guarded-write.ts';
import { PropertyList } from '../parts.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import {
  MILESTONE_FIELD_LABELS,
  type MilestoneChange,
  listDifferingFields,
  formatMilestoneField,
  isSameMilestoneRevision,
  milestoneHistoryQuery,
  fetchMilestoneWithVersion,
  getSourceLabel,
} from './milestone-values.ts';

/** The code of the form is loaded when the form is opened. */
const LazyCorrectMilestoneForm = createLazyComponentWithImportRetry(() => import('./correct-milestone.tsx'));

const LazyConflictDialog = createOnDemandComponent(
  async () => (await import('../concurrent-changes/conflict-dialog.tsx')).ConflictDialog<Milestone>,
  ({ conflict }) => conflict !== undefined,
);

/** Fields that the conflict dialog compares if another user has corrected the milestone before it is retracted. */
const MILESTONE_FIELDS_COMPARED_IN_CONFLICT_DIALOG = Object.keys(
  MILESTONE_FIELD_LABELS,
) as (keyof typeof MILESTONE_FIELD_LABELS)[];

/** Details of a milestone, with its corrections and the actions on it. */
export function MilestoneDetailsPanel({ milestone }: { readonly milestone: Milestone }) {
  const [corrects, setCorrects] = useState(false);
  const history = useQuery(milestoneHistoryQuery(useEnvironment(), milestone.shipment_id, milestone));
  const { location, retracted_at, superseded_at } = milestone;
  const place = usePlaces([location]).get(location ?? '');
  const zone = milestone.timezone ?? place?.timezone;
  return (
    <Stack>
      <Group gap="xs">
        <Title order={2} size="h4">
          {milestone.label}
        </Title>
        <Badge variant="light" color="gray" tt="none" autoContrast>
          {CLASSIFIER_LABELS[milestone.classifier]}
        </Badge>
      </Group>
      {retracted_at !== null && (
        <Alert color="yellow" title="This milestone was retracted">
          The milestone has no effect. It was retracted at this time: <UserLocalTimeText value={retracted_at} />
        </Alert>
      )}
      {retracted_at === null && superseded_at !== null && (
        <Alert title="This milestone was replaced">
          A later report replaced this milestone at this time: <UserLocalTimeText value={superseded_at} />
        </Alert>
      )}
      <PropertyList
        facts={[
          ['Time', <MilestoneTimeText key="when" milestone={milestone} zone={zone} />],
          ['Location', <MilestoneLocationText key="where" name={location} />],
          ['Container', milestone.container_number ?? 'All containers'],
          ['Source', getSourceLabel(milestone)],
          ['Reason', milestone.reason_code && getReasonLabel(milestone.reason_code)],
          ['Vessel', milestone.vessel],
          ['Voyage', milestone.voyage],
          ['IMO number', milestone.imo],
          ['Terminal', milestone.terminal],
          ['Coordinates', formatCoordinates(milestone)],
          ['Pieces', formatNumberWithUnit(milestone.pieces)],
          ['Temperature', formatNumberWithUnit(milestone.temperature_celsius, ' °C')],
          ['Note', milestone.note],
          ['Your milestone reference', milestone.external_id],
          ['Reported', <UserLocalTimeText key="reported" value={milestone.reported_at} />],
          ['Recorded', <UserLocalTimeText key="recorded" value={milestone.recorded_at} />],
        ]}
      />
      {retracted_at === null && <MilestoneActions milestone={milestone} onCorrect={() => setCorrects(true)} />}
      {milestone.revision > 1 && (
        <Stack gap="xs">
          <Title order={3} size="h6">
            Corrections
          </Title>
          <QueryResultPanel query={history} what="the corrections">
            {(changes) => changes.map((change) => <MilestoneChangeItem key={change.at} change={change} />)}
          </QueryResultPanel>
        </Stack>
      )}
      <Modal
        opened={corrects}
        onClose={() => setCorrects(false)}
        title="Correct milestone"
        size="lg"
        closeOnClickOutside={false}
      >
        <Suspense fallback={<Loader aria-label="Loading the form" />}>
          <LazyCorrectMilestoneForm milestoneId={milestone.id} onClose={() => setCorrects(false)} />
        </Suspense>
      </Modal>
    </Stack>
  );
}

function formatNumberWithUnit(value: number | null, unit = ''): string | null {
  return value === null ? null : `${value}${unit}`;
}

function formatCoordinates({ latitude, longitude }: Milestone): string | null {
  return latitude === null || longitude === null ? null : `${latitude}, ${longitude}`;
}

function MilestoneActions({ milestone, onCorrect }: { readonly milestone: Milestone; readonly onCorrect: () => void }) {
  const [shipment, client, environment] = [useShipmentOfPage(), useApi(), useEnvironment()];
  const retract = useGuardedWrite<Milestone>({
    kind: 'milestone',
    write: ({ id }, _input, ifMatch) => client.milestones.retract(shipment.id, id, { ifMatch }),
    read: (thing) => fetchMilestoneWithVersion(environment, thing),
    isSame: isSameMilestoneRevision,
    canStill: ({ retracted_at }) => retracted_at === null,
    done: 'Milestone retracted.',
  });
  const ask = () =>
    confirmAction({
      title: `Retract “${milestone.label}”?`,
      children: (
        <Text size="sm">
          The milestone stays in the history, but no longer affects status, times and exceptions. This cannot be undone,
          but you can record the milestone again.
        </Text>
      ),
      labels: { confirm: 'Retract', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => retract.run({ thing: milestone, version: shipment.version }),
    });
  return (
    <>
      <Group>
        <PermissionGuardedButton permission="milestones:write">
          <Button variant="default" onClick={onCorrect}>
            Correct…
          </Button>
        </PermissionGuardedButton>
        <PermissionGuardedButton permission="milestones:write">
          <Button variant="light" color="red" onClick={ask} loading={retract.isPending}>
            Retract…
          </Button>
        </PermissionGuardedButton>
      </Group>
      <LazyConflictDialog
        conflict={retract.conflict}
        what="the milestone"
        fields={MILESTONE_FIELDS_COMPARED_IN_CONFLICT_DIALOG}
      />
    </>
  );
}

function MilestoneChangeItem({ change: { at, actor, from, to } }: { readonly change: MilestoneChange }) {
  return (
    <div>
      <Text size="sm">
        {`${to === null ? 'Retracted' : 'Corrected'} by ${actor.name ?? 'the system'}, `}
        <UserLocalTimeText value={at} />
      </Text>
      {from !== null &&
        to !== null &&
        listDifferingFields(from, to).map((field) => (
          <Text key={field} size="sm" c="dimmed">
            {MILESTONE_FIELD_LABELS[field]}: <del>{renderMilestoneFieldValue(from, field)}</del>{' '}
            <ins>{renderMilestoneFieldValue(to, field)}</ins>
          </Text>
        ))}
    </div>
  );
}

function renderMilestoneFieldValue(milestone: Milestone, field: keyof typeof MILESTONE_FIELD_LABELS) {
  if (field !== 'occurred_at') return formatMilestoneField(milestone, field);
  if (milestone.occurred_at_precision === 'time') return <UserLocalTimeText value={milestone.occurred_at} />;
  return <MilestoneTimeText milestone={milestone} zone={null} />;
}
