import { Badge, Button, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { QueryResultPanel } from '../../app/page.tsx';
import { EXCEPTION_LABELS } from '../../exceptions/exception-labels.ts';
import { useEnvironment } from '../../session/session.ts';
import { getShipmentStatusLabel } from '../../shipments/shipment-facts.tsx';
import { MilestoneLocationText, usePlaces } from '../../values/place.tsx';
import { ExpectedTimeText, UserLocalTimeText, localizeTimesInText } from '../../values/time.tsx';
import { CLASSIFIER_LABELS } from '../labels.ts';
import { milestoneCodesQuery } from '../milestone/milestone-values.ts';
import { TitledCard } from '../parts.tsx';
import { explanationQuery, useShipmentOfPage } from '../shipment-queries.ts';
import {
  type CodeLabels,
  type ExplainedException,
  type ExplainedMilestone,
  type Explanation,
  MILESTONE_RULE_LABELS,
  type MilestoneResult,
  MILESTONE_STATUS_EFFECT_LABELS,
  STATUS_RULE_LABELS,
  TIME_RULE_LABELS,
  getFieldPathLabel,
  describeResolvingEvent,
} from './rules.ts';

/** Section that explains how the status, the times and the exceptions of the shipment were derived. */
export function ExplanationSection() {
  const environment = useEnvironment();
  const explanation = useQuery(explanationQuery(environment, useShipmentOfPage().id));
  const codes = useQuery(milestoneCodesQuery(environment));
  const labels = new Map((codes.data ?? []).map(({ code, label }) => [code as string, label]));
  return (
    <QueryResultPanel query={explanation} what="the explanation">
      {(explained) => (
        <Stack gap="sm">
          <TitledCard title="Status and times">
            <ExplainedValuesTable explained={explained} labels={labels} />
          </TitledCard>
          {explained.exceptions.length > 0 && (
            <TitledCard title="Open and expected exceptions">
              <ExplainedExceptionList exceptions={explained.exceptions} labels={labels} />
            </TitledCard>
          )}
          {explained.milestones.length > 0 && (
            <TitledCard title="Effect of each milestone">
              <ExplainedMilestonesTable milestones={explained.milestones} labels={labels} />
            </TitledCard>
          )}
        </Stack>
      )}
    </QueryResultPanel>
  );
}

interface ExplainedValuesProps {
  readonly explained: Explanation;
  readonly labels: ReadonlyMap<string, string>;
}

function ExplainedValuesTable({ explained, labels }: ExplainedValuesProps) {
  const { status, containers, milestones } = explained;
  const { origin_port, destination_port } = useShipmentOfPage();
  const places = usePlaces([origin_port, destination_port]);
  const ports = { etd: origin_port, atd: origin_port, eta: destination_port, ata: destination_port };
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
            <Table.Th>Field</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Reason</Table.Th>
            <Table.Th>Milestone</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">Status</Table.Th>
            <Table.Td>{getShipmentStatusLabel(status.value)}</Table.Td>
            <Table.Td>{STATUS_RULE_LABELS[status.rule]}</Table.Td>
            <Table.Td>{link(status.milestone_id)}</Table.Td>
          </Table.Tr>
          {(['etd', 'atd', 'eta', 'ata'] as const).map((field) => (
            <Table.Tr key={field}>
              <Table.Th scope="row">{getFieldPathLabel(field)}</Table.Th>
              <Table.Td>
                <ExpectedTimeText value={explained[field].value} zone={places.get(ports[field] ?? '')?.timezone} />
              </Table.Td>
              <Table.Td>{TIME_RULE_LABELS[explained[field].rule]}</Table.Td>
              <Table.Td>{link(explained[field].milestone_id)}</Table.Td>
            </Table.Tr>
          ))}
          {containers.map(({ number, status: { value, rule, milestone_id } }) => (
            <Table.Tr key={number}>
              <Table.Th scope="row">{number}</Table.Th>
              <Table.Td>{getShipmentStatusLabel(value)}</Table.Td>
              <Table.Td>{STATUS_RULE_LABELS[rule]}</Table.Td>
              <Table.Td>{link(milestone_id)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Number of rows that one click on "Show more" adds. */
const ROWS_PER_CLICK = 100;
const MILESTONE_RESULT_COLORS: Readonly<Record<MilestoneResult, string>> = {
  counted: 'green',
  demoted: 'yellow',
  superseded: 'gray',
  ignored: 'gray',
};

interface ExplainedMilestonesProps {
  readonly milestones: readonly ExplainedMilestone[];
  readonly labels: ReadonlyMap<string, string>;
}

function ExplainedMilestonesTable({ milestones, labels }: ExplainedMilestonesProps) {
  const [limit, setLimit] = useState(ROWS_PER_CLICK);
  const nextCount = Math.min(ROWS_PER_CLICK, milestones.length - limit);
  const shown = milestones.slice(0, limit);
  const places = usePlaces(shown.map(({ location }) => location));
  return (
    <>
      <Table.ScrollContainer minWidth={640}>
        <Table aria-label="Effect of each milestone">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Milestone</Table.Th>
              <Table.Th>Time and place</Table.Th>
              <Table.Th>Effect</Table.Th>
              <Table.Th>Updated fields</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((milestone) => (
              <Table.Tr key={milestone.milestone_id}>
                <Table.Td>
                  <MilestoneLink id={milestone.milestone_id} label={labels.get(milestone.code) ?? milestone.code} />
                  <Text size="xs" c="dimmed">
                    {[CLASSIFIER_LABELS[milestone.classifier], milestone.container_number].filter(Boolean).join(' · ')}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <ExpectedTimeText
                    value={milestone.occurred_at}
                    zone={places.get(milestone.location ?? '')?.timezone}
                  />
                  <Text size="xs" c="dimmed" component="div">
                    <MilestoneLocationText name={milestone.location} />
                  </Text>
                </Table.Td>
                <Table.Td>
                  <MilestoneEffectText effect={milestone} />
                  {milestone.containers.map((effect) => (
                    <div key={effect.container_number}>
                      <Text size="xs" c="dimmed" span>
                        {`Effect for container ${effect.container_number}: `}
                      </Text>
                      <MilestoneEffectText effect={effect} />
                    </div>
                  ))}
                </Table.Td>
                <Table.Td>{milestone.sets.map(getFieldPathLabel).join(', ') || '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {milestones.length > limit && (
        <Button variant="default" onClick={() => setLimit(limit + ROWS_PER_CLICK)}>
          {`Show ${nextCount} more milestones of ${milestones.length}`}
        </Button>
      )}
    </>
  );
}

function MilestoneEffectText({
  effect,
}: {
  readonly effect: Pick<ExplainedMilestone, 'result' | 'rule' | 'counts_as'>;
}) {
  const { result, rule, counts_as } = effect;
  return (
    <>
      <Badge variant="light" color={MILESTONE_RESULT_COLORS[result]} tt="none" autoContrast>
        {MILESTONE_STATUS_EFFECT_LABELS[result]}
      </Badge>{' '}
      {counts_as !== null && `as ${getShipmentStatusLabel(counts_as).toLowerCase()}: `}
      {MILESTONE_RULE_LABELS[rule]}
    </>
  );
}

const EXPLAINED_EXCEPTION_STATUS_LABELS: Readonly<Record<ExplainedException['status'], string>> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  expected: 'Expected',
  suppressed: 'Not reopened after a user resolved it',
};

interface ExplainedExceptionsProps {
  readonly exceptions: readonly ExplainedException[];
  readonly labels: CodeLabels;
}

function ExplainedExceptionList({ exceptions, labels }: ExplainedExceptionsProps) {
  return (
    <Stack gap="md">
      {exceptions.map((exception, index) => (
        <ExceptionExplanationListItem key={exception.exception_id ?? index} exception={exception} labels={labels} />
      ))}
    </Stack>
  );
}

function ExceptionExplanationListItem({
  exception,
  labels,
}: {
  readonly exception: ExplainedException;
  readonly labels: CodeLabels;
}) {
  const { type, status, because, opens_at, container_number, milestone_id, resolved_by } = exception;
  const isExpected = status === 'expected';
  return (
    <div>
      <Text size="sm" fw={600} component="div">
        {EXCEPTION_LABELS[type]}
        {container_number !== null && ` · ${container_number}`}{' '}
        <Badge variant="light" color={isExpected ? 'gray' : 'orange'} tt="none" autoContrast>
          {EXPLAINED_EXCEPTION_STATUS_LABELS[status]}
        </Badge>
      </Text>
      {because !== null && <Text size="sm">{localizeTimesInText(because)}</Text>}
      {isExpected && (
        <Text size="sm" component="div">
          {opens_at === null ? (
            'The exception opens with the next update of the shipment.'
          ) : (
            <>
              The exception opens at this time: <UserLocalTimeText value={opens_at} />
            </>
          )}
        </Text>
      )}
      {milestone_id !== null && (
        <Text size="sm" component="div">
          <MilestoneLink id={milestone_id} label="Milestone that caused the exception" />
        </Text>
      )}
      {resolved_by.length > 0 && (
        <Text size="sm" c="dimmed" component="div">
          {isExpected ? 'Each of these events prevents the exception:' : 'Each of these events resolves the exception:'}
          <ul>
            {resolved_by.map((way, index) => (
              <li key={index}>
                {describeResolvingEvent(way, labels)}
                {way.occurred_from !== null && (
                  <>
                    {' (earliest time: '}
                    <UserLocalTimeText value={way.occurred_from} />)
                  </>
                )}
              </li>
            ))}
          </ul>
        </Text>
      )}
    </div>
  );
}

/** Link to a milestone in the timeline of the shipment. */
function MilestoneLink({ id, label }: { readonly id: string; readonly label: string }) {
  const shipment = useShipmentOfPage();
  return (
    <Link to="/shipments/$id/timeline" params={{ id: shipment.id }} search={{ milestone: id }} className="link">
      {label}
    </Link>
  );
}
