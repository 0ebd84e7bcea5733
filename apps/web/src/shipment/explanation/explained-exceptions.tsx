import { Badge, Stack, Text } from '@mantine/core';
import { EXCEPTION_LABELS } from '../../exceptions/exception-labels.ts';
import { Time, withTimes } from '../../values/time.tsx';
import { MilestoneLink } from './milestone-link.tsx';
import { type CodeLabels, resolvedByLabel } from './resolved-by.ts';
import type { ExplainedException } from './rules.ts';

const STATUSES: Readonly<Record<ExplainedException['status'], string>> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  expected: 'Will open',
  suppressed: 'Kept resolved by a person',
};

interface Props {
  readonly exceptions: readonly ExplainedException[];
  readonly labels: CodeLabels;
}

export function ExplainedExceptions({ exceptions, labels }: Props) {
  return (
    <Stack gap="md">
      {exceptions.map((exception, index) => (
        <Explained key={exception.exception_id ?? index} exception={exception} labels={labels} />
      ))}
    </Stack>
  );
}

function Explained({ exception, labels }: { readonly exception: ExplainedException; readonly labels: CodeLabels }) {
  const { type, status, because, opens_at, container_number, milestone_id, resolved_by } = exception;
  const isExpected = status === 'expected';
  return (
    <div>
      <Text size="sm" fw={600} component="div">
        {EXCEPTION_LABELS[type]}
        {container_number !== null && ` · ${container_number}`}{' '}
        <Badge variant="light" color={isExpected ? 'gray' : 'orange'} tt="none" autoContrast>
          {STATUSES[status]}
        </Badge>
      </Text>
      {because !== null && <Text size="sm">{withTimes(because)}</Text>}
      {isExpected && (
        <Text size="sm" component="div">
          {opens_at === null ? (
            'It opens with the next write.'
          ) : (
            <>
              It opens on <Time value={opens_at} />.
            </>
          )}
        </Text>
      )}
      {milestone_id !== null && (
        <Text size="sm" component="div">
          <MilestoneLink id={milestone_id} label="The milestone that showed it" />
        </Text>
      )}
      {resolved_by.length > 0 && (
        <Text size="sm" c="dimmed" component="div">
          {isExpected ? 'Each of these keeps it from opening:' : 'Each of these resolves it:'}
          <ul>
            {resolved_by.map((way, index) => (
              <li key={index}>
                {resolvedByLabel(way, labels)}
                {way.occurred_from !== null && (
                  <>
                    , not before <Time value={way.occurred_from} />
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
