import { Badge, Button, Checkbox, Popover, SegmentedControl, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconColumns3 } from '@tabler/icons-react';
import type { Shipment } from '@tracking/client';
import type { ReactNode } from 'react';
import { TRANSPORT_MODE_LABELS } from '../values/codes.ts';
import { PlaceName, PortDateText } from '../values/place.tsx';
import { UserLocalTimeText } from '../values/time.tsx';
import classes from './columns.module.css';
import { PLAIN_SHIPMENT_FIELD_NAMES, type PlainColumnName, getPlainFieldDefinition } from './plain-fields.ts';
import type { ShipmentSearchState } from './search/filters.ts';
import { ShipmentEtaText, ShipmentStatusBadge } from './shipment-facts.tsx';

interface ShipmentListColumn {
  readonly label: string;
  /** Minimum width of the column, in CSS `rem`. */
  readonly width: number;
  /** Sort parameter that the API offers for this column. Undefined if the API cannot sort by the column. */
  readonly sort?: 'created_at' | 'updated_at' | 'eta';
  readonly cell: (shipment: Shipment) => ReactNode;
}

const renderTextCell = (value: string | null | undefined) =>
  value == null || value === '' ? <EmptyValueDash /> : value;
const renderTextListCell = (values: readonly string[]) => renderTextCell(values.join(', '));
const renderPartyCell = (value: Shipment['shipper']) => renderTextCell(value?.name ?? value?.external_id);

/** All columns of the shipment list in display order. The reference column precedes them. */
const SHIPMENT_LIST_COLUMNS = {
  status: { label: 'Status', width: 8, cell: ({ status }) => <ShipmentStatusBadge status={status} /> },
  mode: { label: 'Mode', width: 4, cell: ({ mode }) => renderTextCell(mode && TRANSPORT_MODE_LABELS[mode]) },
  origin: { label: 'Origin', width: 8, cell: ({ origin_port }) => <PlaceName code={origin_port} /> },
  destination: {
    label: 'Destination',
    width: 8,
    cell: ({ destination_port }) => <PlaceName code={destination_port} />,
  },
  eta: { label: 'ETA', width: 8.75, sort: 'eta', cell: (shipment) => <ShipmentEtaText shipment={shipment} /> },
  exceptions: {
    label: 'Exceptions',
    width: 5.5,
    cell: ({ open_exceptions_count }) => <ExceptionsBadge count={open_exceptions_count} />,
  },
  last_milestone: {
    label: 'Last milestone',
    width: 13,
    cell: ({ last_milestone }) => renderTextCell(last_milestone?.label),
  },
  departure: { label: 'Departure', width: 8, cell: (shipment) => <DepartureTimeCell shipment={shipment} /> },
  carrier: { label: 'Carrier', width: 5, cell: ({ carrier_scac }) => renderTextCell(carrier_scac) },
  vessel: {
    label: 'Vessel',
    width: 9,
    cell: ({ legs }) => renderTextListCell(legs.flatMap(({ vessel }) => vessel ?? [])),
  },
  containers: { label: 'Containers', width: 9, cell: ({ container_numbers }) => renderTextListCell(container_numbers) },
  ...buildPlainFieldColumns(),
  references: {
    label: 'Additional references',
    width: 10,
    cell: ({ references }) => renderTextListCell(references.map(({ value }) => value)),
  },
  shipper: { label: 'Shipper', width: 10, cell: ({ shipper }) => renderPartyCell(shipper) },
  consignee: { label: 'Consignee', width: 10, cell: ({ consignee }) => renderPartyCell(consignee) },
  documents: { label: 'Documents', width: 6, cell: ({ documents_count }) => documents_count },
  created: {
    label: 'Created',
    width: 6.5,
    sort: 'created_at',
    cell: ({ created_at }) => <UserLocalTimeText value={created_at} brief />,
  },
  updated: {
    label: 'Updated',
    width: 6.5,
    sort: 'updated_at',
    cell: ({ updated_at }) => <UserLocalTimeText value={updated_at} brief />,
  },
} satisfies Readonly<Record<string, ShipmentListColumn>>;
export type ColumnName = keyof typeof SHIPMENT_LIST_COLUMNS;
export const LIST_COLUMNS: Readonly<Record<ColumnName, ShipmentListColumn>> = SHIPMENT_LIST_COLUMNS;
const SHIPMENT_COLUMN_NAMES = Object.keys(LIST_COLUMNS) as readonly ColumnName[];

function buildPlainFieldColumns(): Readonly<Record<PlainColumnName, ShipmentListColumn>> {
  const columns = PLAIN_SHIPMENT_FIELD_NAMES.map((name) => {
    const { label, shortLabel = label, column } = getPlainFieldDefinition(name);
    return [
      column.name,
      { label: shortLabel, width: column.width, cell: (shipment: Shipment) => renderTextCell(shipment[name]) },
    ];
  });
  return Object.fromEntries(columns) as Record<PlainColumnName, ShipmentListColumn>;
}

export function ExceptionsBadge({ count }: { readonly count: number }) {
  if (count === 0) return <EmptyValueDash />;
  return (
    <Badge color="red" variant="light" tt="none">
      {`${count} open`}
    </Badge>
  );
}

function EmptyValueDash() {
  return (
    <Text span c="dimmed" inherit>
      —
    </Text>
  );
}

const DEFAULT_COLUMNS: readonly ColumnName[] = [
  'status',
  'mode',
  'origin',
  'destination',
  'eta',
  'exceptions',
  'updated',
];

/**
 * Parses a comma-separated list of column names, and sorts the names in display order. Returns undefined if no name is
 * known.
 */
function parseShipmentListColumns(text: string | undefined): readonly ColumnName[] | undefined {
  const named = new Set(text?.split(','));
  const columns = SHIPMENT_COLUMN_NAMES.filter((name) => named.has(name));
  return columns.length === 0 ? undefined : columns;
}

type Density = 'comfortable' | 'compact';

/**
 * Returns the columns and the density of the shipment list. If the page URL names no columns, the columns last chosen
 * in this browser are used.
 */
export function useShipmentListAppearance({ search, change }: ShipmentSearchState) {
  const [density, setDensity] = useLocalStorage<Density>({
    key: 'shipment-density',
    defaultValue: 'comfortable',
    serialize: (value) => value,
    deserialize: (text) => (text === 'compact' ? 'compact' : 'comfortable'),
  });
  const [own, setOwn] = useLocalStorage<readonly ColumnName[]>({
    key: 'shipment-columns',
    defaultValue: DEFAULT_COLUMNS,
    serialize: (names) => names.join(','),
    deserialize: (text) => parseShipmentListColumns(text) ?? DEFAULT_COLUMNS,
  });
  return {
    density,
    setDensity,
    columns: parseShipmentListColumns(search.columns) ?? own,
    /**
     * Stores the chosen columns in this browser and in the page URL. A shared link therefore shows the same columns.
     */
    setColumns: (names: readonly string[]) => {
      const columns = parseShipmentListColumns(names.join(',')) ?? DEFAULT_COLUMNS;
      const isUsual = columns.join() === DEFAULT_COLUMNS.join();
      setOwn(columns);
      change({ columns: isUsual ? undefined : columns.join(',') });
    },
  };
}
export type ListAppearance = ReturnType<typeof useShipmentListAppearance>;

const DENSITY_OPTIONS: { readonly value: Density; readonly label: string }[] = [
  { value: 'comfortable', label: 'Comfortable' },
  { value: 'compact', label: 'Compact' },
];

export function ListAppearanceMenu({ look }: { readonly look: ListAppearance }) {
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />} className={classes['target']}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns and density">
        <Stack gap="sm">
          <SegmentedControl
            size="xs"
            aria-label="Density"
            value={look.density}
            data={DENSITY_OPTIONS}
            onChange={(value) => look.setDensity(value as Density)}
          />
          <Checkbox.Group value={[...look.columns]} onChange={look.setColumns} label="Columns">
            <div className={classes['columns']}>
              {SHIPMENT_COLUMN_NAMES.map((name) => (
                <Checkbox
                  key={name}
                  size="xs"
                  value={name}
                  label={LIST_COLUMNS[name].label}
                  // The last visible column cannot be hidden.
                  disabled={look.columns.length === 1 && look.columns[0] === name}
                />
              ))}
            </div>
          </Checkbox.Group>
          <Button size="xs" variant="default" onClick={() => look.setColumns(DEFAULT_COLUMNS)}>
            Reset to default columns
          </Button>
          <Text size="xs" c="dimmed">
            The page URL includes the selected columns.
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function DepartureTimeCell({ shipment: { atd, etd, etd_precision, origin_port } }: { readonly shipment: Shipment }) {
  if (atd !== null) return <UserLocalTimeText value={atd} day />;
  return <PortDateText value={etd} precision={etd_precision} port={origin_port} />;
}
