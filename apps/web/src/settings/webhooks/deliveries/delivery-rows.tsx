import { ActionIcon, Badge, Checkbox, Menu, Table, Text, VisuallyHidden } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { WebhookDelivery } from '@tracking/client';
import { useEnvironment } from '../../../session/session.ts';
import { Time } from '../../../values/time.tsx';
import { DeliveryBadge } from '../badges.tsx';
import { endpointsQuery } from '../webhook-queries.ts';
import { reasonLabel } from '../webhook-words.ts';
import { askToDiscard, mayDiscard } from './delivery-actions.tsx';
import { DeliveryLink } from './delivery-link.tsx';
import { useDeliveryWrites } from './use-delivery-writes.ts';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface Props {
  readonly rows: readonly WebhookDelivery[];
  readonly showsEndpoint: boolean;
  /** Where several may be chosen. */
  readonly selection?: Selection;
}

export function DeliveryRows({ rows, showsEndpoint, selection }: Props) {
  const endpoints = useQuery({ ...endpointsQuery(useEnvironment()), enabled: showsEndpoint });
  const nameOf = (id: string) => {
    const known = endpoints.data?.find((endpoint) => endpoint.id === id);
    return known?.description ?? known?.url ?? id;
  };
  const chosen = rows.filter(({ id }) => selection?.ids.has(id)).length;
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && (
              <Table.Th w={40}>
                <Checkbox
                  aria-label="Select all that are shown"
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
            <Table.Th>Recorded</Table.Th>
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
              endpoint={showsEndpoint ? nameOf(delivery.endpoint_id) : undefined}
              selection={selection}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface RowProps {
  readonly delivery: WebhookDelivery;
  readonly endpoint: string | undefined;
  readonly selection: Selection | undefined;
}

function DeliveryRow({ delivery, endpoint, selection }: RowProps) {
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
            test event
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <DeliveryBadge status={status} />
        {last_error !== null && status !== 'succeeded' && (
          <Text size="xs" c="dimmed">
            {reasonLabel(last_error.code)}
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
        <Time value={created_at} />
      </Table.Td>
      <Table.Td>
        <Time value={delivery.next_attempt_at} />
      </Table.Td>
      <Table.Td>
        <RowMenu delivery={delivery} />
      </Table.Td>
    </Table.Tr>
  );
}

function RowMenu({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { retry, discard } = useDeliveryWrites();
  const { id, event_id, event_type } = delivery;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${event_type} ${event_id}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => retry.mutate(id)}>
          {delivery.status === 'succeeded' ? 'Send it again' : 'Try it now'}
        </Menu.Item>
        {mayDiscard(delivery) && (
          <Menu.Item color="red" onClick={() => askToDiscard(() => discard.mutate(id))}>
            Discard…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
