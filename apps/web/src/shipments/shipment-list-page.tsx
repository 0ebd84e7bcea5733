import { Alert, Button, Center, Loader, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconUpload } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import { describeFailure } from '../app/failures.ts';
import { createLazyComponentWithImportRetry, createOnDemandComponent } from '../app/lazy.tsx';
import { ErrorAlert, PageHeader } from '../app/page.tsx';
import { useHasPermission } from '../session/session.ts';
import { useShipmentListAppearance } from './columns.tsx';
import { ShipmentListStatusLine } from './rows/list-status.tsx';
import { NO_SELECTED_SHIPMENTS, listSelectedShipments } from './rows/selection.ts';
import { VirtualShipmentList } from './rows/shipment-rows.tsx';
import { type ShipmentList, useShipmentList } from './rows/use-shipment-list.ts';
import { ShipmentFilterBar } from './search/filter-bar.tsx';
import { useShipmentListUrlSearch } from './search/filters.ts';
import { hasShipmentFilters } from './search/shipment-search.ts';
import classes from './shipment-list-page.module.css';
import { ViewsBar } from './views/views-bar.tsx';

const LazySelectionBar = createOnDemandComponent(
  async () => (await import('./bulk-actions/selection-bar.tsx')).SelectionBar,
  ({ selected }) => selected.length > 0,
);

const LazyShortcutsHelp = createOnDemandComponent(
  async () => (await import('./rows/shortcuts-help.tsx')).ShortcutsHelp,
  ({ opened }) => opened,
);

const LazyFirstStepsPanel = createLazyComponentWithImportRetry(async () => ({
  default: (await import('../first-use/first-use-page.tsx')).FirstStepsList,
}));

export function ShipmentsPage() {
  const state = useShipmentListUrlSearch();
  const { search, query, change } = state;
  const look = useShipmentListAppearance(state);
  const list = useShipmentList(query);
  const { rows } = list;
  const [isHelped, help] = useDisclosure(false);
  const [selection, setSelection] = useState(NO_SELECTED_SHIPMENTS);
  const selected = useMemo(() => listSelectedShipments(selection, rows), [selection, rows]);
  // A change of the search clears the selection.
  const [shown, setShown] = useState(query);
  if (shown !== query) {
    setShown(query);
    setSelection(NO_SELECTED_SHIPMENTS);
  }
  return (
    <div className={classes['page']}>
      <PageHeader title="Shipments" actions={<NewShipmentButtons />} />
      <ViewsBar state={state} />
      <ShipmentFilterBar state={state} />
      <ShipmentListStatusLine list={list} query={query} look={look} onHelp={help.open} />
      {rows.length === 0 ? (
        <ShipmentListLoadingErrorOrEmptyPanel list={list} isNarrowed={hasShipmentFilters(search)} />
      ) : (
        <VirtualShipmentList
          // The key changes with each refresh, so that a refreshed list starts at its first row.
          key={list.readAt}
          list={list}
          look={look}
          sort={search.sort}
          onSort={(sort) => change({ sort })}
          selection={selection}
          onSelect={setSelection}
          onHelp={help.open}
        />
      )}
      {list.nextAgain !== undefined && rows.length > 0 && (
        <Alert color="red" role="alert" title={describeFailure(list.error).title} className={classes['failed']}>
          <Button size="xs" variant="default" onClick={list.nextAgain}>
            Try again
          </Button>
        </Alert>
      )}
      <LazySelectionBar selected={selected} onSelect={setSelection} />
      <LazyShortcutsHelp opened={isHelped} onClose={help.close} />
    </div>
  );
}

function ShipmentListLoadingErrorOrEmptyPanel({
  list,
  isNarrowed: narrowed,
}: {
  readonly list: ShipmentList;
  readonly isNarrowed: boolean;
}) {
  if (list.error !== null) return <ErrorAlert error={list.error} reset={list.again} />;
  if (!list.isEmpty) {
    return (
      <Center p="xl">
        <Loader aria-label="Loading shipments" />
      </Center>
    );
  }
  return <EmptyShipmentList isNarrowed={narrowed} />;
}

function EmptyShipmentList({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed)
    return (
      <Alert title="No matching shipments">Change or clear the filters. New matches appear here automatically.</Alert>
    );
  return (
    <Stack maw={760}>
      <Alert title="No shipments yet">
        Shipments appear here when a system sends them or a user creates them. To begin, follow the steps below or open
        this page:{' '}
        <Link to="/start" className="link">
          Get started
        </Link>
        .
      </Alert>
      <Suspense fallback={null}>
        <LazyFirstStepsPanel />
      </Suspense>
    </Stack>
  );
}

/** Buttons that create or import shipments. Users who may not write shipments do not see them. */
function NewShipmentButtons() {
  if (!useHasPermission('shipments:write')) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUpload size={16} aria-hidden />}
        renderRoot={(props) => <Link {...props} to="/shipments/import" />}
      >
        Import shipments
      </Button>
      <Button
        leftSection={<IconPlus size={16} aria-hidden />}
        renderRoot={(props) => <Link {...props} to="/shipments/new" />}
      >
        New shipment
      </Button>
    </>
  );
}
