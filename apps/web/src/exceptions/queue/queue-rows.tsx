import { Badge, Checkbox, Text } from '@mantine/core';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { Shipment, ShipmentException } from '@tracking/client';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { useEnvironment } from '../../session/session.ts';
import { shipmentQuery, shipmentsByIdQuery, getShipmentTitle } from '../../shipment/shipment-queries.ts';
import { SeverityBadge } from '../../shipments/shipment-facts.tsx';
import { UserLocalTimeText, localizeTimesInText } from '../../values/time.tsx';
import { EXCEPTION_STATUS_LABELS } from '../exception-labels.ts';
import classes from './queue-rows.module.css';
import { formatAge, getExceptionDueDate, isExceptionOverdue } from './queue-search.ts';

const ROW_HEIGHT_PX = 56;
/** Number of rows between the last visible row and the end of the list at which the next page is loaded. */
const PREFETCH_DISTANCE_ROWS = 20;
const COLUMN_LABELS = ['Severity', 'Exception', 'Shipment', 'Assignee', 'Due', 'Age', 'Status'] as const;
/** Number of rows whose shipments are read in one request. */
const SHIPMENTS_PER_REQUEST = 50;
const ROW_STEP_BY_KEY: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

interface VirtualExceptionListProps {
  readonly rows: readonly ShipmentException[];
  /** Id of the opened exception. */
  readonly at: string | undefined;
  readonly me: string;
  readonly selected: ReadonlySet<string>;
  /** Callback to select or deselect exceptions. Undefined if the user may not change exceptions. */
  readonly onSelect: ((ids: readonly string[], on: boolean) => void) | undefined;
  readonly onOpen: (id: string) => void;
  readonly more: boolean;
  readonly onEnd: () => void;
}

/** A virtual list of exceptions, which renders only the visible rows. */
export function VirtualExceptionList({
  rows,
  at,
  me,
  selected,
  onSelect,
  onOpen,
  more,
  onEnd,
}: VirtualExceptionListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 10,
    scrollPaddingStart: 36,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const shipments = useRowShipments(rows, items[0]?.index ?? 0, last);
  useEffect(() => {
    if (more && last >= rows.length - PREFETCH_DISTANCE_ROWS) onEnd();
  }, [more, last, rows.length, onEnd]);
  const opened = at === undefined ? -1 : rows.findIndex(({ id }) => id === at);
  useEffect(() => {
    if (opened >= 0) virtual.scrollToIndex(opened, { align: 'auto' });
  }, [opened, virtual]);

  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const [step, from] = [
      ROW_STEP_BY_KEY[event.key],
      (event.target as HTMLElement).closest<HTMLElement>('[data-index]'),
    ];
    if (step === undefined || from === null) return;
    event.preventDefault();
    event.stopPropagation();
    const index = Number(from.dataset['index']) + step;
    const next = rows[index];
    if (next === undefined) return;
    virtual.scrollToIndex(index);
    if (at !== undefined) onOpen(next.id);
    // The next row is focused after the next frame, because it may not be rendered yet.
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus());
  };
  const waiting = rows.filter(({ status }) => status !== 'resolved').map(({ id }) => id);
  const all = waiting.length > 0 && waiting.every((id) => selected.has(id));

  return (
    <div ref={scroller} className={classes['scroller']} data-selectable={onSelect !== undefined || undefined}>
      <div role="table" aria-label="Exceptions" aria-rowcount={more ? -1 : rows.length + 1} onKeyDown={move}>
        <div role="rowgroup" className={classes['head']}>
          <div role="row" className={classes['row']} aria-rowindex={1}>
            {onSelect !== undefined && (
              <div role="columnheader">
                <Checkbox
                  size="xs"
                  aria-label="Select all loaded exceptions"
                  checked={all}
                  indeterminate={!all && waiting.some((id) => selected.has(id))}
                  onChange={(event) => onSelect(waiting, event.currentTarget.checked)}
                />
              </div>
            )}
            {COLUMN_LABELS.map((column) => (
              <div role="columnheader" key={column}>
                {column}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={classes['body']} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const exception = rows[index] as ShipmentException;
            return (
              <ExceptionQueueListItem
                key={exception.id}
                index={index}
                start={start}
                exception={exception}
                shipment={shipments.get(exception.shipment_id)}
                isOpened={index === opened}
                isMine={exception.assignee === me}
                isSelected={selected.has(exception.id)}
                onSelect={onSelect}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface ExceptionRowProps extends Pick<VirtualExceptionListProps, 'onSelect'> {
  readonly index: number;
  readonly start: number;
  readonly exception: ShipmentException;
  /** Shipment of the exception. Undefined while it loads. */
  readonly shipment: Shipment | undefined;
  readonly isOpened: boolean;
  readonly isMine: boolean;
  readonly isSelected: boolean;
}

function ExceptionQueueListItem({
  index,
  start,
  exception,
  shipment,
  isOpened,
  isMine,
  isSelected,
  onSelect,
}: ExceptionRowProps) {
  const { id, title, detail, container_number, severity, status, assignee, opened_at } = exception;
  const isOver = status === 'resolved';
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes['row']}
      data-virtual
      data-index={index}
      data-exception={id}
      data-opened={isOpened || undefined}
      data-over={isOver || undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      {onSelect !== undefined && (
        <div role="cell">
          <Checkbox
            size="xs"
            aria-label={`Select “${title}”`}
            checked={isSelected && !isOver}
            disabled={isOver}
            onChange={(event) => onSelect([id], event.currentTarget.checked)}
          />
        </div>
      )}
      <div role="cell">
        <SeverityBadge severity={severity} />
      </div>
      <div role="cell">
        <Link
          from="/exceptions"
          to="/exceptions"
          search={(before) => ({ ...before, at: id })}
          replace
          resetScroll={false}
          className={classes['link']}
        >
          {title}
        </Link>
        <div className={classes['detail']}>
          {[container_number, detail && localizeTimesInText(detail)].filter((part) => part !== null).join(' · ') || ' '}
        </div>
      </div>
      <div role="cell">
        <ShipmentNameLink id={exception.shipment_id} read={shipment} />
      </div>
      <div role="cell">
        {assignee === null ? (
          <Text span c="dimmed" inherit>
            Unassigned
          </Text>
        ) : isMine ? (
          'You'
        ) : (
          assignee
        )}
      </div>
      <div role="cell">
        <DueDateText exception={exception} />
      </div>
      <div role="cell">
        <time dateTime={opened_at}>{formatAge(opened_at, Date.now())}</time>
      </div>
      <div role="cell">{EXCEPTION_STATUS_LABELS[status]}</div>
    </div>
  );
}

/** Reads the shipments of the visible rows and of rows near them. Returns the loaded shipments by id. */
function useRowShipments(rows: readonly ShipmentException[], from: number, to: number): ReadonlyMap<string, Shipment> {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const begins: number[] = [];
  for (
    let begin = from - (from % SHIPMENTS_PER_REQUEST);
    begin <= Math.min(to, rows.length - 1);
    begin += SHIPMENTS_PER_REQUEST
  )
    begins.push(begin);
  return useQueries({
    queries: begins.map((begin) => {
      const ids = new Set(rows.slice(begin, begin + SHIPMENTS_PER_REQUEST).map(({ shipment_id }) => shipment_id));
      return { ...shipmentsByIdQuery(queries, environment, [...ids]), staleTime: 300_000 };
    }),
    combine: indexShipmentsById,
  });
}

function indexShipmentsById(
  read: readonly { readonly data: readonly Shipment[] | undefined }[],
): ReadonlyMap<string, Shipment> {
  return new Map(read.flatMap(({ data = [] }) => data.map((shipment) => [shipment.id, shipment])));
}

function ShipmentNameLink({ id, read }: { readonly id: string; readonly read: Shipment | undefined }) {
  // Events update the query of the single shipment, so its data is preferred to the data of the list.
  const { data = read } = useQuery({ ...shipmentQuery(useEnvironment(), id), enabled: false });
  return (
    <Link
      to="/shipments/$id"
      params={{ id }}
      search={{}}
      className={classes['shipment']}
      tabIndex={-1}
      aria-busy={data === undefined}
    >
      {data === undefined ? '…' : getShipmentTitle(data)}
    </Link>
  );
}

/** Formats a date in the local time of a port, independent of the user's time zone. */
const PORT_DATE_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

type Shown = Pick<ShipmentException, 'type' | 'metrics' | 'severity' | 'status'>;

/** Shows the due date or due time of an exception. Shows a dash if the exception has no due date. */
export function DueDateText({ exception }: { readonly exception: Shown }) {
  const due = getExceptionDueDate(exception);
  if (due === undefined)
    return (
      <Text span c="dimmed" inherit>
        —
      </Text>
    );
  return (
    <>
      {due.kind === 'day' ? (
        <time dateTime={due.value} title={due.label}>
          {PORT_DATE_FORMAT.format(new Date(due.value))}
        </time>
      ) : (
        <UserLocalTimeText value={due.value} />
      )}{' '}
      {exception.status !== 'resolved' && isExceptionOverdue(exception, Date.now()) && (
        <Badge size="sm" color="red" variant="light" tt="none" autoContrast>
          Overdue
        </Badge>
      )}
    </>
  );
}
