import {
  Alert,
  Badge,
  Burger,
  Group,
  type MantineColorScheme,
  Menu,
  NavLink,
  SegmentedControl,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import {
  IconAlertTriangle,
  IconBook,
  IconCheck,
  IconContainer,
  IconHelp,
  IconLogout,
  IconPlugConnectedX,
  IconSettings,
  IconUser,
} from '@tabler/icons-react';
import { Link, Outlet, useLocation, useMatchRoute, useNavigate } from '@tanstack/react-router';
import { useLiveStreamStatus, useLiveStream } from '../live/live-events.tsx';
import { toOtherEnvironmentPath } from '../session/api.ts';
import { ROLE_LABELS } from '../session/roles.ts';
import { useEnvironment, useSession, useSignOut } from '../session/session.ts';
import classes from './shell.module.css';

const NAVIGATION_PAGES = [
  { to: '/shipments', label: 'Shipments', icon: IconContainer },
  { to: '/exceptions', label: 'Exceptions', icon: IconAlertTriangle },
  { to: '/settings', label: 'Settings', icon: IconSettings },
] as const;

/** Pages of the server beside the web application. */
const DOCUMENTATION_MENU_LINKS = [
  { href: '/docs/guides', label: 'Guides', icon: IconHelp },
  { href: '/docs', label: 'API reference', icon: IconBook },
] as const;

export const COLOR_SCHEMES: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
];

/** The layout around every page: the navigation, the environment switch and the account menu. */
export function PageShell() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const environment = useEnvironment();
  const isAt = useMatchRoute();
  useLiveStream();
  return (
    <div className={classes['shell']} data-environment={environment}>
      <a className={classes['skip']} href="#content">
        Skip to content
      </a>
      <header className={classes['header']}>
        <Group gap="sm" wrap="nowrap">
          <Burger
            className={classes['burger']}
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
          />
          <Text fw={700} className={classes['product']}>
            Shipment tracking
          </Text>
          {environment === 'test' && (
            <Badge color="var(--test-filled)" variant="filled" miw="max-content">
              Test data
            </Badge>
          )}
        </Group>
        <Group gap="sm" wrap="nowrap">
          <EnvironmentSwitch />
          <AccountMenu />
        </Group>
      </header>
      <nav className={classes['nav']} data-open={isOpen || undefined} aria-label="Main navigation">
        {NAVIGATION_PAGES.map(({ to, label, icon: Icon }) => (
          <NavLink
            key={to}
            renderRoot={(props) => <Link {...props} to={to} search={{}} />}
            label={label}
            leftSection={<Icon size={18} aria-hidden />}
            active={Boolean(isAt({ to, fuzzy: true }))}
            onClick={close}
          />
        ))}
        {DOCUMENTATION_MENU_LINKS.map(({ href, label, icon: Icon }) => (
          <NavLink
            key={href}
            href={href}
            target="_blank"
            rel="noreferrer"
            label={label}
            leftSection={<Icon size={18} aria-hidden />}
          />
        ))}
      </nav>
      <main id="content" className={classes['main']}>
        <OfflineBanner />
        {/* Selections, placeholders and dialogs belong to one environment. */}
        <Outlet key={environment} />
      </main>
    </div>
  );
}

/**
 * Switches between the live and the test environment. The current environment is visible on every page by color and
 * name.
 */
function EnvironmentSwitch() {
  const environment = useEnvironment();
  const [{ pathname }, navigate] = [useLocation(), useNavigate()];
  const change = (value: string) =>
    void navigate({
      to: toOtherEnvironmentPath(pathname),
      search: { environment: value === 'test' ? 'test' : undefined },
    });
  return (
    <SegmentedControl
      size="xs"
      aria-label="Environment"
      color={environment === 'test' ? 'var(--test-filled)' : 'blue.8'}
      value={environment}
      data={[
        { value: 'live', label: 'Live' },
        { value: 'test', label: 'Test' },
      ]}
      onChange={change}
    />
  );
}

/** The account menu in the header, with theme and sign-out. */
function AccountMenu() {
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

/**
 * A banner that is shown while the browser is offline or the event stream is disconnected. The page keeps its data.
 * Requests resume automatically.
 */
function OfflineBanner() {
  const { online } = useNetwork();
  const { isConnected } = useLiveStreamStatus();
  if (online && isConnected !== false) return null;
  return (
    <Alert
      role="status"
      color="orange"
      icon={<IconPlugConnectedX aria-hidden />}
      title={online ? 'Connection lost' : 'You are offline'}
      className={classes['offline']}
    >
      The displayed data may be out of date. The page updates the data when the connection is back.
    </Alert>
  );
}
