import { Alert, Drawer, Group, Stack, Switch } from '@mantine/core';
import { LateSelect } from '../../app/late-selects.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Milestone } from '@tracking/client';
import { onDemand } from '../../app/lazy.tsx';
import { Waiting } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import { milestonesQuery } from '../shipment-queries.ts';
import { stands, timelineRows } from './timeline-rows.ts';
import type { TimelineSearch } from './timeline-search.ts';
import { TimelineTable } from './timeline-table.tsx';

const MilestoneDetails = onDemand(async () => (await import('../milestone/milestone-details.tsx')).MilestoneDetails);

/** What was planned, is expected and happened, step by step; what is looked at stands in the address. */
export function TimelineSection() {
  const shipment = useShipment();
  const search = useSearch({ from: '/signed-in/shipments/$id/timeline' });
  const navigate = useNavigate({ from: '/shipments/$id/timeline' });
  const change = (changes: TimelineSearch, replace = true) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace, resetScroll: false });
  const milestones = useQuery(milestonesQuery(useEnvironment(), shipment.id));
  return (
    <Stack gap="sm">
      <Group align="end">
        <LateSelect
          label="Container"
          placeholder="All"
          data={shipment.container_numbers}
          value={search.container ?? null}
          onChange={(container) => change({ container: container ?? undefined })}
          clearable
          searchable
          disabled={shipment.container_numbers.length === 0}
        />
        <Switch
          label="Replaced and retracted ones too"
          checked={search.past ?? false}
          onChange={(event) => change({ past: event.currentTarget.checked || undefined })}
          mb={8}
        />
      </Group>
      <Waiting query={milestones} what="the timeline">
        {(all) => (
          <>
            <Steps all={all} search={search} />
            <Drawer
              opened={search.milestone !== undefined}
              onClose={() => change({ milestone: undefined })}
              position="right"
              size="md"
              title="Milestone"
              closeButtonProps={{ 'aria-label': 'Close the milestone' }}
            >
              <Looked milestone={all.find(({ id }) => id === search.milestone)} />
            </Drawer>
          </>
        )}
      </Waiting>
    </Stack>
  );
}

function Steps({ all, search }: { readonly all: readonly Milestone[]; readonly search: TimelineSearch }) {
  const rows = timelineRows(all, { container: search.container, past: search.past ?? false });
  if (rows.length > 0) return <TimelineTable rows={rows} />;
  return (
    <Alert title={all.some(stands) ? 'Nothing of this container' : 'Nothing has been recorded yet'}>
      Milestones appear here as soon as a system sends them, or somebody records one.
    </Alert>
  );
}

function Looked({ milestone }: { readonly milestone: Milestone | undefined }) {
  if (milestone === undefined) return <Alert title="There is no such milestone on this shipment" color="yellow" />;
  return <MilestoneDetails milestone={milestone} key={milestone.id} />;
}
