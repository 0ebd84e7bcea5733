import { Alert } from '@mantine/core';
import { PageHeader } from '../app/page.tsx';
import { useEnvironment } from '../session/session.ts';

export function NoSuchShipment() {
  const other = useEnvironment() === 'live' ? 'test' : 'live';
  return (
    <>
      <PageHeader title="Shipment" />
      <Alert color="yellow" title="There is no such shipment here">
        It may be of another workspace, or of the {other} environment: the switch is above.
      </Alert>
    </>
  );
}
