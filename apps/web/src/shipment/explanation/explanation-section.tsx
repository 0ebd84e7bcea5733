import { Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Waiting } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { statusLabel } from '../../shipments/shipment-facts.tsx';
import { Time } from '../../values/time.tsx';
import { Card } from '../card.tsx';
import { useShipment } from '../current-shipment.ts';
import { milestoneCodesQuery } from '../milestone/milestone-codes.ts';
import { explanationQuery } from '../shipment-queries.ts';
import { ExplainedExceptions } from './explained-exceptions.tsx';
import { ExplainedMilestones } from './explained-milestones.tsx';
import { MilestoneLink } from './milestone-link.tsx';
import { type Explanation, STATUS_RULE_LABELS, TIME_RULE_LABELS, fieldLabel } from './rules.ts';

/** Why status, times and exceptions are what they are, in words. */
export function ExplanationSection() {
  const environment = useEnvironment();
  const explanation = useQuery(explanationQuery(environment, useShipment().id));
  const codes = useQuery(milestoneCodesQuery(environment));
  const labels = new Map((codes.data ?? []).map(({ code, label }) => [code as string, label]));
  return (
    <Waiting query={explanation} what="the explanation">
      {(explained) => (
        <Stack gap="sm">
          <Card title="Status and times">
            <Values explained={explained} labels={labels} />
          </Card>
          {explained.exceptions.length > 0 && (
            <Card title="Exceptions: those that are open, and those that will be">
              <ExplainedExceptions exceptions={explained.exceptions} labels={labels} />
            </Card>
          )}
          {explained.milestones.length > 0 && (
            <Card title="What each milestone does">
              <ExplainedMilestones milestones={explained.milestones} labels={labels} />
            </Card>
          )}
        </Stack>
      )}
    </Waiting>
  );
}

interface ValuesProps {
  readonly explained: Explanation;
  readonly labels: ReadonlyMap<string, string>;
}

function Values({ explained, labels }: ValuesProps) {
  const { status, containers, milestones } = explained;
  const behind = (id: string | null) => milestones.find(({ milestone_id }) => milestone_id === id);
  const link = (id: string | null) => {
    const milestone = behind(id);
    return (
      milestone && <MilestoneLink id={milestone.milestone_id} label={labels.get(milestone.code) ?? milestone.code} />
    );
  };
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            <Table.Th>Is</Table.Th>
            <Table.Th>Because</Table.Th>
            <Table.Th>Milestone</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">Status</Table.Th>
            <Table.Td>{statusLabel(status.value)}</Table.Td>
            <Table.Td>{STATUS_RULE_LABELS[status.rule]}</Table.Td>
            <Table.Td>{link(status.milestone_id)}</Table.Td>
          </Table.Tr>
          {(['etd', 'atd', 'eta', 'ata'] as const).map((field) => (
            <Table.Tr key={field}>
              <Table.Th scope="row">{fieldLabel(field)}</Table.Th>
              <Table.Td>
                <Time value={explained[field].value} />
              </Table.Td>
              <Table.Td>{TIME_RULE_LABELS[explained[field].rule]}</Table.Td>
              <Table.Td>{link(explained[field].milestone_id)}</Table.Td>
            </Table.Tr>
          ))}
          {containers.map(({ number, status: { value, rule, milestone_id } }) => (
            <Table.Tr key={number}>
              <Table.Th scope="row">{number}</Table.Th>
              <Table.Td>{statusLabel(value)}</Table.Td>
              <Table.Td>{STATUS_RULE_LABELS[rule]}</Table.Td>
              <Table.Td>{link(milestone_id)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
