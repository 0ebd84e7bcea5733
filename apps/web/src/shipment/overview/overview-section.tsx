import { Stack } from '@mantine/core';
import { Card } from '../card.tsx';
import { ContainersTable } from './containers-table.tsx';
import { LegsStrip } from './legs-strip.tsx';
import classes from './overview-section.module.css';
import { Parties, References } from './parties.tsx';

/** What there is to know of a shipment beside what happened. */
export function OverviewSection() {
  return (
    <Stack gap="sm">
      <Card title="Journey">
        <LegsStrip />
      </Card>
      <Card title="Containers">
        <ContainersTable />
      </Card>
      <div className={classes['two']}>
        <Card title="Parties">
          <Parties />
        </Card>
        <Card title="References">
          <References />
        </Card>
      </div>
    </Stack>
  );
}
