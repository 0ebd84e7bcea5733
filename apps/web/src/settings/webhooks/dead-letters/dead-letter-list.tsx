import { Button, Group } from '@mantine/core';
import { useDeliveries } from '../deliveries/deliveries.tsx';
import { DeliveryRows, type Selection } from '../deliveries/delivery-rows.tsx';
import { Waiting } from '../../../app/page.tsx';
import { Polled } from '../polled.tsx';
import { POLL_MS } from '../webhook-queries.ts';
import type { DeadLetterSearch } from './dead-letter-search.ts';

interface Props {
  readonly search: DeadLetterSearch;
  readonly selection: Selection;
}

export function DeadLetterList({ search, selection }: Props) {
  const { list, newest, rows, newer, readAgain } = useDeliveries({ ...search, status: 'dead_lettered' });
  return (
    <>
      <Group justify="space-between" mih={30}>
        {newer > 0 ? (
          <Button size="compact-xs" variant="light" onClick={() => void readAgain()}>
            Show {newer} more
          </Button>
        ) : (
          <span />
        )}
        <Polled at={newest.dataUpdatedAt} isFetching={newest.isFetching} everyMs={POLL_MS} refetch={readAgain} />
      </Group>
      <Waiting query={list} what="the list of dead letters">
        {() => (rows.length === 0 ? null : <DeliveryRows rows={rows} showsEndpoint selection={selection} />)}
      </Waiting>
      {list.hasNextPage && (
        <Group>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </Group>
      )}
    </>
  );
}
