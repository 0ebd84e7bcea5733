import { Button, Group, Menu } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { DateField } from './date-field.tsx';
import { fromLocalInput, toLocalInput } from './local-time.ts';

export interface Range {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const HOUR_MS = 3_600_000;
const RECENT = [
  { label: 'The last hour', ms: HOUR_MS },
  { label: 'The last 24 hours', ms: 24 * HOUR_MS },
  { label: 'The last 7 days', ms: 7 * 24 * HOUR_MS },
] as const;

interface Props {
  readonly range: Range;
  readonly onChange: (range: Range) => void;
}

/** From when to when, in the reader's zone. What is recent is fixed when it is chosen, so that an address goes on meaning it. */
export function TimeRange({ range: { since, until }, onChange }: Props) {
  const minute = (ms: number) => new Date(Math.floor(ms / 60_000) * 60_000).toISOString();
  return (
    <Group gap="xs" align="end">
      <DateField
        type="datetime-local"
        size="xs"
        label="From"
        value={toLocalInput(since)}
        onChange={(text) => onChange({ since: fromLocalInput(text), until })}
      />
      <DateField
        type="datetime-local"
        size="xs"
        label="To"
        value={toLocalInput(until)}
        onChange={(text) => onChange({ since, until: fromLocalInput(text) })}
      />
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<IconClock size={14} aria-hidden />}>
            Recent
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RECENT.map(({ label, ms }) => (
            <Menu.Item key={label} onClick={() => onChange({ since: minute(Date.now() - ms) })}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => onChange({})}>Any time</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
