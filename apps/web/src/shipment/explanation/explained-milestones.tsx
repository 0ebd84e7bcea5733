import { Badge, Button, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { statusLabel } from '../../shipments/shipment-facts.tsx';
import { PlaceOrText } from '../../values/place.tsx';
import { Time } from '../../values/time.tsx';
import { CLASSIFIER_LABELS } from '../milestone-labels.ts';
import { MilestoneLink } from './milestone-link.tsx';
import {
  type ExplainedMilestone,
  MILESTONE_RULE_LABELS,
  type MilestoneResult,
  RESULT_LABELS,
  fieldLabel,
} from './rules.ts';

/** Rows that are shown before somebody asks for more. */
const FIRST = 100;
const COLORS: Readonly<Record<MilestoneResult, string>> = {
  counted: 'green',
  demoted: 'yellow',
  superseded: 'gray',
  ignored: 'gray',
};

interface Props {
  readonly milestones: readonly ExplainedMilestone[];
  readonly labels: ReadonlyMap<string, string>;
}

export function ExplainedMilestones({ milestones, labels }: Props) {
  const [most, setMost] = useState(FIRST);
  return (
    <>
      <Table.ScrollContainer minWidth={640}>
        <Table aria-label="What each milestone does">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Milestone</Table.Th>
              <Table.Th>When and where</Table.Th>
              <Table.Th>It</Table.Th>
              <Table.Th>Sets</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {milestones.slice(0, most).map((milestone) => (
              <Table.Tr key={milestone.milestone_id}>
                <Table.Td>
                  <MilestoneLink id={milestone.milestone_id} label={labels.get(milestone.code) ?? milestone.code} />
                  <Text size="xs" c="dimmed">
                    {[CLASSIFIER_LABELS[milestone.classifier], milestone.container_number].filter(Boolean).join(' · ')}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Time value={milestone.occurred_at} />
                  <Text size="xs" c="dimmed" component="div">
                    <PlaceOrText name={milestone.location} />
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Effect effect={milestone} />
                  {milestone.containers.map((effect) => (
                    <div key={effect.container_number}>
                      <Text size="xs" c="dimmed" span>
                        For {effect.container_number}:{' '}
                      </Text>
                      <Effect effect={effect} />
                    </div>
                  ))}
                </Table.Td>
                <Table.Td>{milestone.sets.map(fieldLabel).join(', ') || '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {milestones.length > most && (
        <Button variant="default" onClick={() => setMost(most + FIRST)}>
          Show {Math.min(FIRST, milestones.length - most)} more of {milestones.length}
        </Button>
      )}
    </>
  );
}

function Effect({ effect }: { readonly effect: Pick<ExplainedMilestone, 'result' | 'rule' | 'counts_as'> }) {
  const { result, rule, counts_as } = effect;
  return (
    <>
      <Badge variant="light" color={COLORS[result]} tt="none" autoContrast>
        {RESULT_LABELS[result]}
      </Badge>{' '}
      {counts_as !== null && `as ${statusLabel(counts_as).toLowerCase()}: `}
      {MILESTONE_RULE_LABELS[rule]}
    </>
  );
}
