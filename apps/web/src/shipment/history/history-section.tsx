import { Button, Center, Code, Group, Loader, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyTextRenderPropWrapper } from '../../app/copy.tsx';
import { ErrorAlert, QueryResultPanel } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { usePlaces } from '../../values/place.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { createPortZoneFinder, listPortsOfHistoryEntries, listRoutePorts } from './history-ports.ts';
import classes from './history-section.module.css';
import {
  type FindZone,
  type HistoryEntry,
  shipmentHistoryQuery,
  describeHistoryEntry,
  formatActor,
} from './history-sentences.ts';
import { type ValueDifference, formatFieldPathAsLabel, formatStoredValue } from './value-labels.ts';

export function HistorySection() {
  const history = useInfiniteQuery(shipmentHistoryQuery(useEnvironment(), useShipmentOfPage().id));
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = history;
  return (
    <QueryResultPanel query={history} what="the history">
      {({ pages }) => (
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            All changes, newest first.
          </Text>
          <ol className={classes['entries']} aria-label="History">
            <HistoryRows entries={pages.flatMap(({ data }) => data)} />
          </ol>
          {isFetchNextPageError && <ErrorAlert error={error} reset={() => void fetchNextPage()} />}
          {isFetchingNextPage && (
            <Center>
              <Loader size="sm" aria-label="Loading older entries" />
            </Center>
          )}
          {hasNextPage && !isFetchingNextPage && (
            <Button variant="default" w="fit-content" onClick={() => void fetchNextPage()}>
              Show older entries
            </Button>
          )}
        </Stack>
      )}
    </QueryResultPanel>
  );
}

/** Rows of history entries, newest first. Whole days are dates at the ports that the shipment had at that time. */
function HistoryRows({ entries }: { readonly entries: readonly HistoryEntry[] }) {
  const ports = listPortsOfHistoryEntries(entries, useShipmentOfPage());
  const places = usePlaces(listRoutePorts(ports.flatMap(({ from, to }) => [from, to])));
  return entries.map((entry, index) => (
    <HistoryRow key={entry.id} entry={entry} findZone={createPortZoneFinder(ports[index], places)} />
  ));
}

/** Maximum number of changed values that an entry shows before the user expands it. */
const MAX_COLLAPSED_VALUES = 6;

interface HistoryRowProps {
  readonly entry: HistoryEntry;
  readonly findZone: FindZone;
}

/** History entry: a sentence with the changed values. The JSON of the entry is shown when the user asks for it. */
function HistoryRow({ entry, findZone }: HistoryRowProps) {
  const [showsRaw, setShowsRaw] = useState(false);
  const { did, details, note } = describeHistoryEntry(entry, findZone);
  return (
    <li className={classes['entry']}>
      <Text size="xs" c="dimmed" className={classes['at']}>
        <UserLocalTimeText value={entry.at} />
      </Text>
      <Stack gap={4} className={classes['said']}>
        <Text size="sm">
          <strong>{formatActor(entry.actor)}</strong> {did}
        </Text>
        {note !== undefined && <blockquote className={classes['note']}>{note}</blockquote>}
        <ChangedValueList details={details} />
        {showsRaw && <HistoryEntryJsonPanel entry={entry} />}
      </Stack>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        aria-expanded={showsRaw}
        onClick={() => setShowsRaw(!showsRaw)}
      >
        {showsRaw ? 'Hide JSON' : 'Show JSON'}
      </Button>
    </li>
  );
}

function ChangedValueList({ details }: { readonly details: readonly ValueDifference[] }) {
  const [showsAll, setShowsAll] = useState(false);
  if (details.length === 0) return null;
  const shown = showsAll ? details : details.slice(0, MAX_COLLAPSED_VALUES);
  return (
    <>
      <dl className={classes['details']}>
        {shown.map(({ path, from, to, zone, fromZone }) => (
          <div key={path.join(' ')}>
            <dt>{formatFieldPathAsLabel(path)}</dt>
            <dd>
              {from !== null && from !== undefined && <del>{formatStoredValue(from, path.at(-1), fromZone)}</del>}{' '}
              {formatStoredValue(to, path.at(-1), zone)}
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < details.length && (
        <Button size="compact-xs" variant="subtle" w="fit-content" onClick={() => setShowsAll(true)}>
          {`Show ${details.length - shown.length} more changes`}
        </Button>
      )}
    </>
  );
}

function HistoryEntryJsonPanel({ entry }: { readonly entry: HistoryEntry }) {
  const text = JSON.stringify(entry, undefined, 2);
  return (
    <Stack gap={4}>
      <Code block className={classes['raw']} tabIndex={0} aria-label="History entry as JSON">
        {text}
      </Code>
      <Group>
        <CopyTextRenderPropWrapper value={text}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyTextRenderPropWrapper>
      </Group>
    </Stack>
  );
}
