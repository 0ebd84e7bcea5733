import { Badge, Text } from '@mantine/core';
import type { ShipmentException } from '@tracking/client';
import { Time } from '../../values/time.tsx';
import { dueOf, isOverdue } from './due.ts';

/** A day at the place that it is about: it is the same day wherever it is read. */
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

type Shown = Pick<ShipmentException, 'type' | 'metrics' | 'severity' | 'status'>;

/** By when something has to be done; a dash where that is not known. */
export function DueBy({ exception }: { readonly exception: Shown }) {
  const due = dueOf(exception);
  if (due === undefined)
    return (
      <Text span c="dimmed" inherit>
        —
      </Text>
    );
  return (
    <>
      {due.kind === 'day' ? (
        <time dateTime={due.value} title={due.label}>
          {DAY.format(new Date(due.value))}
        </time>
      ) : (
        <Time value={due.value} />
      )}{' '}
      {exception.status !== 'resolved' && isOverdue(exception, Date.now()) && (
        <Badge size="sm" color="red" variant="light" tt="none" autoContrast>
          Past
        </Badge>
      )}
    </>
  );
}
