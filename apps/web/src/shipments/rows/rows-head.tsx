import { Checkbox, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ColumnName } from '../columns/column-names.ts';
import { COLUMNS } from '../columns/columns.tsx';
import { type ShipmentSort, USUAL_SORT } from '../search/shipment-search.ts';
import classes from './shipment-rows.module.css';

interface Props {
  readonly columns: readonly ColumnName[];
  readonly sort: ShipmentSort | undefined;
  readonly onSort: (sort: ShipmentSort) => void;
  readonly count: number;
  readonly selected: number;
  readonly onSelectAll: (all: boolean) => void;
}

export function RowsHead({ columns, sort, onSort, count, selected, onSelectAll }: Props) {
  return (
    <div role="row" className={classes['row']} aria-rowindex={1}>
      <div role="columnheader">
        <Checkbox
          size="xs"
          aria-label={`Select the ${count} that are loaded`}
          title={`Select the ${count} that are loaded`}
          checked={count > 0 && selected === count}
          indeterminate={selected > 0 && selected < count}
          onChange={(event) => onSelectAll(event.currentTarget.checked)}
        />
      </div>
      <div role="columnheader">Reference</div>
      {columns.map((name) => (
        <ColumnHead key={name} name={name} sort={sort ?? USUAL_SORT} onSort={onSort} />
      ))}
    </div>
  );
}

interface ColumnHeadProps {
  readonly name: ColumnName;
  readonly sort: ShipmentSort;
  readonly onSort: (sort: ShipmentSort) => void;
}

function ColumnHead({ name, sort, onSort }: ColumnHeadProps) {
  const { label, sort: field } = COLUMNS[name];
  if (field === undefined) return <div role="columnheader">{label}</div>;
  const [isUp, isDown] = [sort === field, sort === `-${field}`];
  // Of ETAs the soonest are looked for first, of changes the latest.
  const first: ShipmentSort = field === 'eta' ? 'eta' : `-${field}`;
  const second: ShipmentSort = field === 'eta' ? '-eta' : field;
  return (
    <div role="columnheader" aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}>
      <UnstyledButton className={classes['sort']} onClick={() => onSort(sort === first ? second : first)}>
        {label}
        {isUp && <IconArrowUp size={14} aria-hidden />}
        {isDown && <IconArrowDown size={14} aria-hidden />}
      </UnstyledButton>
    </div>
  );
}
