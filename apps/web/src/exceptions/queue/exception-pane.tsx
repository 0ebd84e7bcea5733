import { ActionIcon, Anchor, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ShipmentException } from '@tracking/client';
import type { ReactNode } from 'react';
import { QueryResultPanel } from '../../app/page.tsx';
import { PermissionGuardedButton } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { PropertyList } from '../../shipment/parts.tsx';
import { shipmentQuery, getShipmentTitle } from '../../shipment/shipment-queries.ts';
import { ShipmentEtaText, SeverityBadge, ShipmentStatusBadge } from '../../shipments/shipment-facts.tsx';
import { TRANSPORT_MODE_LABELS } from '../../values/codes.ts';
import { PlaceName, usePlaces } from '../../values/place.tsx';
import { ExpectedTimeText, UserLocalTimeText, localizeTimesInText } from '../../values/time.tsx';
import { EXCEPTION_LABELS, EXCEPTION_STATUS_LABELS, RESOLUTION_LABELS } from '../exception-labels.ts';
import type { ExceptionAction } from './exception-action-dialog.tsx';
import { exceptionQuery, useExceptionActions } from './queue-queries.ts';
import { DueDateText } from './queue-rows.tsx';
import { formatAge, getExceptionDueDate } from './queue-search.ts';

interface ExceptionPaneProps {
  readonly id: string;
  /** Position of the exception in the list. The index is -1 if the list does not contain the exception. */
  readonly place: { readonly index: number; readonly of: number; readonly more: boolean };
  readonly me: string;
  readonly onMove: (step: number) => void;
  readonly onAct: (act: ExceptionAction, exceptions: readonly ShipmentException[]) => void;
  readonly onClose: () => void;
}

/** Pane next to the list with the details of one exception and its shipment. */
export function ExceptionPane({ id, place, me, onMove, onAct, onClose }: ExceptionPaneProps) {
  const exception = useQuery(exceptionQuery(useEnvironment(), id));
  const { index, of, more } = place;
  return (
    <Paper withBorder p="md" component="section" aria-label="Exception">
      <Group justify="space-between" mb="sm" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {index < 0 ? 'This exception is not in the list' : `${index + 1} of ${of}${more ? '+' : ''}`}
        </Text>
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            variant="default"
            aria-label="Previous exception (K)"
            disabled={index <= 0}
            onClick={() => onMove(-1)}
          >
            <IconChevronUp size={18} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label="Next exception (J)"
            disabled={index < 0 || index + 1 >= of}
            onClick={() => onMove(1)}
          >
            <IconChevronDown size={18} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Close exception details (Escape)" onClick={onClose}>
            <IconX size={18} />
          </ActionIcon>
        </Group>
      </Group>
      <QueryResultPanel query={exception} what="the exception">
        {(one) => (
          <Stack gap="md">
            <ExceptionSummaryPanel exception={one} />
            <ExceptionActions exception={one} me={me} onAct={onAct} />
            <ExceptionDetailsPanel exception={one} me={me} />
            <ShipmentSummaryPanel id={one.shipment_id} />
          </Stack>
        )}
      </QueryResultPanel>
    </Paper>
  );
}

function ExceptionSummaryPanel({ exception }: { readonly exception: ShipmentException }) {
  const { title, detail, severity, status } = exception;
  return (
    <Stack gap={6}>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Group gap="xs">
        <SeverityBadge severity={severity} />
        <Badge variant="default" tt="none">
          {EXCEPTION_STATUS_LABELS[status]}
        </Badge>
      </Group>
      {detail !== null && <Text size="sm">{localizeTimesInText(detail)}</Text>}
    </Stack>
  );
}

function ExceptionActions({
  exception,
  me,
  onAct,
}: Pick<ExceptionPaneProps, 'me' | 'onAct'> & { readonly exception: ShipmentException }) {
  const { acknowledge } = useExceptionActions();
  const { id, status, assignee } = exception;
  if (status === 'resolved') return null;
  return (
    <Group gap="xs">
      {status === 'open' && (
        <PermissionGuardedButton permission="exceptions:write">
          <Button size="xs" onClick={() => acknowledge.mutate({ id })} loading={acknowledge.isPending}>
            Acknowledge
          </Button>
        </PermissionGuardedButton>
      )}
      {assignee !== me && (
        <PermissionGuardedButton permission="exceptions:write">
          <Button size="xs" variant="default" onClick={() => acknowledge.mutate({ id, assignee: me })}>
            Assign to me
          </Button>
        </PermissionGuardedButton>
      )}
      <PermissionGuardedButton permission="exceptions:write">
        <Button size="xs" variant="default" onClick={() => onAct('assign', [exception])}>
          Assign…
        </Button>
      </PermissionGuardedButton>
      <PermissionGuardedButton permission="exceptions:write">
        <Button size="xs" variant="default" onClick={() => onAct('resolve', [exception])}>
          Resolve…
        </Button>
      </PermissionGuardedButton>
    </Group>
  );
}

function ExceptionDetailsPanel({ exception, me }: { readonly exception: ShipmentException; readonly me: string }) {
  const { type, container_number, assignee, detected_by, opened_at, acknowledged_at, resolution } = exception;
  const due = getExceptionDueDate(exception);
  return (
    <PropertyList
      facts={[
        ['Type', EXCEPTION_LABELS[type]],
        ['Container', container_number],
        ['Assignee', assignee === null ? 'Unassigned' : assignee === me ? `You (${me})` : assignee],
        [due?.label ?? 'Due', due && <DueDateText key="due" exception={exception} />],
        ...listMeasurementsOfException(exception).map((measurement): [string, ReactNode] => [
          measurement.label,
          <MeasuredValueText key={measurement.label} measurement={measurement} shipmentId={exception.shipment_id} />,
        ]),
        ['Opened', <OpenedByText key="opened" by={detected_by} at={opened_at} />],
        ['Acknowledged', acknowledged_at && <UserLocalTimeText key="acknowledged" value={acknowledged_at} />],
        ['Resolved', exception.resolved_at && <UserLocalTimeText key="resolved" value={exception.resolved_at} />],
        ['Resolution', resolution && [RESOLUTION_LABELS[resolution.code], resolution.note].filter(Boolean).join(': ')],
      ]}
    />
  );
}

function OpenedByText({ by, at }: { readonly by: ShipmentException['detected_by']; readonly at: string }) {
  return (
    <>
      <UserLocalTimeText value={at} />{' '}
      {`(${formatAge(at, Date.now())} ago, ${by === 'system' ? 'by a rule' : by === 'manual' ? 'manually' : 'by the carrier'})`}
    </>
  );
}

/**
 * Summary of the exception's shipment, with a link to its page. It shows the facts that the user needs to decide on the
 * exception.
 */
function ShipmentSummaryPanel({ id }: { readonly id: string }) {
  const shipment = useQuery(shipmentQuery(useEnvironment(), id));
  return (
    <QueryResultPanel query={shipment} what="the shipment">
      {(one) => (
        <Stack gap="xs">
          <Group gap="xs">
            <Title order={3} size="h5">
              <Anchor component={Link} to="/shipments/$id" params={{ id } as never} search={{} as never} inherit>
                {getShipmentTitle(one)}
              </Anchor>
            </Title>
            <ShipmentStatusBadge status={one.status} />
          </Group>
          <PropertyList
            facts={[
              ['Mode', one.mode && TRANSPORT_MODE_LABELS[one.mode]],
              ['Origin', one.origin_port && <PlaceName key="from" code={one.origin_port} />],
              ['Destination', one.destination_port && <PlaceName key="to" code={one.destination_port} />],
              [one.ata === null ? 'ETA' : 'Arrived', <ShipmentEtaText key="eta" shipment={one} />],
              ['Carrier', one.carrier_scac],
              ['Containers', one.container_numbers.join(', ')],
              ['Shipper', one.shipper?.name],
              ['Consignee', one.consignee?.name],
              ['Last milestone', one.last_milestone?.label],
            ]}
          />
          {one.open_exceptions_count > 1 && (
            <Text size="sm" c="dimmed">
              {`${one.open_exceptions_count} open exceptions in this shipment`}
            </Text>
          )}
        </Stack>
      )}
    </QueryResultPanel>
  );
}

interface MeasuredValueProps {
  readonly measurement: ExceptionMeasurement;
  readonly shipmentId: string;
}

/** Shows a measured value. A whole day is shown as its date at the port of the shipment. */
function MeasuredValueText({ measurement: { name, value, isTime }, shipmentId }: MeasuredValueProps) {
  const { data: shipment } = useQuery(shipmentQuery(useEnvironment(), shipmentId));
  const port = (name === 'etd' ? shipment?.origin_port : shipment?.destination_port) ?? null;
  const zone = usePlaces([port]).get(port ?? '')?.timezone;
  return isTime ? <ExpectedTimeText value={value} zone={zone} /> : value;
}

interface ExceptionMeasurement {
  /** Name of the metric. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly isTime: boolean;
}

/** Labels of the values that a rule measured, by metric name. Due dates are shown separately. */
const EXCEPTION_METRIC_LABELS: Readonly<Record<string, string>> = {
  slip_hours: 'Delay from the original ETA',
  eta: 'ETA',
  original_eta: 'Original ETA',
  etd: 'ETD',
  silent_since: 'No updates since',
  heard_at: 'Last update about the shipment',
  location: 'Place of the stop',
  arrived_at: 'Stopped since',
  discharged_at: 'Discharged at',
  gated_out_at: 'Left the terminal at',
};

/** Lists the values that the exception's rule measured when it opened the exception. */
function listMeasurementsOfException({ metrics }: Pick<ShipmentException, 'metrics'>): readonly ExceptionMeasurement[] {
  return Object.entries(EXCEPTION_METRIC_LABELS).flatMap(([name, label]): ExceptionMeasurement[] => {
    const value = metrics[name];
    if (typeof value === 'number') return [{ name, label, value: `${value.toLocaleString()} h`, isTime: false }];
    return typeof value === 'string' ? [{ name, label, value, isTime: /^\d{4}-\d\d-\d\dT/.test(value) }] : [];
  });
}
