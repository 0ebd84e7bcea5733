import { Button, Group, Radio, Select, Stack, Text } from '@mantine/core';
import type { QueryKey } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { OneTimeSecret } from '../app/one-time-secret.tsx';
import { useApiWrite } from '../app/write.ts';
import { ROLE_DESCRIPTIONS, ROLE_OPTIONS, type Role } from '../session/roles.ts';

interface RoleFieldProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

/** Radio buttons for the choice of a role. Each button describes its role. */
export function RoleField({ value, onChange }: RoleFieldProps) {
  return (
    <Radio.Group label="Role" value={value} onChange={(role) => onChange(role as Role)}>
      <Stack gap="xs" mt={6}>
        {ROLE_OPTIONS.map((role) => (
          <Radio key={role.value} value={role.value} label={role.label} description={ROLE_DESCRIPTIONS[role.value]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

const GRACE_PERIOD_OPTIONS = [
  { value: '0', label: 'Immediately' },
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
] as const;

interface RotateSecretFormProps {
  /** Name of the secret within a sentence, such as "key". */
  readonly what: string;
  /** Label of the new secret, such as "Key". */
  readonly label: string;
  /** Text that explains the consequences of the rotation. */
  readonly children: ReactNode;
  /** Rotates the secret and returns the new one. The argument is the number of seconds until the old secret expires. */
  readonly rotate: (seconds: number) => Promise<string>;
  readonly touches: readonly QueryKey[];
  readonly onClose: () => void;
}

/** Form that rotates a secret and then shows the new secret once. The user chooses when the old secret expires. */
export function RotateSecretForm({ what, label, children, rotate, touches, onClose }: RotateSecretFormProps) {
  const [grace, setGrace] = useState('86400');
  const write = useApiWrite({ write: () => rotate(Number(grace)), invalidates: touches });
  if (write.isSuccess) {
    return (
      <Stack>
        <OneTimeSecret label={label} secret={write.data} />
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">{children}</Text>
      <Select
        label={`Old ${what} expires`}
        data={GRACE_PERIOD_OPTIONS}
        value={grace}
        onChange={(value) => setGrace(value ?? grace)}
        allowDeselect={false}
      />
      <Group justify="end">
        <Button variant="default" onClick={onClose} disabled={write.isPending}>
          Cancel
        </Button>
        <Button onClick={() => write.mutate()} loading={write.isPending}>
          Rotate
        </Button>
      </Group>
    </Stack>
  );
}
