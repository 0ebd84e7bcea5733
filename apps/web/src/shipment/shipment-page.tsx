import { Anchor, Badge, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useMatchRoute, useParams } from '@tanstack/react-router';
import { NotFoundError, type Shipment } from '@tracking/client';
import { useEffect, useRef, useState } from 'react';
import tabs from '../app/link-tabs.module.css';
import { PageHeader, QueryResultPanel } from '../app/page.tsx';
import { ConnectionBadge } from '../live/live-events.tsx';
import { useEnvironment } from '../session/session.ts';
import {
  SeverityBadge,
  ShipmentStatusBadge,
  calculateEtaDelayHours,
  formatDelay,
} from '../shipments/shipment-facts.tsx';
import { ENDED_SHIPMENT_STATUSES, TRANSPORT_MODE_LABELS, SHIPMENT_STATUS_LABELS } from '../values/codes.ts';
import { PlaceName, MilestoneLocationText, PlaceTimeText, usePlaces } from '../values/place.tsx';
import { CalendarDateText, UserLocalTimeText } from '../values/time.tsx';
import { versionedExceptionsQuery } from './exceptions/exception-queries.ts';
import { TitledCard, ShipmentNotFoundPage } from './parts.tsx';
import { ShipmentActions } from './shipment-actions.tsx';
import classes from './shipment-page.module.css';
import {
  ShipmentContext,
  explanationQuery,
  milestonesQuery,
  shipmentQuery,
  getShipmentTitle,
  useShipmentOfPage,
} from './shipment-queries.ts';
import { type ExpectedShipmentEvent, listUpcomingShipmentEvents } from './next-events.ts';

/** Page of a shipment. It shows a summary and below it one section, which the page URL names. */
export function ShipmentDetailsPage() {
  const { id } = useParams({ from: '/signed-in/shipments/$id' });
  const found = useQuery(shipmentQuery(useEnvironment(), id));
  return (
    <Stack gap="sm">
      <Anchor component={Link} to="/shipments" size="sm" w="fit-content">
        Shipments
      </Anchor>
      {found.error instanceof NotFoundError ? (
        <ShipmentNotFoundPage />
      ) : (
        <QueryResultPanel query={found} what="the shipment">
          {(shipment) => (
            <ShipmentContext value={shipment}>
              <ShipmentSummaryCards />
              <SectionLinks />
              <Outlet />
            </ShipmentContext>
          )}
        </QueryResultPanel>
      )}
    </Stack>
  );
}

type Name = 'timeline' | 'eta' | 'exceptions' | 'documents' | 'history' | 'explanation' | 'calls';

interface ShipmentSectionDefinition {
  readonly to: '/shipments/$id' | `/shipments/$id/${Name}`;
  readonly label: string;
  /** Number of items in the section, shown in its tab. A 0 is hidden. */
  readonly count?: (shipment: Shipment) => number;
}

/** Sections of the shipment page. Each section is a route below `/shipments/$id` and a folder in this directory. */
const SHIPMENT_SECTIONS: readonly ShipmentSectionDefinition[] = [
  { to: '/shipments/$id', label: 'Overview' },
  { to: '/shipments/$id/timeline', label: 'Timeline' },
  { to: '/shipments/$id/eta', label: 'ETA' },
  { to: '/shipments/$id/exceptions', label: 'Exceptions', count: ({ open_exceptions_count }) => open_exceptions_count },
  { to: '/shipments/$id/documents', label: 'Documents', count: ({ documents_count }) => documents_count },
  { to: '/shipments/$id/history', label: 'History' },
  { to: '/shipments/$id/explanation', label: 'Explanation' },
  { to: '/shipments/$id/calls', label: 'API' },
];

function SectionLinks() {
  const shipment = useShipmentOfPage();
  const links = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // The current tab is scrolled into view, because narrow screens cannot show all tabs.
  useEffect(() => {
    links.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  return (
    <nav ref={links} className={tabs['tabs']} aria-label="Shipment sections">
      {SHIPMENT_SECTIONS.map(({ to, label, count }) => {
        const number = count?.(shipment) ?? 0;
        return (
          <Link
            key={to}
            to={to}
            params={{ id: shipment.id }}
            activeOptions={{ exact: true, includeSearch: false }}
            resetScroll={false}
            className={`${tabs['tab']} ${classes['section']}`}
          >
            {label}
            {number > 0 && (
              <Badge size="sm" variant="light" color="gray" miw="max-content" autoContrast>
                {number}
              </Badge>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

/** Summary of the shipment: its status, arrival, exceptions and next events. */
function ShipmentSummaryCards() {
  const shipment = useShipmentOfPage();
  const isOverview = useMatchRoute()({ to: '/shipments/$id' }) !== false;
  return (
    <>
      <PageHeader
        title={getShipmentTitle(shipment)}
        beside={
          <>
            <ShipmentStatusBadge status={shipment.status} />
            <ConnectionBadge />
          </>
        }
        about={
          <>
            {shipment.mode !== null && `${TRANSPORT_MODE_LABELS[shipment.mode]} · `}
            <PlaceName code={shipment.origin_port} /> → <PlaceName code={shipment.destination_port} />
          </>
        }
        actions={<ShipmentActions />}
      />
      <div className={classes['cards']} data-elsewhere={!isOverview || undefined}>
        <ShipmentStatusCard />
        <ArrivalCard />
        <OpenExceptionsCard />
        <TitledCard title="Upcoming events">
          <UpcomingEventsList />
        </TitledCard>
      </div>
    </>
  );
}

function ShipmentStatusCard() {
  const { id, status, status_milestone_id } = useShipmentOfPage();
  const milestones = useQuery(milestonesQuery(useEnvironment(), id));
  const milestone = milestones.data?.find((each) => each.id === status_milestone_id);
  return (
    <TitledCard title="Status">
      <Text fw={600}>{SHIPMENT_STATUS_LABELS[status]}</Text>
      {milestone !== undefined && (
        <Text size="sm">
          <Link to="/shipments/$id/timeline" params={{ id }} search={{ milestone: milestone.id }} className="link">
            {milestone.label}
          </Link>
          {milestone.location !== null && (
            <>
              {' · '}
              <MilestoneLocationText name={milestone.location} />
            </>
          )}
          , <UserLocalTimeText value={milestone.occurred_at} />
        </Text>
      )}
      {status_milestone_id === null && (
        <Text size="sm" c="dimmed">
          {status === 'cancelled' ? 'Cancelled by a user or system' : 'No milestone has set the status yet'}
        </Text>
      )}
    </TitledCard>
  );
}

function ArrivalCard() {
  const shipment = useShipmentOfPage();
  const { eta, eta_precision, ata, original_eta, destination_port } = shipment;
  const zone = usePlaces([destination_port]).get(destination_port ?? '')?.timezone;
  const precision = ata === null ? eta_precision : 'time';
  return (
    <TitledCard title={ata === null ? 'Estimated arrival' : 'Arrived'}>
      <Text fw={600} component="div">
        <PlaceTimeText value={ata ?? eta} zone={zone} precision={precision} />
      </Text>
      {original_eta !== null && (
        <OriginalEtaText shipment={{ ...shipment, eta: ata ?? eta, eta_precision: precision }} zone={zone} />
      )}
      {eta === null && ata === null && (
        <Text size="sm" c="dimmed">
          No ETA
        </Text>
      )}
    </TitledCard>
  );
}

interface OriginalEtaProps {
  /** The shipment. After the arrival, its `eta` is the actual time. */
  readonly shipment: Shipment;
  readonly zone: string | null | undefined;
}

function OriginalEtaText({ shipment, zone }: OriginalEtaProps) {
  const { original_eta, original_eta_precision } = shipment;
  const slip = calculateEtaDelayHours(shipment);
  return (
    <Text size="sm" component="div">
      Original ETA{' '}
      {original_eta_precision === 'day' ? (
        <PlaceTimeText value={original_eta} zone={zone} precision="day" />
      ) : (
        <UserLocalTimeText value={original_eta} />
      )}{' '}
      <Text span inherit fw={600} className={getSlipClass(slip)}>
        {slip === undefined || slip === 0 ? 'on time' : formatDelay(slip)}
      </Text>
    </Text>
  );
}

function getSlipClass(slip: number | undefined): string {
  return slip !== undefined && slip > 0 ? 'late' : 'early';
}

function OpenExceptionsCard() {
  const { id, open_exceptions_count } = useShipmentOfPage();
  const exceptions = useQuery({
    ...versionedExceptionsQuery(useEnvironment(), id),
    enabled: open_exceptions_count > 0,
  });
  const open = (exceptions.data?.thing ?? []).filter(({ status }) => status !== 'resolved');
  return (
    <TitledCard title="Open exceptions">
      {open_exceptions_count === 0 && <Text size="sm">No open exceptions</Text>}
      {open_exceptions_count > 0 && open.length === 0 && (
        <Text size="sm">{`${open_exceptions_count} open exception${open_exceptions_count === 1 ? '' : 's'}`}</Text>
      )}
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
          {open.length > 4 && <li>{`and ${open.length - 4} more`}</li>}
        </ul>
      )}
    </TitledCard>
  );
}

const MAX_SHOWN_UPCOMING_EVENTS = 4;

function UpcomingEventsList() {
  const [shipment, environment] = [useShipmentOfPage(), useEnvironment()];
  const milestones = useQuery(milestonesQuery(environment, shipment.id));
  const explanation = useQuery(explanationQuery(environment, shipment.id));
  // The list is updated every minute, because an event may become overdue while the page is open.
  const [now, setNow] = useState(() => Date.now());
  useInterval(() => setNow(Date.now()), 60_000, { autoInvoke: true });
  const ports = usePlaces(shipment.legs.flatMap((leg) => [leg.origin_port, leg.destination_port]));
  const zoneOf = (port: string | null) => ports.get(port ?? '')?.timezone;
  const known = { shipment, milestones: milestones.data ?? [], explanation: explanation.data, zoneOf, now };
  const next = listUpcomingShipmentEvents(known);
  if (next.length === 0) return <Text size="sm">{describeNoUpcomingEvents(shipment.status)}</Text>;
  return (
    <ul className={classes['list']}>
      {next.slice(0, MAX_SHOWN_UPCOMING_EVENTS).map((each) => (
        <NextShipmentEventListItem key={[each.label, each.at, each.place, each.container].join(' ')} next={each} />
      ))}
      {next.length > MAX_SHOWN_UPCOMING_EVENTS && <li>{`and ${next.length - MAX_SHOWN_UPCOMING_EVENTS} more`}</li>}
    </ul>
  );
}

function NextShipmentEventListItem({
  next: { label, at, isDay, place, container, isOverdue },
}: {
  readonly next: ExpectedShipmentEvent;
}) {
  return (
    <li>
      {label}
      {place !== null && (
        <>
          {' '}
          · <MilestoneLocationText name={place} />
        </>
      )}
      {container !== null && ` · ${container}`},{' '}
      {isDay ? <CalendarDateText date={at} /> : <UserLocalTimeText value={at} />}
      {isOverdue && (
        <Text span inherit fw={600} className="late">
          {' Overdue'}
        </Text>
      )}
    </li>
  );
}

function describeNoUpcomingEvents(status: Shipment['status']): string {
  return ENDED_SHIPMENT_STATUSES.includes(status)
    ? 'No upcoming events. The shipment has ended.'
    : 'No upcoming events';
}
