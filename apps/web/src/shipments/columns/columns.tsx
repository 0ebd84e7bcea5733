import { Badge, Text } from '@mantine/core';
import type { Shipment } from '@tracking/client';
import type { ReactNode } from 'react';
import { MODE_LABELS } from '../../values/codes.ts';
import { PlaceName } from '../../values/place.tsx';
import { Time } from '../../values/time.tsx';
import { Eta, ShipmentStatus } from '../shipment-facts.tsx';
import type { ColumnName } from './column-names.ts';

export interface Column {
  readonly label: string;
  /** Of its narrowest, in rem. */
  readonly width: number;
  /** Orders by it, where the API can. */
  readonly sort?: 'created_at' | 'updated_at' | 'eta';
  readonly cell: (shipment: Shipment) => ReactNode;
}

const text = (value: string | null | undefined) => (value == null || value === '' ? <None /> : value);
const list = (values: readonly string[]) => text(values.join(', '));
const party = (value: Shipment['shipper']) => text(value?.name ?? value?.external_id);

/** Every column that a list can have, beside the one that names the shipment. */
export const COLUMNS: Readonly<Record<ColumnName, Column>> = {
  status: { label: 'Status', width: 8, cell: ({ status }) => <ShipmentStatus status={status} /> },
  mode: { label: 'Mode', width: 4, cell: ({ mode }) => text(mode && MODE_LABELS[mode]) },
  origin: { label: 'From', width: 8, cell: ({ origin_port }) => <PlaceName code={origin_port} /> },
  destination: { label: 'To', width: 8, cell: ({ destination_port }) => <PlaceName code={destination_port} /> },
  eta: { label: 'ETA', width: 8.75, sort: 'eta', cell: (shipment) => <Eta shipment={shipment} /> },
  exceptions: {
    label: 'Exceptions',
    width: 5.5,
    cell: ({ open_exceptions_count }) => <ExceptionsBadge count={open_exceptions_count} />,
  },
  last_milestone: {
    label: 'Last milestone',
    width: 13,
    cell: ({ last_milestone }) => text(last_milestone?.label),
  },
  departure: { label: 'Departure', width: 8, cell: ({ atd, etd }) => <Time value={atd ?? etd} day /> },
  carrier: { label: 'Carrier', width: 5, cell: ({ carrier_scac }) => text(carrier_scac) },
  vessel: { label: 'Vessel', width: 9, cell: ({ legs }) => list(legs.flatMap(({ vessel }) => vessel ?? [])) },
  containers: { label: 'Containers', width: 9, cell: ({ container_numbers }) => list(container_numbers) },
  house_bill: { label: 'House bill', width: 9, cell: ({ house_bill }) => text(house_bill) },
  master_bill: { label: 'Master bill', width: 9, cell: ({ master_bill }) => text(master_bill) },
  booking: { label: 'Booking', width: 8, cell: ({ booking_number }) => text(booking_number) },
  references: {
    label: 'Further references',
    width: 10,
    cell: ({ references }) => list(references.map(({ value }) => value)),
  },
  shipper: { label: 'Shipper', width: 10, cell: ({ shipper }) => party(shipper) },
  consignee: { label: 'Consignee', width: 10, cell: ({ consignee }) => party(consignee) },
  documents: { label: 'Documents', width: 6, cell: ({ documents_count }) => documents_count },
  created: {
    label: 'Created',
    width: 6.5,
    sort: 'created_at',
    cell: ({ created_at }) => <Time value={created_at} brief />,
  },
  updated: {
    label: 'Changed',
    width: 6.5,
    sort: 'updated_at',
    cell: ({ updated_at }) => <Time value={updated_at} brief />,
  },
};

export function ExceptionsBadge({ count }: { readonly count: number }) {
  if (count === 0) return <None />;
  return (
    <Badge color="red" variant="light" tt="none">
      {count} open
    </Badge>
  );
}

function None() {
  return (
    <Text span c="dimmed" inherit>
      —
    </Text>
  );
}
