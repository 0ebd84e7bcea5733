import { Checkbox, Fieldset, Group, Input, ScrollArea, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { type EventType, eventAbout, eventGroups, eventLabel } from '../../../values/event-types.ts';
import { type Subscription, choose, chooseStandard, isChosen } from './event-type-choice.ts';

interface Props {
  readonly value: Subscription;
  readonly onChange: (value: Subscription) => void;
  readonly error?: React.ReactNode;
}

/** Which events an endpoint gets: by groups, or searched for. */
export function EventTypePicker({ value, onChange, error }: Props) {
  const [search, setSearch] = useState('');
  const groups = eventGroups(search);
  const all = value.includes('*');
  return (
    <Fieldset legend="Events">
      <Stack gap="sm">
        <Switch
          label="All standard types"
          description="Also those that a later release adds."
          checked={all}
          onChange={(event) => onChange(chooseStandard(value, event.currentTarget.checked))}
        />
        <TextInput
          aria-label="Search event types"
          placeholder="Search"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Event types' }}>
          <Stack gap="md" p={2}>
            {groups.map(({ group, types }) => (
              <TypeGroup key={group} group={group} types={types} value={value} onChange={onChange} />
            ))}
            {groups.length === 0 && (
              <Text size="sm" c="dimmed">
                No type is called so.
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
        {error !== undefined && error !== null && <Input.Error role="alert">{error}</Input.Error>}
      </Stack>
    </Fieldset>
  );
}

interface GroupProps {
  readonly group: string;
  readonly types: readonly EventType[];
  readonly value: Subscription;
  readonly onChange: (value: Subscription) => void;
}

function TypeGroup({ group, types, value, onChange }: GroupProps) {
  const chosen = types.filter((type) => isChosen(value, type));
  return (
    <Stack gap={6}>
      <Checkbox
        label={<Text fw={600}>{group}</Text>}
        checked={chosen.length === types.length}
        indeterminate={chosen.length > 0 && chosen.length < types.length}
        onChange={(event) => onChange(choose(value, types, event.currentTarget.checked))}
      />
      {types.map((type) => (
        <Group key={type} pl="lg">
          <Checkbox
            label={eventLabel(type)}
            description={`${type} — ${eventAbout(type)}`}
            checked={isChosen(value, type)}
            onChange={(event) => onChange(choose(value, [type], event.currentTarget.checked))}
          />
        </Group>
      ))}
    </Stack>
  );
}
