import { Badge, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconBook, IconContainer, IconSettings } from '@tabler/icons-react';
import { Link, Outlet, useMatchRoute } from '@tanstack/react-router';
import { LiveContext, useLiveEvents } from '../live/live-events.ts';
import { useEnvironment } from '../session/session.ts';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { Offline } from './offline.tsx';
import { PersonMenu } from './person-menu.tsx';
import classes from './shell.module.css';

const PAGES = [
  { to: '/shipments', label: 'Shipments', icon: IconContainer },
  { to: '/exceptions', label: 'Exceptions', icon: IconAlertTriangle },
  { to: '/settings', label: 'Settings', icon: IconSettings },
] as const;

/** What stands around every page: where one is, who one is, and which environment it is about. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const environment = useEnvironment();
  const isAt = useMatchRoute();
  const live = useLiveEvents();
  return (
    <LiveContext value={live}>
      <div className={classes['shell']} data-environment={environment}>
        <a className={classes['skip']} href="#content">
          To the content
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
            <PersonMenu />
          </Group>
        </header>
        <nav className={classes['nav']} data-open={isOpen || undefined} aria-label="Main">
          {PAGES.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              renderRoot={(props) => <Link {...props} to={to} search={{}} />}
              label={label}
              leftSection={<Icon size={18} aria-hidden />}
              active={Boolean(isAt({ to, fuzzy: true }))}
              onClick={close}
            />
          ))}
          <NavLink
            href="/docs"
            target="_blank"
            rel="noreferrer"
            label="API reference"
            leftSection={<IconBook size={18} aria-hidden />}
          />
        </nav>
        <main id="content" className={classes['main']}>
          <Offline />
          {/* Selections, placeholders and dialogs belong to one environment. */}
          <Outlet key={environment} />
        </main>
      </div>
    </LiveContext>
  );
}
