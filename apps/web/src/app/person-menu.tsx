import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { IconCheck, IconLogout, IconUser } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { ROLE_LABELS } from '../session/role-labels.ts';
import { useSession, useSignOut } from '../session/session.ts';
import { COLOR_SCHEMES } from './color-scheme.ts';
import classes from './shell.module.css';

/** Who one is, what one may, and the way out. */
export function PersonMenu() {
  const { user, workspace, role } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const name = user?.name ?? user?.email ?? '';
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes['person']} aria-label={`${name}: account and sign out`}>
          <IconUser size={18} aria-hidden />
          <span className={classes['personName']}>{name}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {workspace.name} · {ROLE_LABELS[role]}
        </Menu.Label>
        <Menu.Item
          renderRoot={(props) => <Link {...props} to="/settings/account" search={{}} />}
          leftSection={<IconUser size={16} aria-hidden />}
        >
          My account
        </Menu.Item>
        <Menu.Label>Theme</Menu.Label>
        {COLOR_SCHEMES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={value === colorScheme}
            rightSection={value === colorScheme && <IconCheck size={16} aria-hidden />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
