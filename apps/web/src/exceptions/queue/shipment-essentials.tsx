import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Waiting } from '../../app/waiting.tsx';
import { useEnvironment } from '../../session/session.ts';
import { nameOf } from '../../shipment/current-shipment.ts';
import { shipmentQuery } from '../../shipment/shipment-queries.ts';
import { Eta } from '../../shipments/eta-slip.tsx';
import { ShipmentStatus } from '../../shipments/shipment-status.tsx';
import { MODE_LABELS } from '../../values/modes.ts';
import { PlaceName } from '../../values/place.tsx';
import { Facts } from '../../shipment/facts.tsx';

/** What one has to know of the shipment to decide what to do, and the way to its page. */
export function ShipmentEssentials({ id }: { readonly id: string }) {
  const shipment = useQuery(shipmentQuery(useEnvironment(), id));
  return (
    <Waiting query={shipment} what="the shipment">
      {(one) => (
        <Stack gap="xs">
          <Group gap="xs">
            <Title order={3} size="h5">
              <Anchor component={Link} to="/shipments/$id" params={{ id } as never} search={{} as never} inherit>
                {nameOf(one)}
              </Anchor>
            </Title>
            <ShipmentStatus status={one.status} />
          </Group>
          <Facts
            facts={[
              ['Mode', one.mode && MODE_LABELS[one.mode]],
              ['From', one.origin_port && <PlaceName key="from" code={one.origin_port} />],
              ['To', one.destination_port && <PlaceName key="to" code={one.destination_port} />],
              [one.ata === null ? 'ETA' : 'Arrived', <Eta key="eta" shipment={one} />],
              ['Carrier', one.carrier_scac],
              ['Containers', one.container_numbers.join(', ')],
              ['Shipper', one.shipper?.name],
              ['Consignee', one.consignee?.name],
              ['Last milestone', one.last_milestone?.label],
            ]}
          />
          {one.open_exceptions_count > 1 && (
            <Text size="sm" c="dimmed">
              {one.open_exceptions_count} exceptions of it are open.
            </Text>
          )}
        </Stack>
      )}
    </Waiting>
  );
}
