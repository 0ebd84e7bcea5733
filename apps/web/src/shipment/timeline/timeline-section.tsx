import { Alert, Badge, Button, Drawer, Group, Stack, Switch, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Milestone } from '@tracking/client';
import { useState } from 'react';
import { LazySelect, createOnDemandComponent } from '../../app/lazy.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { formatDelay } from '../../shipments/shipment-facts.tsx';
import { MilestoneLocationText, MilestoneTimeText, usePlaces } from '../../values/place.tsx';
import { DATA_SOURCE_LABELS } from '../labels.ts';
import { type TimelineUrlParameters, milestonesQuery, useShipmentOfPage } from '../shipment-queries.ts';
import { type TimelineRowData, calculateDelayHours, isMilestoneInEffect, buildTimelineRows } from './timeline-rows.ts';
import classes from './timeline-section.module.css';

const LazyMilestoneDetails = createOnDemandComponent(
  async () => (await import('../milestone/milestone-details.tsx')).MilestoneDetailsPanel,
);

/**
 * Section with the planned, estimated and actual milestones in order of time. The page URL contains the id of the
 * opened milestone.
 */
export function TimelineSection() {
  const shipment = useShipmentOfPage();
  const search = useSearch({ from: '/signed-in/shipments/$id/timeline' });
  const navigate = useNavigate({ from: '/shipments/$id/timeline' });
  const change = (changes: TimelineUrlParameters, replace = true) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace, resetScroll: false });
  const milestones = useQuery(milestonesQuery(useEnvironment(), shipment.id));
  return (
    <Stack gap="sm">
      <Group align="end">
        <LazySelect
          label="Container"
          placeholder="All containers"
          data={shipment.container_numbers}
          value={search.container ?? null}
          onChange={(container) => change({ container: container ?? undefined })}
          clearable
          searchable
          disabled={shipment.container_numbers.length === 0}
        />
        <Switch
          label="Show replaced and retracted milestones"
          checked={search.past ?? false}
          onChange={(event) => change({ past: event.currentTarget.checked || undefined })}
          mb={8}
        />
      </Group>
      <QueryResultPanel query={milestones} what="the timeline">
        {(all) => (
          <>
            <FilteredTimelineTable all={all} search={search} />
            <Drawer
              opened={search.milestone !== undefined}
              onClose={() => change({ milestone: undefined })}
              position="right"
              size="md"
              title="Milestone details"
              closeButtonProps={{ 'aria-label': 'Close milestone details' }}
            >
              <OpenedMilestoneDetails milestone={all.find(({ id }) => id === search.milestone)} />
            </Drawer>
          </>
        )}
      </QueryResultPanel>
    </Stack>
  );
}

function FilteredTimelineTable({
  all,
  search,
}: {
  readonly all: readonly Milestone[];
  readonly search: TimelineUrlParameters;
}) {
  const rows = buildTimelineRows(all, { container: search.container, past: search.past ?? false });
  if (rows.length > 0) return <TimelineTable rows={rows} />;
  return (
    <Alert title={all.some(isMilestoneInEffect) ? 'No milestones for this container' : 'No milestones yet'}>
      Milestones appear here when a system sends them or a user records them.
    </Alert>
  );
}

function OpenedMilestoneDetails({ milestone }: { readonly milestone: Milestone | undefined }) {
  if (milestone === undefined) return <Alert title="Milestone not found on this shipment" color="yellow" />;
  return <LazyMilestoneDetails milestone={milestone} key={milestone.id} />;
}

/** Number of rows that one click on "Show more" adds. */
const ROWS_PER_CLICK = 200;

function TimelineTable({ rows }: { readonly rows: readonly TimelineRowData[] }) {
  const [limit, setLimit] = useState(ROWS_PER_CLICK);
  const nextCount = Math.min(ROWS_PER_CLICK, rows.length - limit);
  const places = usePlaces(rows.map(({ location }) => location));
  const { container_numbers } = useShipmentOfPage();
  const hasContainers = container_numbers.length > 1 || rows.some(({ container }) => container !== null);
  return (
    <>
      <Table className={classes['timeline']} aria-label="Timeline">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Milestone and place</Table.Th>
            {hasContainers && <Table.Th>Container</Table.Th>}
            <Table.Th>Planned</Table.Th>
            <Table.Th>Estimated</Table.Th>
            <Table.Th>Actual</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, limit).map((row) => {
            const zone = row.zone ?? places.get(row.location ?? '')?.timezone;
            return (
              <Table.Tr key={row.key} data-happened={row.actual.some(isMilestoneInEffect) || undefined}>
                <Table.Th scope="row" className={classes['what']}>
                  {row.label}
                  <Text size="xs" c="dimmed" component="div">
                    <MilestoneLocationText name={row.location} />
                  </Text>
                </Table.Th>
                {hasContainers && <Table.Td data-label="Container">{row.container ?? 'All containers'}</Table.Td>}
                <MilestoneCell data-label="Planned" milestones={row.planned} zone={zone} />
                <MilestoneCell data-label="Estimated" milestones={row.estimated} zone={zone} />
                <MilestoneCell
                  data-label="Actual"
                  milestones={row.actual}
                  zone={zone}
                  slip={calculateDelayHours(row)}
                />
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {rows.length > limit && (
        <Button variant="default" onClick={() => setLimit(limit + ROWS_PER_CLICK)}>
          {`Show ${nextCount} more milestones of ${rows.length}`}
        </Button>
      )}
    </>
  );
}

interface MilestoneCellProps {
  readonly 'data-label': string;
  readonly milestones: readonly Milestone[];
  readonly zone: string | null | undefined;
  /** Number of hours by which the milestone is later than planned. */
  readonly slip?: number | undefined;
}

function MilestoneCell({ milestones, zone, slip, ...cell }: MilestoneCellProps) {
  return (
    <Table.Td {...cell} data-empty={milestones.length === 0 || undefined}>
      {milestones.map((milestone) => (
        <div key={milestone.id} className={classes['said']} data-past={!isMilestoneInEffect(milestone) || undefined}>
          <Link
            to="/shipments/$id/timeline"
            params={{ id: milestone.shipment_id }}
            search={(now) => ({ ...now, milestone: milestone.id })}
            resetScroll={false}
            className={classes['open']}
            aria-label={`Open ${milestone.label} (${milestone.classifier})`}
          >
            <MilestoneTimeText milestone={milestone} zone={zone} />
          </Link>
          <Text size="xs" c="dimmed" component="span">
            {DATA_SOURCE_LABELS[milestone.source]}
          </Text>
          <MilestoneCorrectionBadge milestone={milestone} />
        </div>
      ))}
      {slip !== undefined && slip !== 0 && (
        <Text size="xs" fw={600} className={slip > 0 ? 'late' : 'early'}>
          {`${formatDelay(slip)} against the plan`}
        </Text>
      )}
    </Table.Td>
  );
}

/** Badge that marks a corrected, retracted or replaced milestone. */
function MilestoneCorrectionBadge({ milestone }: { readonly milestone: Milestone }) {
  const mark = getMilestoneBadgeText(milestone);
  if (mark === undefined) return null;
  return (
    <Badge size="xs" variant="light" color="gray" tt="none" autoContrast>
      {mark}
    </Badge>
  );
}

function getMilestoneBadgeText({ retracted_at, superseded_at, revision }: Milestone): string | undefined {
  if (retracted_at !== null) return 'retracted';
  if (superseded_at !== null) return 'replaced';
  return revision > 1 ? 'corrected' : undefined;
}
