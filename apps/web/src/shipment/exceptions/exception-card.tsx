import { Badge, Button, Collapse, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useState } from 'react';
import { Waiting } from '../../app/page.tsx';
import { EXCEPTION_LABELS, EXCEPTION_STATUS_LABELS, RESOLUTION_LABELS } from '../../exceptions/exception-labels.ts';
import { SeverityBadge } from '../../shipments/shipment-facts.tsx';
import { useEnvironment, useMay } from '../../session/session.ts';
import { Time, withTimes } from '../../values/time.tsx';
import { useActorName } from '../history/history-queries.ts';
import { told, whoOf } from '../history/history-sentences.ts';
import { exceptionStoryQuery } from './exception-queries.ts';
import classes from './exceptions-section.module.css';
import type { Dealing } from './use-dealing.ts';

interface Props {
  readonly exception: ShipmentException;
  readonly onDeal: (kind: Dealing['kind']) => void;
}

export function ExceptionCard({ exception, onDeal }: Props) {
  const { title, type, severity, status, container_number, detail, assignee, opened_at, detected_by } = exception;
  const isOver = status === 'resolved';
  return (
    <Paper withBorder p="sm" component="article" aria-label={title}>
      <Stack gap={6}>
        <Group gap="xs">
          <SeverityBadge severity={severity} />
          <Title order={3} size="h6">
            {title}
          </Title>
          {title !== EXCEPTION_LABELS[type] && (
            <Text size="xs" c="dimmed">
              {EXCEPTION_LABELS[type]}
            </Text>
          )}
          {container_number !== null && <Badge variant="default">{container_number}</Badge>}
          {status !== 'open' && (
            <Badge color={isOver ? 'green' : 'blue'} variant="light" tt="none" autoContrast>
              {EXCEPTION_STATUS_LABELS[status]}
            </Badge>
          )}
        </Group>
        {detail !== null && <Text size="sm">{withTimes(detail)}</Text>}
        <Text size="xs" c="dimmed">
          Opened {detected_by === 'system' ? 'by a rule' : 'by hand'}, <Time value={opened_at} />.{' '}
          {isOver ? <Ending exception={exception} /> : assignee === null ? 'With nobody.' : `With ${assignee}.`}
        </Text>
        <Actions exception={exception} onDeal={onDeal} />
        <Story exception={exception} />
      </Stack>
    </Paper>
  );
}

function Ending({ exception: { shipment_id, resolution, resolved_at } }: { readonly exception: ShipmentException }) {
  const nameOf = useActorName(shipment_id);
  if (resolution === null) return null;
  return (
    <>
      {RESOLUTION_LABELS[resolution.code]}
      {resolution.by.type !== 'system' && `, by ${nameOf(resolution.by)}`}, <Time value={resolved_at} />.
      {resolution.note !== null && ` “${resolution.note}”`}
    </>
  );
}

function Actions({ exception: { status, title }, onDeal }: Props) {
  const mayWrite = useMay('exceptions:write');
  if (!mayWrite || status === 'resolved') return null;
  const kinds: readonly (readonly [Dealing['kind'], string])[] =
    status === 'open'
      ? [
          ['acknowledge', 'Acknowledge…'],
          ['resolve', 'Resolve…'],
        ]
      : [
          ['assign', 'Assign…'],
          ['remark', 'Add a note…'],
          ['resolve', 'Resolve…'],
        ];
  return (
    <Group gap="xs">
      {kinds.map(([kind, label]) => (
        <Button key={kind} size="xs" variant="default" aria-label={`${label} ${title}`} onClick={() => onDeal(kind)}>
          {label}
        </Button>
      ))}
    </Group>
  );
}

/** What was done about it and said of it, read when somebody asks. */
function Story({ exception }: Pick<Props, 'exception'>) {
  const [isShown, setIsShown] = useState(false);
  const story = useQuery({ ...exceptionStoryQuery(useEnvironment(), exception), enabled: isShown });
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        w="fit-content"
        aria-expanded={isShown}
        onClick={() => setIsShown(!isShown)}
      >
        {isShown ? 'Hide what was done' : 'What was done'}
      </Button>
      <Collapse expanded={isShown}>
        {isShown && (
          <Waiting query={story} what="what was done">
            {(entries) => (
              <ul className={classes['story']}>
                {entries.map((entry) => {
                  const { did, note } = told(entry);
                  return (
                    <li key={entry.id}>
                      <Text size="sm">
                        <strong>{whoOf(entry.actor)}</strong> {did}
                        {note !== undefined && `: “${note}”`}
                        <Text span size="xs" c="dimmed">
                          {' '}
                          <Time value={entry.at} />
                        </Text>
                      </Text>
                    </li>
                  );
                })}
              </ul>
            )}
          </Waiting>
        )}
      </Collapse>
    </>
  );
}
