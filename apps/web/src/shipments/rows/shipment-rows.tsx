import { Checkbox, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { Shipment } from '@tracking/client';
import { type CSSProperties, useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { LIST_COLUMNS, type ColumnName, type ListAppearance } from '../columns.tsx';
import { SEARCH_FIELD_ID } from '../search/filter-bar.tsx';
import { type ShipmentSort, DEFAULT_SHIPMENT_LIST_SORT } from '../search/shipment-search.ts';
import {
  type KeyAction,
  type ActiveRowIndexAndCount,
  NO_SELECTED_SHIPMENTS,
  type Selection,
  findKeyboardAction,
  toggleShipment,
  selectRowRange,
} from './selection.ts';
import { ShipmentListRow } from './shipment-row.tsx';
import classes from './shipment-rows.module.css';
import type { ShipmentList } from './use-shipment-list.ts';

const ROW_HEIGHTS_PX = { comfortable: 44, compact: 32, card: 84 } as const;
const HEADER_HEIGHT_PX = 37;
const SELECTION_BAR_HEIGHT_PX = 72;
const NARROW_MEDIA_QUERY = '(max-width: 800px)';
/** Number of rows between the last visible row and the end of the list at which the next page is loaded. */
const PREFETCH_DISTANCE_ROWS = 40;
/** Widths of the checkbox column and the reference column, as CSS grid tracks. */
const FIXED_COLUMN_GRID_TRACKS = '1.25rem minmax(8rem, 12fr)';
/** Minimum width of the checkbox column and the reference column with their gaps, in `rem`. */
const FIXED_COLUMNS_WIDTH_REM = 11.25;
const COLUMN_GAP_REM = 0.5;

interface ShipmentRowsProps {
  readonly list: ShipmentList;
  readonly look: ListAppearance;
  readonly sort: ShipmentSort | undefined;
  readonly onSort: (sort: ShipmentSort) => void;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  readonly onHelp: () => void;
}

/** Id of the shipment that had the focus last. The row gets the focus again when the user returns to the list. */
let lastFocusedShipmentId: string | undefined;
const findLastFocusedShipmentIndex = (shipments: readonly Shipment[]) =>
  shipments.findIndex(({ id }) => id === lastFocusedShipmentId);

const getSavedScrollOffset = (entry: { readonly scrollY: number } | undefined) => entry?.scrollY ?? 0;

/** A virtual list of shipments, which renders only the visible rows. */
export function VirtualShipmentList(props: ShipmentRowsProps) {
  const { list, look, selection, onSelect } = props;
  const { rows: shipments, more, next: onEnd, isBack } = list;
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useMediaQuery(NARROW_MEDIA_QUERY, undefined, { getInitialValueInEffect: false });
  const { height, columns, style } = calculateRowLayout(look, isNarrow);
  const before = useElementScrollRestoration({ id: 'shipments' });
  const [returnedTo] = useState(() => (isBack && before !== undefined ? findLastFocusedShipmentIndex(shipments) : -1));
  const rows = useVirtualizer({
    count: shipments.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    // The scroll padding keeps the active row out of the area below the header and the selection bar.
    scrollPaddingEnd: HEADER_HEIGHT_PX + (selection.size > 0 ? SELECTION_BAR_HEIGHT_PX : 0),
    initialOffset: getSavedScrollOffset(isBack ? before : undefined),
  });
  useEffect(() => rows.measure(), [rows, height]);
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (more && last !== undefined && last >= shipments.length - PREFETCH_DISTANCE_ROWS) onEnd();
  }, [more, last, shipments.length, onEnd]);

  const [active, setActive] = useState(returnedTo);
  const toFocus = useRef(returnedTo === -1 ? undefined : returnedTo);
  // The row is focused in an effect, because a row that was out of view is rendered only after scrolling.
  useEffect(() => {
    if (toFocus.current === undefined) return;
    const link = scroller.current?.querySelector<HTMLElement>(`a[data-index="${toFocus.current}"]`);
    if (link == null) return;
    toFocus.current = undefined;
    link.focus({ preventScroll: true });
  });
  const move = ({ to, selects }: Extract<KeyAction, { kind: 'move' }>) => {
    if (selects) onSelect(selectRowRange(selection, shipments, Math.max(active, 0), to));
    toFocus.current = to;
    setActive(to);
    rows.scrollToIndex(to);
  };
  const toggle = (index: number, isRange: boolean) => {
    const shipment = shipments[index];
    if (shipment === undefined) return;
    onSelect(
      isRange && active >= 0
        ? selectRowRange(selection, shipments, active, index)
        : toggleShipment(selection, shipment.id),
    );
    setActive(index);
  };
  const latest = useRef(toggle);
  useEffect(() => {
    latest.current = toggle;
  });
  // The callback is the same in every render, so that only changed rows are rendered again.
  const onToggle = useCallback((index: number, isRange: boolean) => latest.current(index, isRange), []);
  const act = (action: KeyAction) => {
    if (action.kind === 'move') move(action);
    else if (action.kind === 'select') toggle(active, false);
    else if (action.kind === 'select-none') onSelect(NO_SELECTED_SHIPMENTS);
    else if (action.kind === 'search') document.getElementById(SEARCH_FIELD_ID)?.focus();
    else props.onHelp();
  };
  const page = Math.max(1, Math.floor((rows.scrollRect?.height ?? height) / height) - 1);
  useRowKeyboardShortcuts(scroller, { active, count: shipments.length, page }, act);
  // The Tab key can only focus rendered rows. If the active row is not rendered, Tab focuses the first visible row.
  const isDrawn = items.some(({ index }) => index === active);
  const tabbed = isDrawn ? active : (rows.range?.startIndex ?? 0);
  return (
    <div
      ref={scroller}
      className={classes['scroller']}
      data-scroll-restoration-id="shipments"
      aria-busy={list.isOld}
      onFocus={({ target }) => {
        const index = target instanceof HTMLElement ? target.dataset['index'] : undefined;
        if (index === undefined) return;
        setActive(Number(index));
        lastFocusedShipmentId = shipments[Number(index)]?.id;
      }}
    >
      <div
        role="table"
        aria-label="Shipments"
        aria-rowcount={more ? -1 : shipments.length + 1}
        className={classes['table']}
        style={style}
      >
        <div role="rowgroup" className={classes['head']}>
          <ShipmentListColumnHeaders
            columns={columns ?? []}
            sort={props.sort}
            onSort={props.onSort}
            count={shipments.length}
            selected={selection.size}
            onSelectAll={(all) => onSelect(all ? new Set(shipments.map(({ id }) => id)) : NO_SELECTED_SHIPMENTS)}
          />
        </div>
        <div role="rowgroup" className={classes['body']} style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const shipment = shipments[index];
            if (shipment === undefined) return null;
            return (
              <ShipmentListRow
                key={shipment.id}
                shipment={shipment}
                index={index}
                start={start}
                columns={columns}
                isSelected={selection.has(shipment.id)}
                isTabbed={index === tabbed}
                isGone={list.news.gone.has(shipment.id)}
                onToggle={onToggle}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Calculates the layout of the rows. On narrow screens, rows are cards without columns. */
function calculateRowLayout(look: ListAppearance, isNarrow: boolean) {
  const widths = look.columns.map((name) => LIST_COLUMNS[name].width);
  const tracks = widths.map((width) => `minmax(${width}rem, ${width}fr)`).join(' ');
  const minWidth = widths.reduce((all, width) => all + width + COLUMN_GAP_REM, FIXED_COLUMNS_WIDTH_REM);
  const height = ROW_HEIGHTS_PX[isNarrow ? 'card' : look.density];
  const style = {
    '--columns': isNarrow ? FIXED_COLUMN_GRID_TRACKS : `${FIXED_COLUMN_GRID_TRACKS} ${tracks}`,
    '--least': isNarrow ? '0' : `${minWidth}rem`,
    '--row': `${height}px`,
  } as CSSProperties;
  return { height, style, columns: isNarrow ? undefined : look.columns };
}

interface ShipmentListColumnHeadersProps {
  readonly columns: readonly ColumnName[];
  readonly sort: ShipmentSort | undefined;
  readonly onSort: (sort: ShipmentSort) => void;
  readonly count: number;
  readonly selected: number;
  readonly onSelectAll: (all: boolean) => void;
}

function ShipmentListColumnHeaders({
  columns,
  sort,
  onSort,
  count,
  selected,
  onSelectAll,
}: ShipmentListColumnHeadersProps) {
  return (
    <div role="row" className={classes['row']} aria-rowindex={1}>
      <div role="columnheader">
        <Checkbox
          size="xs"
          aria-label={`Select all ${count} loaded shipments`}
          title={`Select all ${count} loaded shipments`}
          checked={count > 0 && selected === count}
          indeterminate={selected > 0 && selected < count}
          onChange={(event) => onSelectAll(event.currentTarget.checked)}
        />
      </div>
      <div role="columnheader">Reference</div>
      {columns.map((name) => (
        <ColumnHeader key={name} name={name} sort={sort ?? DEFAULT_SHIPMENT_LIST_SORT} onSort={onSort} />
      ))}
    </div>
  );
}

interface ColumnHeaderProps {
  readonly name: ColumnName;
  readonly sort: ShipmentSort;
  readonly onSort: (sort: ShipmentSort) => void;
}

function ColumnHeader({ name, sort, onSort }: ColumnHeaderProps) {
  const { label, sort: field } = LIST_COLUMNS[name];
  if (field === undefined) return <div role="columnheader">{label}</div>;
  const [isUp, isDown] = [sort === field, sort === `-${field}`];
  // The first click on a column header sorts ETAs in ascending order, and times of changes in descending order.
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

/** Selector of fields that handle keys themselves, such as text inputs. */
const TEXT_FIELDS_SELECTOR = 'input:not([type=checkbox]), textarea, select, [contenteditable]';
/** Selector of dialogs, menus and lists, which handle keys themselves. */
const OVERLAY_SELECTOR = '[role=dialog], [role=menu], [role=listbox], [role=radiogroup]';
/** Keys that scroll the page unless a row has the focus. */
const SCROLL_KEYS = /^(Arrow|Page|Home|End)/;

/** Handles the keyboard shortcuts of the shipment list. They work wherever the focus is on the page. */
function useRowKeyboardShortcuts(
  list: React.RefObject<HTMLElement | null>,
  place: ActiveRowIndexAndCount,
  act: (it: KeyAction) => void,
) {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event;
    if (!(target instanceof Element) || isKeyHandledElsewhere(event, target)) return;
    const isInList = list.current?.contains(target) === true || target === document.body;
    if (SCROLL_KEYS.test(event.key) && !isInList) return;
    const action = findKeyboardAction(event, place);
    if (action === undefined) return;
    event.preventDefault();
    act(action);
  });
  useEffect(() => {
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function isKeyHandledElsewhere(
  { defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent,
  target: Element,
): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey) return true;
  // While a dialog is open, the focus may be on the page itself. Keys then belong to the dialog.
  if (target === document.body && document.querySelector('[role=dialog]') !== null) return true;
  return target.closest(TEXT_FIELDS_SELECTOR) !== null || target.closest(OVERLAY_SELECTOR) !== null;
}
