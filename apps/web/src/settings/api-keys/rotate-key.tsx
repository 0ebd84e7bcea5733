import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ShownOnce } from '../../app/shown-once.tsx';
import { useWrite } from '../../app/write.ts';
import { useApi } from '../../session/session.ts';
import type { ApiKey } from './key-queries.ts';

const GRACES = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
] as const;

export function RotateKey({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const client = useApi();
  const [grace, setGrace] = useState('86400');
  const rotate = useWrite({
    write: () => client.keys.rotate(apiKey.id, { grace_seconds: Number(grace) }),
    touches: [['api-keys']],
  });
  if (rotate.isSuccess) {
    return (
      <Stack>
        <ShownOnce label="New key" secret={rotate.data.key} />
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">A new key takes the place of “{apiKey.name}”. Until the old one ends both are valid.</Text>
      <Select
        label="The old key ends"
        data={GRACES}
        value={grace}
        onChange={(value) => setGrace(value ?? grace)}
        allowDeselect={false}
      />
      <Group justify="end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => rotate.mutate()} loading={rotate.isPending}>
          Rotate
        </Button>
      </Group>
    </Stack>
  );
}
