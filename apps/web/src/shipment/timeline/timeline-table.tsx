import { Badge, Button, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Milestone } from '@tracking/client';
import { useState } from 'react';
import { PlaceTime, PlaceOrText, usePlaces } from '../../values/place.tsx';
import { slipLabel } from '../../shipments/shipment-facts.tsx';
import { useShipment } from '../current-shipment.ts';
import { SOURCE_LABELS } from '../milestone-labels.ts';
import { type TimelineRow, slipOf, stands } from './timeline-rows.ts';
import classes from './timeline-table.module.css';

/** Rows that are shown before somebody asks for more. */
const FIRST = 200;

export function TimelineTable({ rows }: { readonly rows: readonly TimelineRow[] }) {
  const [most, setMost] = useState(FIRST);
  const places = usePlaces(rows.map(({ location }) => location));
  const { container_numbers } = useShipment();
  const hasContainers = container_numbers.length > 1 || rows.some(({ container }) => container !== null);
  return (
    <>
      <Table className={classes['timeline']} aria-label="Timeline">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What and where</Table.Th>
            {hasContainers && <Table.Th>Container</Table.Th>}
            <Table.Th>Planned</Table.Th>
            <Table.Th>Estimated</Table.Th>
            <Table.Th>Actual</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, most).map((row) => {
            const zone = row.zone ?? places.get(row.location ?? '')?.timezone;
            return (
              <Table.Tr key={row.key} data-happened={row.actual.some(stands) || undefined}>
                <Table.Th scope="row" className={classes['what']}>
                  {row.label}
                  <Text size="xs" c="dimmed" component="div">
                    <PlaceOrText name={row.location} />
                  </Text>
                </Table.Th>
                {hasContainers && <Table.Td data-label="Container">{row.container ?? 'All'}</Table.Td>}
                <Said data-label="Planned" milestones={row.planned} zone={zone} />
                <Said data-label="Estimated" milestones={row.estimated} zone={zone} />
                <Said data-label="Actual" milestones={row.actual} zone={zone} slip={slipOf(row)} />
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {rows.length > most && (
        <Button variant="default" onClick={() => setMost(most + FIRST)}>
          Show {Math.min(FIRST, rows.length - most)} more of {rows.length}
        </Button>
      )}
    </>
  );
}

interface SaidProps {
  readonly 'data-label': string;
  readonly milestones: readonly Milestone[];
  readonly zone: string | null | undefined;
  /** Hours after the plan. */
  readonly slip?: number | undefined;
}

function Said({ milestones, zone, slip, ...cell }: SaidProps) {
  return (
    <Table.Td {...cell} data-empty={milestones.length === 0 || undefined}>
      {milestones.map((milestone) => (
        <div key={milestone.id} className={classes['said']} data-past={!stands(milestone) || undefined}>
          <Link
            to="/shipments/$id/timeline"
            params={{ id: milestone.shipment_id }}
            search={(now) => ({ ...now, milestone: milestone.id })}
            resetScroll={false}
            className={classes['open']}
            aria-label={`${milestone.label}, ${milestone.classifier}: look at it`}
          >
            <PlaceTime value={milestone.occurred_at} zone={milestone.timezone ?? zone} />
          </Link>
          <Text size="xs" c="dimmed" component="span">
            {SOURCE_LABELS[milestone.source]}
          </Text>
          <Marks milestone={milestone} />
        </div>
      ))}
      {slip !== undefined && slip !== 0 && (
        <Text size="xs" fw={600} className={slip > 0 ? 'late' : 'early'}>
          {slipLabel(slip)} to the plan
        </Text>
      )}
    </Table.Td>
  );
}

/** What became of it since it was recorded. */
function Marks({ milestone }: { readonly milestone: Milestone }) {
  const mark = markOf(milestone);
  if (mark === undefined) return null;
  return (
    <Badge size="xs" variant="light" color="gray" tt="none" autoContrast>
      {mark}
    </Badge>
  );
}

function markOf({ retracted_at, superseded_at, revision }: Milestone): string | undefined {
  if (retracted_at !== null) return 'retracted';
  if (superseded_at !== null) return 'replaced';
  return revision > 1 ? 'corrected' : undefined;
}
