import { SegmentedControl, Stack, Text, Title, useMantineColorScheme } from '@mantine/core';
import type { ReactNode } from 'react';
import { COLOR_SCHEMES } from '../../app/theme.ts';
import { PageHeader } from '../../app/page.tsx';
import { ROLES_ABOUT, ROLE_LABELS } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { ChangeName } from './change-name.tsx';
import { ChangePassword } from './change-password.tsx';
import { Sessions } from './sessions.tsx';

export function AccountPage() {
  const { user, workspace, role } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Stack gap="xl">
      <PageHeader title="My account" about={user?.email} />
      <Part title="You">
        <ChangeName />
        <Text size="sm">
          {ROLE_LABELS[role]} in {workspace.name}. {ROLES_ABOUT[role]}
        </Text>
      </Part>
      <Part title="Theme">
        <SegmentedControl
          aria-label="Theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as typeof colorScheme)}
          data={COLOR_SCHEMES.map((each) => ({ ...each }))}
          w="fit-content"
        />
      </Part>
      <Part title="Password">
        <ChangePassword />
      </Part>
      <Part title="Sessions">
        <Sessions />
      </Part>
    </Stack>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}
