import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Failed, Waiting } from '../../../app/page.tsx';
import { useLiveRefetch } from '../../../live/live-events.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { Polled } from '../polled.tsx';
import { POLL_MS, deliveriesQuery, newestDeliveriesQuery } from '../webhook-queries.ts';
import { DeliveryFilters } from './delivery-filters.tsx';
import { DeliveryRows } from './delivery-rows.tsx';
import type { DeliverySearch } from './delivery-search.ts';
import { withNewest } from './newer-deliveries.ts';

interface Props {
  readonly search: DeliverySearch;
  readonly onChange: (search: DeliverySearch) => void;
  /** Those of one endpoint. */
  readonly ofOne?: boolean;
}

/** The newest deliveries that fit, page by page. What changes does so in its place; what is new waits to be asked for. */
export function Deliveries({ search, onChange, ofOne = false }: Props) {
  const isNarrowed = Object.keys(search).length > (ofOne ? 1 : 0);
  const { list, newest, rows, newer, readAgain } = useDeliveries(search);
  return (
    <Stack>
      <DeliveryFilters search={search} onChange={onChange} without={ofOne ? ['endpoint'] : []} />
      <Group justify="space-between" mih={30}>
        {newer > 0 ? (
          <Button size="compact-xs" variant="light" onClick={() => void readAgain()}>
            Show {newer} more {newer === 1 ? 'delivery' : 'deliveries'}
          </Button>
        ) : (
          <span />
        )}
        <Polled at={newest.dataUpdatedAt} isFetching={newest.isFetching} everyMs={POLL_MS} refetch={readAgain} />
      </Group>
      <Waiting query={list} what="the deliveries">
        {() =>
          rows.length === 0 ? (
            <Alert title={isNarrowed ? 'None fits' : 'Nothing was sent yet'}>
              {isNarrowed
                ? 'No delivery is like that.'
                : 'What is sent to endpoints is listed here, with each attempt.'}
            </Alert>
          ) : (
            <DeliveryRows rows={rows} showsEndpoint={!ofOne} />
          )
        }
      </Waiting>
      {list.isError && list.data !== undefined && <Failed error={list.error} reset={() => void list.refetch()} />}
      {list.hasNextPage ? (
        <Group>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </Group>
      ) : (
        rows.length > 0 && (
          <Text size="xs" c="dimmed">
            That is all.
          </Text>
        )
      )}
    </Stack>
  );
}

export function useDeliveries(search: DeliverySearch) {
  const environment = useEnvironment();
  const list = useInfiniteQuery(deliveriesQuery(environment, search));
  const newest = useQuery(newestDeliveriesQuery(environment, search));
  const read = list.data?.pages.flatMap(({ data }) => data) ?? [];
  // What happens is mostly on its way to an endpoint a moment later.
  useLiveRefetch(() => void newest.refetch());
  // Where nothing is shown, nothing moves.
  const { rows, newer } = withNewest(read.length > 0 ? read : (newest.data ?? []), newest.data ?? []);
  const readAgain = () => Promise.all([list.refetch(), newest.refetch()]);
  return { list, newest, rows, newer, readAgain };
}
