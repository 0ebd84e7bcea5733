import { ActionIcon, Button, Fieldset, Group, Input, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { HeaderRow } from './endpoint-fields.ts';

const MOST = 20;

interface Props {
  readonly value: readonly HeaderRow[];
  readonly onChange: (value: HeaderRow[]) => void;
  readonly error?: React.ReactNode;
}

/** Headers of the endpoint's own. Their values go in and never come out again. */
export function HeaderFields({ value, onChange, error }: Props) {
  const nextKey = Math.max(-1, ...value.map(({ key }) => key)) + 1;
  const change = (key: number, change: Partial<HeaderRow>) =>
    onChange(value.map((row) => (row.key === key ? { ...row, ...change } : row)));
  return (
    <Fieldset legend="Headers">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          They go with every delivery. Values are encrypted, and shown to nobody again.
        </Text>
        {value.map((row, index) => (
          <Group key={row.key} gap="xs" align="end" wrap="nowrap">
            <TextInput
              label={index === 0 ? 'Name' : undefined}
              aria-label={`Name of header ${index + 1}`}
              placeholder="Authorization"
              value={row.name}
              readOnly={row.kept}
              onChange={(event) => change(row.key, { name: event.currentTarget.value })}
              flex={1}
              miw={0}
            />
            <PasswordInput
              label={index === 0 ? 'Value' : undefined}
              aria-label={`Value of header ${index + 1}`}
              placeholder={row.kept ? 'Stays as it is' : ''}
              autoComplete="off"
              value={row.value}
              onChange={(event) => change(row.key, { value: event.currentTarget.value })}
              flex={1}
              miw={0}
            />
            <ActionIcon
              size={36}
              variant="subtle"
              color="red"
              aria-label={`Remove header ${row.name === '' ? index + 1 : row.name}`}
              onClick={() => onChange(value.filter(({ key }) => key !== row.key))}
            >
              <IconTrash size={18} />
            </ActionIcon>
          </Group>
        ))}
        {error !== undefined && error !== null && <Input.Error role="alert">{error}</Input.Error>}
        {value.length < MOST && (
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => onChange([...value, { key: nextKey, name: '', value: '', kept: false }])}
            >
              Add a header
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}
