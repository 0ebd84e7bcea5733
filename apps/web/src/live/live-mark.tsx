import { Badge } from '@mantine/core';
import { useLive } from './live-events.ts';

/** Whether what happens is shown as it does. Not in the word for the environment that is not test. */
export function LiveMark() {
  const { isOn } = useLive();
  return (
    <Badge
      variant="dot"
      color={isOn === true ? 'var(--mantine-color-green-outline)' : 'gray'}
      tt="none"
      role="status"
      miw="max-content"
    >
      {isOn === undefined ? 'Connecting…' : isOn ? 'Connected' : 'Reconnecting…'}
    </Badge>
  );
}
