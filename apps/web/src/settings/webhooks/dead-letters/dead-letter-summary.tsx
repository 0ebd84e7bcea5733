import { Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WebhookDeadLetterSummary } from '@tracking/client';
import { useEnvironment } from '../../../session/session.ts';
import { eventLabel } from '../../../values/event-types.ts';
import { endpointsQuery } from '../webhook-queries.ts';
import { reasonLabel } from '../webhook-words.ts';
import type { DeadLetterSearch } from './dead-letter-search.ts';
import classes from './dead-letter-summary.module.css';

interface Props {
  readonly summary: WebhookDeadLetterSummary;
  readonly search: DeadLetterSearch;
  readonly onChange: (search: DeadLetterSearch) => void;
}

interface Kind {
  readonly label: string;
  readonly count: number;
  readonly isExact: boolean;
  /** Absent where they cannot be asked for alone. */
  readonly narrowed?: DeadLetterSearch;
}

/** How many there are of each kind; each is a way to see those alone. */
export function DeadLetterSummary({ summary, search, onChange }: Props) {
  const endpoints = useQuery(endpointsQuery(useEnvironment()));
  const nameOf = (id: string) => {
    const endpoint = endpoints.data?.find((each) => each.id === id);
    return endpoint?.description ?? endpoint?.url ?? `${id} (deleted)`;
  };
  const parts: readonly (readonly [string, readonly Kind[]])[] = [
    [
      'By reason',
      summary.by_reason.map(({ reason, count, is_exact }) => ({
        ...{ label: reasonLabel(reason), count, isExact: is_exact },
        ...(reason !== 'unknown' && { narrowed: { reason } }),
      })),
    ],
    [
      'By endpoint',
      summary.by_endpoint.map(({ endpoint_id, count, is_exact }) => ({
        ...{ label: nameOf(endpoint_id), count, isExact: is_exact, narrowed: { endpoint_id } },
      })),
    ],
    [
      'By event type',
      summary.by_event_type.map(({ event_type, count, is_exact }) => ({
        ...{ label: eventLabel(event_type), count, isExact: is_exact, narrowed: { event_type } },
      })),
    ],
  ];
  return (
    <div className={classes['parts']}>
      {parts.map(([title, kinds]) => (
        <Paper key={title} withBorder p="sm" component="section" aria-label={title}>
          <Stack gap={4}>
            <Title order={2} size="h6">
              {title}
            </Title>
            {kinds.map(({ label, count, isExact, narrowed }) => (
              <UnstyledButton
                key={label}
                className={classes['kind']}
                disabled={narrowed === undefined}
                onClick={() => onChange({ ...search, ...narrowed })}
              >
                <Group justify="space-between" wrap="nowrap" gap="sm">
                  <Text span size="sm" truncate>
                    {label}
                  </Text>
                  <Text span size="sm" fw={600}>
                    {countLabel(count, isExact)}
                  </Text>
                </Group>
              </UnstyledButton>
            ))}
          </Stack>
        </Paper>
      ))}
    </div>
  );
}

/** For certain: where not all were counted, there may be some. */
export function isNone({ count, is_exact }: Pick<WebhookDeadLetterSummary, 'count' | 'is_exact'>): boolean {
  return count === 0 && is_exact;
}

export function countLabel(count: number, isExact: boolean): string {
  return isExact ? String(count) : `${count} or more`;
}
