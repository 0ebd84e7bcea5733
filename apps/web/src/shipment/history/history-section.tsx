import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Failed, Waiting } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { HistoryRow } from './history-row.tsx';
import { historyQuery } from './history-queries.ts';
import classes from './history-section.module.css';

export function HistorySection() {
  const history = useInfiniteQuery(historyQuery(useEnvironment(), useShipment().id));
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = history;
  return (
    <Waiting query={history} what="the history">
      {({ pages }) => (
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            Everything that was stored, the newest first.
          </Text>
          <ol className={classes['entries']} aria-label="History">
            {pages.flatMap(({ data }) => data.map((entry) => <HistoryRow key={entry.id} entry={entry} />))}
          </ol>
          {isFetchNextPageError && <Failed error={error} reset={() => void fetchNextPage()} />}
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
    </Waiting>
  );
}
