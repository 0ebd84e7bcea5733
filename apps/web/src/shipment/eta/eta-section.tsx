import { Alert, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { createLazyComponentWithImportRetry } from '../../app/lazy.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { formatDelay } from '../../shipments/shipment-facts.tsx';
import { PlaceTimeText, usePlaces } from '../../values/place.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import { DATA_SOURCE_LABELS, getReasonLabel } from '../labels.ts';
import { TitledCard } from '../parts.tsx';
import { type EtaChange, etaHistoryQuery, useShipmentOfPage } from '../shipment-queries.ts';

/** The code of the chart library is loaded when a chart is first shown. */
const LazyEtaChart = createLazyComponentWithImportRetry(() => import('./eta-chart.tsx'));

/** Section with the history of the ETA, as a chart and as a table. */
export function EtaSection() {
  const history = useQuery(etaHistoryQuery(useEnvironment(), useShipmentOfPage().id));
  return (
    <QueryResultPanel query={history} what="the ETA history">
      {(changes) =>
        changes.length === 0 ? (
          <Alert title="No ETA yet">Each change of the estimated arrival appears here with its source.</Alert>
        ) : (
          <Stack gap="sm">
            {changes.length > 1 && (
              <TitledCard title="Estimated arrival over time">
                <Suspense fallback={<Skeleton height={260} />}>
                  <LazyEtaChart changes={changes} />
                </Suspense>
              </TitledCard>
            )}
            <EtaChangesTable changes={changes} />
          </Stack>
        )
      }
    </QueryResultPanel>
  );
}

function EtaChangesTable({ changes }: { readonly changes: readonly EtaChange[] }) {
  const { id, destination_port } = useShipmentOfPage();
  const zone = usePlaces([destination_port]).get(destination_port ?? '')?.timezone;
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table aria-label="ETA history">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Report time</Table.Th>
            <Table.Th>Estimated arrival</Table.Th>
            <Table.Th>Change of the ETA</Table.Th>
            <Table.Th>Source</Table.Th>
            <Table.Th>Reason</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ reported_at, eta, eta_precision, slip_hours, source, milestone_id, reason_code }, index) => (
            <Table.Tr key={`${reported_at} ${index}`}>
              <Table.Td>
                <UserLocalTimeText value={reported_at} />
              </Table.Td>
              <Table.Td>
                <PlaceTimeText value={eta} zone={zone} precision={eta_precision} />
              </Table.Td>
              <Table.Td>
                <EtaSlipText hours={slip_hours} />
              </Table.Td>
              <Table.Td>
                {milestone_id === null ? (
                  DATA_SOURCE_LABELS[source]
                ) : (
                  <Link
                    to="/shipments/$id/timeline"
                    params={{ id }}
                    search={{ milestone: milestone_id }}
                    className="link"
                  >
                    {DATA_SOURCE_LABELS[source]}
                  </Link>
                )}
              </Table.Td>
              <Table.Td>{reason_code === null ? '—' : getReasonLabel(reason_code)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function EtaSlipText({ hours }: { readonly hours: number | null }) {
  if (hours === null) return <>—</>;
  return (
    <Text span inherit fw={600} className={hours > 0 ? 'late' : 'early'}>
      {formatDelay(Math.round(hours))}
    </Text>
  );
}
