import { Badge, Group, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import { SEVERITY_COLORS, SEVERITY_LABELS, type Severity } from '../exceptions/exception-labels.ts';
import { SHIPMENT_STATUS_LABELS, type Status } from '../values/codes.ts';
import { PortDateText } from '../values/place.tsx';
import { UserLocalTimeText } from '../values/time.tsx';

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

export const getShipmentStatusLabel = (status: Status) => SHIPMENT_STATUS_LABELS[status];

export function ShipmentStatusBadge({ status }: { readonly status: Status }) {
  return (
    <Badge color={SHIPMENT_STATUS_COLORS[status]} variant="light" tt="none" autoContrast>
      {SHIPMENT_STATUS_LABELS[status]}
    </Badge>
  );
}

const HOUR_MS = 3_600_000;

type EtaFacts = Pick<Shipment, 'eta' | 'eta_precision' | 'original_eta' | 'original_eta_precision'>;

/**
 * Returns the number of hours by which the current ETA is later than the original ETA. If one of them is a whole day, the
 * hours are those of whole days. Returns undefined if one of them is unknown.
 */
export function calculateEtaDelayHours(facts: EtaFacts): number | undefined {
  const { eta, original_eta } = facts;
  if (eta === null || original_eta === null) return undefined;
  const hours = (Date.parse(eta) - Date.parse(original_eta)) / HOUR_MS;
  const [isDay, isOriginalDay] = [facts.eta_precision === 'day', facts.original_eta_precision === 'day'];
  if (!isDay && !isOriginalDay) return Math.round(hours);
  // A day is the instant of its end. With daylight saving time, two days can be an hour more or less apart.
  const days = isDay && isOriginalDay ? Math.round(hours / 24) : isDay ? Math.floor(hours / 24) : Math.ceil(hours / 24);
  // Adding 0 turns −0 into 0.
  return days * 24 + 0;
}

interface ShipmentEtaProps {
  readonly shipment: EtaFacts & Pick<Shipment, 'ata' | 'destination_port'>;
}

export function ShipmentEtaText({ shipment }: ShipmentEtaProps) {
  const slip = calculateEtaDelayHours(shipment);
  if (shipment.ata !== null) {
    return (
      <Group gap={6} wrap="nowrap">
        <UserLocalTimeText value={shipment.ata} day />
        <Text size="xs" c="dimmed">
          Arrived
        </Text>
      </Group>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      <PortDateText value={shipment.eta} precision={shipment.eta_precision} port={shipment.destination_port} />
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
