import { Paper, Table, Title } from '@mantine/core';
import { MODE_LABELS } from '../../values/codes.ts';
import { PlaceName } from '../../values/place.tsx';
import { Time } from '../../values/time.tsx';
import type { Body, Item } from './check-rows.ts';

const SHOWN = 5;

/** What comes of the first rows. */
export function PreviewShipments({ items }: { readonly items: readonly Item[] }) {
  if (items.length === 0) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Title order={2} size="h5" mb="xs">
        The first shipments, as they will be
      </Title>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Your reference</Table.Th>
              <Table.Th>Mode</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th>ETD</Table.Th>
              <Table.Th>ETA</Table.Th>
              <Table.Th>Containers</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, SHOWN).map(({ body }) => (
              <Table.Tr key={body.external_id}>
                <Table.Td>{body.external_id}</Table.Td>
                <Table.Td>{modeOf(body)}</Table.Td>
                <Table.Td>
                  <PlaceName code={body.origin_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <PlaceName code={body.destination_port ?? null} />
                </Table.Td>
                <Table.Td>
                  <Time value={body.etd ?? null} />
                </Table.Td>
                <Table.Td>
                  <Time value={body.eta ?? null} />
                </Table.Td>
                <Table.Td>{body.container_numbers?.join(', ') ?? '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

function modeOf({ mode }: Body): string {
  return mode == null || !(mode in MODE_LABELS) ? '—' : MODE_LABELS[mode as keyof typeof MODE_LABELS];
}
