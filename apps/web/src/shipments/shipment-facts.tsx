import { Badge, Group, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import { SEVERITY_COLORS, SEVERITY_LABELS, type Severity } from '../exceptions/exception-labels.ts';
import { SHIPMENT_STATUS_LABELS, type Status } from '../values/codes.ts';
import { LocalTime } from '../values/time.tsx';

const SHIPMENT_STATUS_COLORS: Readonly<Record<Status, string>> = {
  pending: 'gray',
  booked: 'gray',
  at_origin: 'indigo',
  in_transit: 'blue',
  arrived: 'cyan',
  available_for_pickup: 'teal',
  out_for_delivery: 'teal',
  delivered: 'green',
  completed: 'green',
  returned: 'grape',
  cancelled: 'red',
};

export const getStatusLabel = (status: Status) => SHIPMENT_STATUS_LABELS[status];

export function ShipmentStatus({ status }: { readonly status: Status }) {
  return (
    <Badge color={SHIPMENT_STATUS_COLORS[status]} variant="light" tt="none" autoContrast>
      {SHIPMENT_STATUS_LABELS[status]}
    </Badge>
  );
}

const HOUR_MS = 3_600_000;

/**
 * Returns the number of hours by which the current ETA is later than the original ETA. Returns undefined if one of them
 * is unknown.
 */
export function calculateEtaDelayHours({
  eta,
  original_eta,
}: Pick<Shipment, 'eta' | 'original_eta'>): number | undefined {
  if (eta === null || original_eta === null) return undefined;
  return Math.round((Date.parse(eta) - Date.parse(original_eta)) / HOUR_MS);
}

export function ShipmentEta({ shipment }: { readonly shipment: Pick<Shipment, 'eta' | 'original_eta' | 'ata'> }) {
  const slip = calculateEtaDelayHours(shipment);
  if (shipment.ata !== null) {
    return (
      <Group gap={6} wrap="nowrap">
        <LocalTime value={shipment.ata} day />
        <Text size="xs" c="dimmed">
          Arrived
        </Text>
      </Group>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      <LocalTime value={shipment.eta} day />
      {slip !== undefined && Math.abs(slip) >= 1 && (
        <Text size="xs" fw={600} className={slip > 0 ? 'late' : 'early'}>
          {formatDelay(slip)}
        </Text>
      )}
    </Group>
  );
}

/** Formats a delay in hours or days, such as "+30 h" or "−4 d". */
export function formatDelay(hours: number): string {
  const size = Math.abs(hours);
  const text = size < 48 ? `${size} h` : `${Math.round(size / 24)} d`;
  return hours > 0 ? `+${text}` : `−${text}`;
}

export function SeverityBadge({ severity }: { readonly severity: Severity }) {
  return (
    <Badge color={SEVERITY_COLORS[severity]} variant="light" tt="none" autoContrast miw="max-content">
      {SEVERITY_LABELS[severity]}
    </Badge>
  );
}
