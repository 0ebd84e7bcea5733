import { Alert, Button, Drawer, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ShipmentException } from '@tracking/client';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { createOnDemandComponent } from '../../app/lazy.tsx';
import { ErrorAlert, QueryResultPanel } from '../../app/page.tsx';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import type { ExceptionAction } from './exception-action-dialog.tsx';
import { ExceptionPane } from './exception-pane.tsx';
import {
  MAX_EXCEPTIONS_SORTED_BY_DUE_DATE,
  exceptionQueueQuery,
  listExceptionsOfLoadedPages,
  useExceptionActions,
  useLiveExceptionQueueWithNewCount,
} from './queue-queries.ts';
import { VirtualExceptionList } from './queue-rows.tsx';
import { type ExceptionQueueUrlParameters, hasQueueFilters } from './queue-search.ts';
import classes from './queue.module.css';

const ExceptionActionDialog = createOnDemandComponent(
  async () => (await import('./exception-action-dialog.tsx')).ExceptionActionDialog,
);

interface ExceptionQueueProps {
  readonly search: ExceptionQueueUrlParameters;
  /** Email address of the user. Exceptions name the user as assignee by this address. */
  readonly me: string;
}

/**
 * The exceptions queue, with the opened exception next to the list. The search is the React key of this component, so a
 * new search starts with a new state.
 */
export function ExceptionQueuePanel({ search, me }: ExceptionQueueProps) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const mayWrite = useHasPermission('exceptions:write') && search.view !== 'resolved';
  const navigate = useNavigate({ from: '/exceptions' });
  const query = exceptionQueueQuery(environment, search, me);
  const list = useInfiniteQuery(query);
  const rows = listExceptionsOfLoadedPages(list.data);
  const shown = new Set(rows.map(({ id }) => id));
  const news = useLiveExceptionQueueWithNewCount(search, me, { shown, pages: list.data?.pages.length ?? 0 });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [act, setAct] = useState<{
    readonly act: ExceptionAction;
    readonly exceptions: readonly ShipmentException[];
  }>();

  const open = (at: string | undefined) => void navigate({ search: (before) => ({ ...before, at }), replace: true });
  const before = useRef<Element>(null);
  const ask = (one: ExceptionAction, exceptions: readonly ShipmentException[]) => {
    before.current = document.activeElement;
    setAct({ act: one, exceptions });
  };
  const close = () => {
    setAct(undefined);
    // After the dialog closes, the focus returns to the element that had it before the dialog opened.
    requestAnimationFrame(() => before.current instanceof HTMLElement && before.current.focus());
  };
  const toggle = (ids: readonly string[], on: boolean) =>
    setSelected((known) => new Set(on ? [...known, ...ids] : [...known].filter((id) => !ids.includes(id))));
  const keys = useExceptionQueueShortcuts({ rows, at: search.at, me, selected, open, toggle, ask });
  const reread = async () => {
    news.forget();
    setSelected(new Set());
    queries.setQueryData(
      query.queryKey,
      (known) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    );
    await list.refetch();
  };
  const chosen = rows.filter(({ id, status }) => selected.has(id) && status !== 'resolved');

  return (
    <>
      <div onKeyDown={keys.onKeyDown}>
        <QueryResultPanel query={list} what="exceptions">
          {() => (
            <>
              <Group justify="space-between" mih={36} mb="xs">
                <SelectionToolbar
                  chosen={chosen}
                  count={rows.length}
                  more={list.hasNextPage}
                  isDue={search.sort === 'due'}
                  onAct={ask}
                  onClear={() => setSelected(new Set())}
                />
                <ShowNewExceptionsButton news={news} isLoading={list.isRefetching} onClick={() => void reread()} />
              </Group>
              <ExceptionQueueSplitView
                id={search.at}
                onClose={() => open(undefined)}
                pane={(id) => (
                  <ExceptionPane
                    id={id}
                    place={{ index: rows.findIndex((one) => one.id === id), of: rows.length, more: list.hasNextPage }}
                    me={me}
                    onMove={keys.move}
                    onAct={ask}
                    onClose={() => open(undefined)}
                  />
                )}
              >
                {rows.length === 0 && !list.hasNextPage ? (
                  <EmptyQueue search={search} />
                ) : (
                  <VirtualExceptionList
                    rows={rows}
                    at={search.at}
                    me={me}
                    selected={selected}
                    onSelect={mayWrite ? toggle : undefined}
                    onOpen={open}
                    more={list.hasNextPage}
                    onEnd={() => {
                      // The next page is not loaded during a refresh, because loading it would cancel the refresh.
                      if (!list.isFetching && !list.isFetchNextPageError) void list.fetchNextPage();
                    }}
                  />
                )}
              </ExceptionQueueSplitView>
              {list.isFetchNextPageError && <ErrorAlert error={list.error} reset={() => void list.fetchNextPage()} />}
            </>
          )}
        </QueryResultPanel>
      </div>
      {act !== undefined && (
        <ExceptionActionDialog
          {...act}
          me={me}
          known={[...new Set(rows.flatMap(({ assignee }) => assignee ?? []))]}
          onClose={close}
          onDone={(ids) => toggle(ids, false)}
        />
      )}
    </>
  );
}

interface QueueSplitViewProps {
  /** Id of the opened exception. */
  readonly id: string | undefined;
  readonly pane: (id: string) => ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Shows the opened exception next to the list. On narrow screens, a drawer shows the exception. */
function ExceptionQueueSplitView({ id, pane, onClose, children }: QueueSplitViewProps) {
  const isWide = useMediaQuery('(min-width: 1150px)', undefined, { getInitialValueInEffect: false }) ?? true;
  return (
    <div className={classes['columns']} data-open={(isWide && id !== undefined) || undefined}>
      {children}
      {isWide && id !== undefined && pane(id)}
      <Drawer
        opened={!isWide && id !== undefined}
        onClose={onClose}
        position="right"
        size="lg"
        title="Exception"
        withCloseButton={false}
      >
        {!isWide && id !== undefined && pane(id)}
      </Drawer>
    </div>
  );
}

interface UpdatesButtonProps {
  readonly news: ReturnType<typeof useLiveExceptionQueueWithNewCount>;
  readonly isLoading: boolean;
  readonly onClick: () => void;
}

function ShowNewExceptionsButton({ news: { arrived, missed }, isLoading, onClick }: UpdatesButtonProps) {
  return (
    <div aria-live="polite">
      {(arrived > 0 || missed) && (
        <Button size="xs" variant="light" onClick={onClick} loading={isLoading}>
          {arrived > 0
            ? `Show ${arrived} new ${arrived === 1 ? 'exception' : 'exceptions'}`
            : 'The list may be outdated. Refresh the list'}
        </Button>
      )}
    </div>
  );
}

function EmptyQueue({ search }: { readonly search: ExceptionQueueUrlParameters }) {
  if (hasQueueFilters(search)) return <Alert title="No matching exceptions">Change or clear the filters.</Alert>;
  if (search.view === 'mine')
    return (
      <Alert title="No exceptions assigned to you">
        Open the Unassigned view and press M to assign an exception to yourself.
      </Alert>
    );
  if (search.view === 'resolved')
    return <Alert title="No resolved exceptions yet">Resolved exceptions appear here.</Alert>;
  return <Alert title="No open exceptions">Exceptions appear here when a rule or a user opens them.</Alert>;
}

interface SelectionToolbarProps {
  readonly chosen: readonly ShipmentException[];
  readonly count: number;
  readonly more: boolean;
  readonly isDue: boolean;
  readonly onAct: (act: ExceptionAction, exceptions: readonly ShipmentException[]) => void;
  readonly onClear: () => void;
}

/**
 * Toolbar with the actions for the selected exceptions. If none is selected, the toolbar shows the number of
 * exceptions.
 */
function SelectionToolbar({ chosen, count, more, isDue, onAct, onClear }: SelectionToolbarProps) {
  if (chosen.length === 0) {
    return (
      <Text size="sm" c="dimmed" aria-live="polite">
        {`${count.toLocaleString()}${more ? '+' : ''} ${count === 1 && !more ? 'exception' : 'exceptions'}`}
        {isDue &&
          count >= MAX_EXCEPTIONS_SORTED_BY_DUE_DATE &&
          ' · Only the most severe exceptions are sorted by due date. Filter the list to see the others.'}
      </Text>
    );
  }
  return (
    <Group gap="xs" role="toolbar" aria-label="Actions for selected exceptions">
      <Text size="sm" fw={600} aria-live="polite">
        {`${chosen.length} selected`}
      </Text>
      <Button size="xs" onClick={() => onAct('acknowledge', chosen)}>
        Acknowledge…
      </Button>
      <Button size="xs" variant="default" onClick={() => onAct('assign', chosen)}>
        Assign…
      </Button>
      <Button size="xs" variant="default" onClick={() => onAct('resolve', chosen)}>
        Resolve…
      </Button>
      <Button size="xs" variant="subtle" onClick={onClear}>
        Clear selection
      </Button>
    </Group>
  );
}

interface QueueShortcutsOptions {
  readonly rows: readonly ShipmentException[];
  /** Id of the opened exception. */
  readonly at: string | undefined;
  readonly me: string;
  readonly selected: ReadonlySet<string>;
  readonly open: (id: string | undefined) => void;
  readonly toggle: (ids: readonly string[], on: boolean) => void;
  readonly ask: (act: ExceptionAction, exceptions: readonly ShipmentException[]) => void;
}

/** Handles the keyboard shortcuts of the queue while the queue has the focus. Keys typed in form fields are ignored. */
function useExceptionQueueShortcuts({ rows, at, me, selected, open, toggle, ask }: QueueShortcutsOptions) {
  const mayWrite = useHasPermission('exceptions:write');
  const { acknowledge } = useExceptionActions();

  const move = (step: number) => {
    const next = rows[rows.findIndex(({ id }) => id === at) + step];
    if (next !== undefined) open(next.id);
  };
  const paneKeys: Readonly<Record<string, () => void>> = {
    j: () => move(1),
    k: () => move(-1),
    Escape: () => open(undefined),
  };
  const rowKeys: Readonly<Record<string, (exception: ShipmentException) => void>> = {
    a: ({ id, status }) => status === 'open' && acknowledge.mutate({ id }),
    m: ({ id, assignee }) => assignee !== me && acknowledge.mutate({ id, assignee: me }),
    r: (exception) => ask('resolve', [exception]),
    x: ({ id }) => toggle([id], !selected.has(id)),
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    if (!isQueueShortcut(event)) return;
    if (at !== undefined) paneKeys[event.key]?.();
    const current = target.closest<HTMLElement>('[data-exception]')?.dataset['exception'] ?? at;
    const exception = rows.find(({ id, status }) => id === current && status !== 'resolved');
    if (!mayWrite || exception === undefined || rowKeys[event.key] === undefined) return;
    // The default action of the key is prevented, because the key would be typed into the first field of the dialog.
    event.preventDefault();
    rowKeys[event.key]?.(exception);
  };
  return { move, onKeyDown };
}

/**
 * Checks if a key press is a shortcut of the queue. A key typed in a form field or combined with Ctrl, Alt or Meta is
 * not a shortcut.
 */
function isQueueShortcut({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  const isTyping = (target as HTMLElement).closest('form, textarea, select, input:not([type="checkbox"])') !== null;
  return !ctrlKey && !metaKey && !altKey && !isTyping;
}
