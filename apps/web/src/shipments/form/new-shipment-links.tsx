import { Button } from '@mantine/core';
import { IconPlus, IconUpload } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../session/session.ts';

/** Where shipments come from by hand: for those who may write them. */
export function NewShipmentLinks() {
  if (!useMay('shipments:write')) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconUpload size={16} aria-hidden />}
        renderRoot={(props) => <Link {...props} to="/shipments/import" />}
      >
        Import
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
