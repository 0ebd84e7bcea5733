import { Anchor, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams } from '@tanstack/react-router';
import { NotFoundError } from '@tracking/client';
import { Waiting } from '../app/page.tsx';
import { useEnvironment } from '../session/session.ts';
import { ShipmentContext } from './current-shipment.ts';
import { Glance } from './glance/glance.tsx';
import { NoSuchShipment } from './no-such-shipment.tsx';
import { SectionLinks } from './section-links.tsx';
import { shipmentQuery } from './shipment-queries.ts';

/** What matters of a shipment at a glance, and below it one of its sections: which one stands in the address. */
export function ShipmentPage() {
  const { id } = useParams({ from: '/signed-in/shipments/$id' });
  const found = useQuery(shipmentQuery(useEnvironment(), id));
  return (
    <Stack gap="sm">
      <Anchor component={Link} to="/shipments" size="sm" w="fit-content">
        Shipments
      </Anchor>
      {found.error instanceof NotFoundError ? (
        <NoSuchShipment />
      ) : (
        <Waiting query={found} what="the shipment">
          {(shipment) => (
            <ShipmentContext value={shipment}>
              <Glance />
              <SectionLinks />
              <Outlet />
            </ShipmentContext>
          )}
        </Waiting>
      )}
    </Stack>
  );
}
