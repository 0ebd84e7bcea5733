import { Button, Group, Text } from '@mantine/core';
import type { ShipmentException } from '@tracking/client';
import type { Act } from './act-dialog.tsx';
import { MOST_DUE } from './queue-queries.ts';

interface Props {
  readonly chosen: readonly ShipmentException[];
  readonly count: number;
  readonly more: boolean;
  readonly isDue: boolean;
  readonly onAct: (act: Act, exceptions: readonly ShipmentException[]) => void;
  readonly onClear: () => void;
}

/** What can be done with those that are selected; where none is, how many there are. */
export function QueueSelection({ chosen, count, more, isDue, onAct, onClear }: Props) {
  if (chosen.length === 0) {
    return (
      <Text size="sm" c="dimmed" aria-live="polite">
        {count.toLocaleString()}
        {more && ' and more'} {count === 1 && !more ? 'exception' : 'exceptions'}
        {isDue && count >= MOST_DUE && ' · only the gravest are put in order: narrow it to see the others'}
      </Text>
    );
  }
  return (
    <Group gap="xs" role="toolbar" aria-label="What to do with those selected">
      <Text size="sm" fw={600} aria-live="polite">
        {chosen.length} selected
      </Text>
      <Button size="xs" onClick={() => onAct('acknowledge', chosen)}>
        Acknowledge…
      </Button>
      <Button size="xs" variant="default" onClick={() => onAct('assign', chosen)}>
        Assign…
      </Button>
      <Button size="xs" variant="default" onClick={() => onAct('resolve', chosen)}>
        Resolve…
      </Button>
      <Button size="xs" variant="subtle" onClick={onClear}>
        Clear the selection
      </Button>
    </Group>
  );
}
