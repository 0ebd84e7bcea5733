import { Stack, Text } from '@mantine/core';
import { isSameClock, momentIn, OWN_ZONE } from './zones.ts';

interface Props {
  /** ISO 8601; a dash where null. */
  readonly value: string | null;
  /** IANA zone of the place, where that is known. */
  readonly zone: string | null | undefined;
}

/** A time by the clocks of its place, and by the reader's below where those show another. */
export function PlaceTime({ value, zone }: Props) {
  if (value === null) return <Text span inherit c="dimmed" children="—" />;
  const isElsewhere = zone !== null && zone !== undefined && !isSameClock(value, zone, OWN_ZONE);
  return (
    <Stack gap={0} component="span">
      <time dateTime={value}>{momentIn(value, isElsewhere ? zone : OWN_ZONE)}</time>
      {isElsewhere && (
        <Text span size="xs" c="dimmed">
          {momentIn(value, OWN_ZONE)}, your time
        </Text>
      )}
    </Stack>
  );
}
