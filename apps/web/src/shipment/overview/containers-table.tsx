import { ActionIcon, Badge, Loader, Modal, Table, Text, VisuallyHidden } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { createLazyComponentWithImportRetry } from '../../app/lazy.tsx';
import { PermissionGuardedButton } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { ShipmentStatusBadge } from '../../shipments/shipment-facts.tsx';
import { MilestoneLocationText, usePlaces } from '../../values/place.tsx';
import { CalendarDateText, UserLocalTimeText } from '../../values/time.tsx';
import { getDateInZone } from '../../values/zones.ts';
import { milestonesQuery, useShipmentOfPage } from '../shipment-queries.ts';
import {
  type Container,
  type FreeTimeWithDaysLeft,
  extractFreeTimeFacts,
  formatFreeTime,
  calculateFreeTime,
} from './overview-values.ts';

/** The code of the form is loaded when the form is opened. */
const LazyEditContainer = createLazyComponentWithImportRetry(() => import('./edit-container.tsx'));

const FREE_TIME_LABELS = { demurrage: 'Free time at the terminal', detention: 'Free time until empty return' } as const;

/** Table of the containers of a shipment, sorted by the end of their free time. */
export function ContainersTable() {
  const [shipment, environment] = [useShipmentOfPage(), useEnvironment()];
  const { id, containers, destination_port } = shipment;
  const { data: milestones = [] } = useQuery(milestonesQuery(environment, id));
  const [edited, setEdited] = useState<string>();
  const zone = usePlaces([destination_port]).get(destination_port ?? '')?.timezone ?? 'UTC';
  const today = getDateInZone(new Date().toISOString(), zone);
  if (containers.length === 0) return <Text size="sm">No containers</Text>;
  const facts = extractFreeTimeFacts(shipment, milestones);
  const rows = containers
    .map((container) => ({ container, free: calculateFreeTime(container, facts, today) }))
    .toSorted((a, b) => compareDaysLeft(a.free?.daysLeft ?? Infinity, b.free?.daysLeft ?? Infinity));
  const close = () => setEdited(undefined);
  return (
    <>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Container</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Free time</Table.Th>
              <Table.Th>Last milestone</Table.Th>
              <Table.Th>Size and seal</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ container, free }) => (
              <Table.Tr key={container.number}>
                <Table.Td>
                  <Link
                    to="/shipments/$id/timeline"
                    params={{ id }}
                    search={{ container: container.number }}
                    className="link"
                  >
                    {container.number}
                  </Link>
                  {container.valid_check_digit === false && (
                    <Text size="xs" className="late">
                      Invalid check digit
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <ShipmentStatusBadge status={container.status} />
                </Table.Td>
                <Table.Td>
                  <FreeTimeCell container={container} free={free} />
                </Table.Td>
                <Table.Td>
                  <LastMilestoneOfContainerText container={container} />
                </Table.Td>
                <Table.Td>
                  {container.size_type ?? '—'}
                  <Text size="xs" c="dimmed">
                    {container.seal_number}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <PermissionGuardedButton permission="shipments:write">
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={`Edit container ${container.number}`}
                      onClick={() => setEdited(container.number)}
                    >
                      <IconPencil size={18} />
                    </ActionIcon>
                  </PermissionGuardedButton>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={`Container ${edited ?? ''}`}
        closeOnClickOutside={false}
      >
        <Suspense fallback={<Loader aria-label="Loading the form" />}>
          {edited !== undefined && <LazyEditContainer number={edited} onClose={close} />}
        </Suspense>
      </Modal>
    </>
  );
}

function compareDaysLeft(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

function FreeTimeCell({
  container,
  free,
}: {
  readonly container: Container;
  readonly free: FreeTimeWithDaysLeft | null;
}) {
  if (free === null) return <>{container.empty_returned_at === null ? '—' : 'returned empty'}</>;
  const color = free.daysLeft < 0 ? 'red' : free.daysLeft <= 2 ? 'orange' : 'gray';
  return (
    <>
      <Badge color={color} variant="light" tt="none" autoContrast>
        {formatFreeTime(free)}
      </Badge>
      <Text size="xs" c="dimmed">
        {FREE_TIME_LABELS[free.kind]}, <CalendarDateText date={free.until} />
      </Text>
    </>
  );
}

function LastMilestoneOfContainerText({ container: { last_milestone } }: { readonly container: Container }) {
  if (last_milestone === null) return <>—</>;
  return (
    <>
      {last_milestone.label}
      <Text size="xs" c="dimmed" component="div">
        <MilestoneLocationText name={last_milestone.location} />,{' '}
        <UserLocalTimeText value={last_milestone.occurred_at} />
      </Text>
    </>
  );
}
