import { Alert, Badge, Button, Collapse, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useState } from 'react';
import { createOnDemandComponent } from '../../app/lazy.tsx';
import { QueryResultPanel } from '../../app/page.tsx';
import {
  EXCEPTION_LABELS,
  EXCEPTION_STATUS_LABELS,
  RESOLUTION_LABELS,
  SEVERITY_LABELS,
} from '../../exceptions/exception-labels.ts';
import { PermissionGuardedButton } from '../../session/permissions.tsx';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { SeverityBadge } from '../../shipments/shipment-facts.tsx';
import { UserLocalTimeText, localizeTimesInText } from '../../values/time.tsx';
import { describeHistoryEntry, useActorNameLookup, formatActor } from '../history/history-sentences.ts';
import type { VersionedResource } from '../concurrent-changes/guarded-write.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import {
  COMPARED_EXCEPTION_FIELDS,
  type ExceptionAction,
  exceptionHistoryQuery,
  versionedExceptionsQuery,
  useExceptionAction,
} from './exception-queries.ts';
import classes from './exceptions-section.module.css';

const LazyOpenExceptionDialog = createOnDemandComponent(
  async () => (await import('./exception-dialogs.tsx')).NewExceptionDialog,
  ({ opened }) => opened,
);

const LazyExceptionActionDialog = createOnDemandComponent(
  async () => (await import('./exception-dialogs.tsx')).ExceptionActionDialog,
);

const LazyConflictDialog = createOnDemandComponent(
  async () => (await import('../concurrent-changes/conflict-dialog.tsx')).ConflictDialog<ShipmentException>,
  ({ conflict }) => conflict !== undefined,
);

export function ExceptionsSection() {
  const exceptions = useQuery(versionedExceptionsQuery(useEnvironment(), useShipmentOfPage().id));
  const [isOpening, setIsOpening] = useState(false);
  return (
    <Stack>
      <Group justify="end">
        <PermissionGuardedButton permission="exceptions:write">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setIsOpening(true)}
          >
            Open exception
          </Button>
        </PermissionGuardedButton>
      </Group>
      <QueryResultPanel query={exceptions} what="the exceptions">
        {(seen) => <ExceptionList seen={seen} />}
      </QueryResultPanel>
      <LazyOpenExceptionDialog opened={isOpening} onClose={() => setIsOpening(false)} />
    </Stack>
  );
}

interface PendingExceptionAction {
  readonly seen: VersionedResource<ShipmentException>;
  readonly kind: ExceptionAction['kind'];
}

function ExceptionList({
  seen: { thing: all, version },
}: {
  readonly seen: VersionedResource<readonly ShipmentException[]>;
}) {
  // The exception in its state when the dialog was opened, which the submit compares with the current state.
  const [under, setUnder] = useState<PendingExceptionAction>();
  const [showsOver, setShowsOver] = useState(false);
  const end = () => setUnder(undefined);
  const dealing = useExceptionAction(end);
  const { toDo, over } = sortExceptions(all);
  const begin = (thing: ShipmentException) => (kind: ExceptionAction['kind']) =>
    setUnder({ seen: { thing, version }, kind });
  return (
    <>
      {toDo.length === 0 ? (
        <Alert color="green" title="No open exceptions">
          {over.length === 0 ? 'This shipment never had an exception.' : 'All exceptions are resolved.'}
        </Alert>
      ) : (
        <Stack component="section" aria-label="Unresolved exceptions" gap="xs">
          <Title order={2} size="h5">
            Unresolved exceptions
          </Title>
          {toDo.map((exception) => (
            <ExceptionCard key={exception.id} exception={exception} onDeal={begin(exception)} />
          ))}
        </Stack>
      )}
      {over.length > 0 && (
        <Stack component="section" aria-label="Resolved exceptions" gap="xs">
          <Group>
            <Title order={2} size="h5">
              Resolved exceptions
            </Title>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-expanded={showsOver}
              onClick={() => setShowsOver(!showsOver)}
            >
              {showsOver ? 'Hide resolved exceptions' : `Show ${over.length} resolved exceptions`}
            </Button>
          </Group>
          {showsOver &&
            over.map((exception) => (
              <ExceptionCard key={exception.id} exception={exception} onDeal={begin(exception)} />
            ))}
        </Stack>
      )}
      <Text size="xs" c="dimmed">
        Exceptions opened by a rule are resolved automatically when their cause ends. Exceptions opened by users must be
        resolved by users.
      </Text>
      {under !== undefined && dealing.conflict === undefined && (
        <LazyExceptionActionDialog
          exception={under.seen.thing}
          kind={under.kind}
          known={all.flatMap(({ assignee }) => assignee ?? [])}
          isPending={dealing.isPending}
          onDeal={(words) => dealing.run(under.seen, words)}
          onClose={end}
        />
      )}
      <LazyConflictDialog conflict={dealing.conflict} what="the exception" fields={COMPARED_EXCEPTION_FIELDS} />
    </>
  );
}

interface ExceptionCardProps {
  readonly exception: ShipmentException;
  readonly onDeal: (kind: ExceptionAction['kind']) => void;
}

function ExceptionCard({ exception, onDeal }: ExceptionCardProps) {
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
        {detail !== null && <Text size="sm">{localizeTimesInText(detail)}</Text>}
        <Text size="xs" c="dimmed">
          {detected_by === 'system' ? 'Opened by a rule, ' : 'Opened manually, '}
          <UserLocalTimeText value={opened_at} />.{' '}
          {isOver ? (
            <ExceptionResolutionText exception={exception} />
          ) : assignee === null ? (
            'Unassigned.'
          ) : (
            `Assigned to ${assignee}.`
          )}
        </Text>
        <ExceptionActionButtons exception={exception} onDeal={onDeal} />
        <ExceptionHistory exception={exception} />
      </Stack>
    </Paper>
  );
}

function ExceptionResolutionText({
  exception: { shipment_id, resolution, resolved_at },
}: {
  readonly exception: ShipmentException;
}) {
  const nameOf = useActorNameLookup(shipment_id);
  if (resolution === null) return null;
  return (
    <>
      {RESOLUTION_LABELS[resolution.code]}
      {resolution.by.type !== 'system' && `, by ${nameOf(resolution.by)}`}, <UserLocalTimeText value={resolved_at} />.
      {resolution.note !== null && ` “${resolution.note}”`}
    </>
  );
}

function ExceptionActionButtons({ exception: { status, title }, onDeal }: ExceptionCardProps) {
  const mayWrite = useHasPermission('exceptions:write');
  if (!mayWrite || status === 'resolved') return null;
  const kinds: readonly (readonly [ExceptionAction['kind'], string])[] =
    status === 'open'
      ? [
          ['acknowledge', 'Acknowledge…'],
          ['resolve', 'Resolve…'],
        ]
      : [
          ['assign', 'Assign…'],
          ['remark', 'Add note…'],
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

/** History of one exception. It is loaded when the user opens it. */
function ExceptionHistory({ exception }: Pick<ExceptionCardProps, 'exception'>) {
  const [isShown, setIsShown] = useState(false);
  const story = useQuery({ ...exceptionHistoryQuery(useEnvironment(), exception), enabled: isShown });
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
        {isShown ? 'Hide history' : 'Show history'}
      </Button>
      <Collapse expanded={isShown}>
        {isShown && (
          <QueryResultPanel query={story} what="the history of the exception">
            {(entries) => (
              <ul className={classes['story']}>
                {entries.map((entry) => {
                  const { did, note } = describeHistoryEntry(entry);
                  return (
                    <li key={entry.id}>
                      <Text size="sm">
                        <strong>{formatActor(entry.actor)}</strong> {did}
                        {note !== undefined && `: “${note}”`}
                        <Text span size="xs" c="dimmed">
                          {' '}
                          <UserLocalTimeText value={entry.at} />
                        </Text>
                      </Text>
                    </li>
                  );
                })}
              </ul>
            )}
          </QueryResultPanel>
        )}
      </Collapse>
    </>
  );
}

const SEVERITIES_MOST_SEVERE_FIRST = Object.keys(SEVERITY_LABELS);

/**
 * Sorts exceptions. Unresolved exceptions are sorted by severity and then by age. Resolved exceptions are sorted by
 * resolution time, latest first.
 */
function sortExceptions(all: readonly ShipmentException[]) {
  const toDo = all.filter(({ status }) => status !== 'resolved');
  const over = all.filter(({ status }) => status === 'resolved');
  const gravity = ({ severity }: ShipmentException) => SEVERITIES_MOST_SEVERE_FIRST.indexOf(severity);
  return {
    toDo: toDo.sort((one, other) => gravity(one) - gravity(other) || one.opened_at.localeCompare(other.opened_at)),
    over: over.sort((one, other) => (other.resolved_at ?? '').localeCompare(one.resolved_at ?? '')),
  };
}
