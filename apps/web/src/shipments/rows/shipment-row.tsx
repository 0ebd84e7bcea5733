import { Checkbox, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Shipment } from '@tracking/client';
import { memo, useState } from 'react';
import { getShipmentName } from '../../values/codes.ts';
import { PlaceName } from '../../values/place.tsx';
import { LIST_COLUMNS, type ColumnName, ExceptionsBadge } from '../columns.tsx';
import { ShipmentEtaText, ShipmentStatusBadge } from '../shipment-facts.tsx';
import classes from './shipment-rows.module.css';

export interface ShipmentRowProps {
  readonly shipment: Shipment;
  readonly index: number;
  /** Distance of the row from the top of the list, in pixels. */
  readonly start: number;
  /** Visible columns. Undefined if rows are shown as cards. */
  readonly columns: readonly ColumnName[] | undefined;
  readonly isSelected: boolean;
  /** True if the Tab key focuses this row. Only one row of the list has this state. */
  readonly isTabbed: boolean;
  /** True if the shipment has changed and no longer matches the filters. */
  readonly isGone: boolean;
  readonly onToggle: (index: number, isRange: boolean) => void;
}

/** Row of the shipment list. The row is rendered again only if its props change. */
export const ShipmentListRow = memo(function ShipmentRow(props: ShipmentRowProps) {
  const { shipment, index, start, columns, isSelected, isTabbed, isGone } = props;
  const name = getShipmentName(shipment);
  const tabIndex = isTabbed ? 0 : -1;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-selected={isSelected || undefined}
      className={columns === undefined ? classes['card'] : classes['row']}
      data-virtual
      data-gone={isGone || undefined}
      title={isGone ? 'This shipment has changed and no longer matches the filters' : undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      <div role="cell" className={classes['select']}>
        <Checkbox
          size="xs"
          aria-label={`Select ${name}`}
          checked={isSelected}
          tabIndex={tabIndex}
          data-index={index}
          onChange={(event) => props.onToggle(index, (event.nativeEvent as MouseEvent).shiftKey)}
        />
        <ChangeHighlight version={shipment.version} />
      </div>
      <div role="cell" className={classes['name']}>
        <Link
          to="/shipments/$id"
          params={{ id: shipment.id }}
          data-index={index}
          tabIndex={tabIndex}
          className={classes['link']}
        >
          {name}
        </Link>
      </div>
      {columns === undefined ? (
        <ShipmentCard shipment={shipment} />
      ) : (
        <ShipmentRowCells shipment={shipment} columns={columns} />
      )}
    </div>
  );
});

function ShipmentRowCells({
  shipment,
  columns,
}: {
  readonly shipment: Shipment;
  readonly columns: readonly ColumnName[];
}) {
  return columns.map((name) => (
    <div role="cell" key={name}>
      {LIST_COLUMNS[name].cell(shipment)}
    </div>
  ));
}

function ShipmentCard({ shipment }: { readonly shipment: Shipment }) {
  return (
    <>
      <div role="cell" className={classes['status']}>
        <ShipmentStatusBadge status={shipment.status} />
      </div>
      <div role="cell" className={classes['route']}>
        <PlaceName code={shipment.origin_port} />{' '}
        <Text span c="dimmed" inherit>
          to
        </Text>{' '}
        <PlaceName code={shipment.destination_port} />
      </div>
      <div role="cell" className={classes['eta']}>
        <ShipmentEtaText shipment={shipment} />
      </div>
      <div role="cell" className={classes['exceptions']}>
        {shipment.open_exceptions_count > 0 && <ExceptionsBadge count={shipment.open_exceptions_count} />}
      </div>
    </>
  );
}

/** Highlights the row for a short time after the shipment has changed. */
function ChangeHighlight({ version }: { readonly version: number }) {
  const [first] = useState(version);
  return version === first ? null : <span key={version} aria-hidden className={classes['changed']} />;
}
