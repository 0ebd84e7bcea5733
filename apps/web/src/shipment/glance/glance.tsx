import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useMatchRoute } from '@tanstack/react-router';
import { PageHeader } from '../../app/page.tsx';
import { SeverityBadge, slipHours, slipLabel, ShipmentStatus } from '../../shipments/shipment-facts.tsx';
import { LiveMark } from '../../live/live-events.tsx';
import { useEnvironment } from '../../session/session.ts';
import { STATUS_LABELS, MODE_LABELS } from '../../values/codes.ts';
import { PlaceName, PlaceTime, PlaceOrText, usePlaces } from '../../values/place.tsx';
import { Time } from '../../values/time.tsx';
import { Card } from '../card.tsx';
import { nameOf, useShipment } from '../current-shipment.ts';
import { seenExceptionsQuery } from '../exceptions/exception-queries.ts';
import { milestonesQuery } from '../shipment-queries.ts';
import classes from './glance.module.css';
import { ShipmentActions } from './shipment-actions.tsx';
import { WhatComesNext } from './what-comes-next-card.tsx';

/** What matters of a shipment: status and what set it, when it arrives, what is wrong, what comes next. */
export function Glance() {
  const shipment = useShipment();
  const isOverview = useMatchRoute()({ to: '/shipments/$id' }) !== false;
  return (
    <>
      <PageHeader
        title={nameOf(shipment)}
        beside={
          <>
            <ShipmentStatus status={shipment.status} />
            <LiveMark />
          </>
        }
        about={
          <>
            {shipment.mode !== null && `${MODE_LABELS[shipment.mode]} · `}
            <PlaceName code={shipment.origin_port} /> → <PlaceName code={shipment.destination_port} />
          </>
        }
        actions={<ShipmentActions />}
      />
      <div className={classes['cards']} data-elsewhere={!isOverview || undefined}>
        <StatusCard />
        <ArrivalCard />
        <WrongCard />
        <Card title="What comes next">
          <WhatComesNext />
        </Card>
      </div>
    </>
  );
}

function StatusCard() {
  const { id, status, status_milestone_id } = useShipment();
  const milestones = useQuery(milestonesQuery(useEnvironment(), id));
  const milestone = milestones.data?.find((each) => each.id === status_milestone_id);
  return (
    <Card title="Status">
      <Text fw={600}>{STATUS_LABELS[status]}</Text>
      {milestone !== undefined && (
        <Text size="sm">
          <Link to="/shipments/$id/timeline" params={{ id }} search={{ milestone: milestone.id }} className="link">
            {milestone.label}
          </Link>
          {milestone.location !== null && (
            <>
              {' '}
              at <PlaceOrText name={milestone.location} />
            </>
          )}
          , <Time value={milestone.occurred_at} />
        </Text>
      )}
      {status_milestone_id === null && (
        <Text size="sm" c="dimmed">
          {status === 'cancelled' ? 'Cancelled by hand, not by a milestone' : 'Nothing has happened yet that sets it'}
        </Text>
      )}
    </Card>
  );
}

function ArrivalCard() {
  const { eta, ata, original_eta, destination_port } = useShipment();
  const zone = usePlaces([destination_port]).get(destination_port ?? '')?.timezone;
  const slip = slipHours({ eta: ata ?? eta, original_eta });
  return (
    <Card title={ata === null ? 'Expected arrival' : 'Arrived'}>
      <Text fw={600} component="div">
        <PlaceTime value={ata ?? eta} zone={zone} />
      </Text>
      {original_eta !== null && (
        <Text size="sm" component="div">
          Originally <Time value={original_eta} />{' '}
          <Text span inherit fw={600} className={slipClass(slip)}>
            {slip === undefined || slip === 0 ? 'on time' : slipLabel(slip)}
          </Text>
        </Text>
      )}
      {eta === null && ata === null && (
        <Text size="sm" c="dimmed">
          Nobody has said when
        </Text>
      )}
    </Card>
  );
}

function slipClass(slip: number | undefined): string {
  return slip !== undefined && slip > 0 ? 'late' : 'early';
}

function WrongCard() {
  const { id, open_exceptions_count } = useShipment();
  const exceptions = useQuery({
    ...seenExceptionsQuery(useEnvironment(), id),
    enabled: open_exceptions_count > 0,
  });
  const open = (exceptions.data?.thing ?? []).filter(({ status }) => status !== 'resolved');
  return (
    <Card title="What is wrong">
      {open_exceptions_count === 0 && <Text size="sm">Nothing that is known</Text>}
      {open_exceptions_count > 0 && open.length === 0 && <Text size="sm">{open_exceptions_count} open exceptions</Text>}
      {open_exceptions_count > 0 && (
        <ul className={classes['list']}>
          {open.slice(0, 4).map(({ id: exception, title, severity, container_number }) => (
            <li key={exception}>
              <SeverityBadge severity={severity} /> {title}
              {container_number !== null && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  {container_number}
                </Text>
              )}
            </li>
          ))}
          {open.length > 4 && <li>and {open.length - 4} more</li>}
        </ul>
      )}
    </Card>
  );
}
