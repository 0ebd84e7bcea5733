import { MODE_LABELS, type Mode, STATUS_LABELS, type Status } from '../../values/codes.ts';
import { type Day, dayLabel } from './day.ts';
import {
  DAY_FILTERS,
  type FilterName,
  type ShipmentFilters,
  type ShipmentSort,
  YES_NO_FILTERS,
} from './shipment-search.ts';

export const FILTER_LABELS: Readonly<Record<FilterName, string>> = {
  q: 'Search',
  status: 'Status',
  active: 'On the way',
  has_open_exceptions: 'Open exceptions',
  mode: 'Mode',
  origin_port: 'From',
  destination_port: 'To',
  carrier_scac: 'Carrier',
  eta_from: 'ETA from',
  eta_to: 'ETA until',
  created_from: 'Created from',
  created_to: 'Created until',
  updated_since: 'Changed since',
  external_id: 'Your reference',
  house_bill: 'House bill',
  master_bill: 'Master bill',
  booking_number: 'Booking number',
  reference: 'Further reference',
  container_number: 'Container',
  shipper: 'Shipper',
  consignee: 'Consignee',
};

export const SORT_LABELS: Readonly<Record<ShipmentSort, string>> = {
  '-created_at': 'Newest first',
  created_at: 'Oldest first',
  '-updated_at': 'Last changed first',
  updated_at: 'Longest unchanged first',
  eta: 'ETA, soonest first',
  '-eta': 'ETA, latest first',
};

/** What one filter asks for, in words; ports are named elsewhere. */
export function filterValue(name: FilterName, value: NonNullable<ShipmentFilters[FilterName]>): string {
  if (name === 'status') return String(value).split(',').map(statusOf).join(', ');
  if (name === 'mode') return MODE_LABELS[value as Mode];
  if (YES_NO_FILTERS.some((each) => each === name)) return value === true ? 'yes' : 'no';
  if (DAY_FILTERS.some((each) => each === name)) return dayLabel(value as Day);
  return String(value);
}

const statusOf = (status: string) => STATUS_LABELS[status as Status];
