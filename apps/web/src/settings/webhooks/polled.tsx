import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface Props {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly isFetching: boolean;
  readonly everyMs: number;
  readonly refetch: () => unknown;
}

/** How old is what is shown of what nothing tells the changes of. It is read again while the tab is seen. */
export function Polled({ at, isFetching, everyMs, refetch }: Props) {
  if (at === 0) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" c="dimmed">
        As of {TIME.format(at)}, every {everyMs / 1_000} s
      </Text>
      <Tooltip label="Read again">
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          loading={isFetching}
          onClick={() => void refetch()}
          aria-label="Read again"
        >
          <IconRefresh size={14} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
