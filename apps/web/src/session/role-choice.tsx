import { Radio, Stack } from '@mantine/core';
import { ROLES_ABOUT, ROLE_CHOICES, type Role } from './role-labels.ts';

interface Props {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

/** Which role, with what each may do. */
export function RoleChoice({ value, onChange }: Props) {
  return (
    <Radio.Group label="Role" value={value} onChange={(role) => onChange(role as Role)}>
      <Stack gap="xs" mt={6}>
        {ROLE_CHOICES.map((role) => (
          <Radio key={role.value} value={role.value} label={role.label} description={ROLES_ABOUT[role.value]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
