import { Badge } from '@mantine/core';
import { type Status, STATUS_LABELS } from './shipment-labels.ts';

const COLORS: Readonly<Record<Status, string>> = {
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

export const statusLabel = (status: Status) => STATUS_LABELS[status];

export function ShipmentStatus({ status }: { readonly status: Status }) {
  return (
    <Badge color={COLORS[status]} variant="light" tt="none" autoContrast>
      {STATUS_LABELS[status]}
    </Badge>
  );
}
