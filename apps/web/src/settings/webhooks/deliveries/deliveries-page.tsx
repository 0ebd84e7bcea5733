import { Alert, Badge, Button, Checkbox, Group, Menu, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WebhookDelivery } from '@tracking/client';
import { ErrorAlert, PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { RowMenu } from '../../../app/row-menu.tsx';
import { useLiveRefetch } from '../../../live/live-events.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { DeliveryStatusBadge, DeliveryLink, LastUpdatedIndicator } from '../webhook-parts.tsx';
import {
  POLL_INTERVAL_MS,
  deliveriesQuery,
  createNewestDeliveriesQueryOptions,
  useEndpointNames,
  updateListedDeliveries,
} from '../webhook-queries.ts';
import type { DeliveryListUrlParameters } from '../webhook-search.ts';
import { getFailureReasonLabel } from '../webhook-labels.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import { DeliveryFilters } from './delivery-filters.tsx';
import { confirmDeliveryDiscard, canDiscardDelivery, useDeliveryMutations } from './delivery-parts.tsx';

export function DeliveriesPage() {
  const search = useSearch({ from: '/signed-in/settings/webhooks/deliveries' });
  const navigate = useNavigate({ from: '/settings/webhooks/deliveries' });
  const { environment: _everywhere, ...narrowed } = search;
  return (
    <Stack>
      <PageHeader title="Deliveries" about="Events sent to your endpoints, and the responses." />
      <WebhookTabs at="/settings/webhooks/deliveries" />
      <DeliveryList search={narrowed} onChange={(to) => void navigate({ search: to, replace: true })} />
    </Stack>
  );
}

interface DeliveryListProps {
  readonly search: DeliveryListUrlParameters;
  readonly onChange: (search: DeliveryListUrlParameters) => void;
  /** True if all deliveries in the list belong to one endpoint. */
  readonly isSingleEndpoint?: boolean;
}

/**
 * The list of deliveries, newest first. Rows are updated in place. New deliveries appear only when the user clicks a
 * button.
 */
export function DeliveryList({ search, onChange, isSingleEndpoint = false }: DeliveryListProps) {
  const isFiltered = Object.keys(search).length > (isSingleEndpoint ? 1 : 0);
  const { list, newest, rows, newer, readAgain: reread } = useDeliveries(search);
  return (
    <Stack>
      <DeliveryFilters search={search} onChange={onChange} hiddenFilters={isSingleEndpoint ? ['endpoint'] : []} />
      <Group justify="space-between" mih={30}>
        {newer > 0 ? (
          <Button size="compact-xs" variant="light" onClick={() => void reread()}>
            {`Show ${newer} new ${newer === 1 ? 'delivery' : 'deliveries'}`}
          </Button>
        ) : (
          <span />
        )}
        <LastUpdatedIndicator
          at={newest.dataUpdatedAt}
          isFetching={newest.isFetching}
          everyMs={POLL_INTERVAL_MS}
          refetch={reread}
        />
      </Group>
      <QueryResultPanel query={list} what="the deliveries">
        {() =>
          rows.length === 0 ? (
            <Alert title={isFiltered ? 'No matching deliveries' : 'No deliveries yet'}>
              {isFiltered
                ? 'Change or clear the filters.'
                : 'Each delivery to an endpoint is listed here with its attempts.'}
            </Alert>
          ) : (
            <DeliveryTable rows={rows} showsEndpoint={!isSingleEndpoint} />
          )
        }
      </QueryResultPanel>
      {list.isError && list.data !== undefined && <ErrorAlert error={list.error} reset={() => void list.refetch()} />}
      {list.hasNextPage ? (
        <Group>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older deliveries
          </Button>
        </Group>
      ) : (
        rows.length > 0 && (
          <Text size="xs" c="dimmed">
            All deliveries are shown.
          </Text>
        )
      )}
    </Stack>
  );
}

export function useDeliveries(search: DeliveryListUrlParameters) {
  const environment = useEnvironment();
  const list = useInfiniteQuery(deliveriesQuery(environment, search));
  const newest = useQuery(createNewestDeliveriesQueryOptions(environment, search));
  const read = list.data?.pages.flatMap(({ data }) => data) ?? [];
  // An event of a shipment usually creates a delivery, so the newest deliveries are read again after an event.
  useLiveRefetch(() => void newest.refetch());
  // If the list is empty, new deliveries appear automatically, because no row can move.
  const { rows, newer } = updateListedDeliveries(read.length > 0 ? read : (newest.data ?? []), newest.data ?? []);
  const reread = () => Promise.all([list.refetch(), newest.refetch()]);
  return { list, newest, rows, newer, readAgain: reread };
}

export interface DeliverySelection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface DeliveryRowsProps {
  readonly rows: readonly WebhookDelivery[];
  readonly showsEndpoint: boolean;
  /** Selection of rows. If undefined, rows cannot be selected. */
  readonly selection?: DeliverySelection;
}

export function DeliveryTable({ rows, showsEndpoint, selection }: DeliveryRowsProps) {
  const endpointName = useEndpointNames(showsEndpoint);
  const chosen = rows.filter(({ id }) => selection?.ids.has(id)).length;
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && (
              <Table.Th w={40}>
                <Checkbox
                  aria-label="Select all loaded deliveries"
                  checked={chosen === rows.length}
                  indeterminate={chosen > 0 && chosen < rows.length}
                  onChange={(event) =>
                    selection.onChange(new Set(event.currentTarget.checked ? rows.map(({ id }) => id) : []))
                  }
                />
              </Table.Th>
            )}
            <Table.Th>Event</Table.Th>
            <Table.Th>Status</Table.Th>
            {showsEndpoint && <Table.Th>Endpoint</Table.Th>}
            <Table.Th>Attempts</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Next attempt</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              delivery={delivery}
              endpoint={showsEndpoint ? (endpointName(delivery.endpoint_id) ?? delivery.endpoint_id) : undefined}
              selection={selection}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface DeliveryRowProps {
  readonly delivery: WebhookDelivery;
  readonly endpoint: string | undefined;
  readonly selection: DeliverySelection | undefined;
}

function DeliveryRow({ delivery, endpoint, selection }: DeliveryRowProps) {
  const { id, event_id, event_type, status, sandbox, last_error, attempts_count, created_at } = delivery;
  return (
    <Table.Tr>
      {selection !== undefined && (
        <Table.Td>
          <Checkbox
            aria-label={`Select ${event_type} ${event_id}`}
            checked={selection.ids.has(id)}
            onChange={(event) => {
              const ids = new Set(selection.ids);
              if (event.currentTarget.checked) ids.add(id);
              else ids.delete(id);
              selection.onChange(ids);
            }}
          />
        </Table.Td>
      )}
      <Table.Td>
        <DeliveryLink delivery={delivery} />{' '}
        {sandbox && (
          <Badge size="sm" tt="none" variant="outline" color="gray" autoContrast>
            Test event
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <DeliveryStatusBadge status={status} />
        {last_error !== null && status !== 'succeeded' && (
          <Text size="xs" c="dimmed">
            {getFailureReasonLabel(last_error.code)}
          </Text>
        )}
      </Table.Td>
      {endpoint !== undefined && (
        <Table.Td>
          <Text size="sm" lineClamp={1} maw={260}>
            {endpoint}
          </Text>
        </Table.Td>
      )}
      <Table.Td>{attempts_count}</Table.Td>
      <Table.Td>
        <UserLocalTimeText value={created_at} />
      </Table.Td>
      <Table.Td>
        <UserLocalTimeText value={delivery.next_attempt_at} />
      </Table.Td>
      <Table.Td>
        <DeliveryMenu delivery={delivery} />
      </Table.Td>
    </Table.Tr>
  );
}

function DeliveryMenu({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { retry, discard } = useDeliveryMutations();
  const { id, event_id, event_type } = delivery;
  return (
    <RowMenu of={`${event_type} ${event_id}`}>
      <Menu.Item onClick={() => retry.mutate(id)}>
        {delivery.status === 'succeeded' ? 'Send again' : 'Retry now'}
      </Menu.Item>
      {canDiscardDelivery(delivery) && (
        <Menu.Item color="red" onClick={() => confirmDeliveryDiscard(() => discard.mutate(id))}>
          Discard…
        </Menu.Item>
      )}
    </RowMenu>
  );
}
