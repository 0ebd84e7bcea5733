import { NavLink, Text } from '@mantine/core';
import { Link, type LinkProps, Outlet, useLocation, useMatchRoute } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { type Permission, useSession } from '../session/session.ts';
import classes from './settings-page.module.css';

interface GroupOfSettingsPages {
  readonly title: string;
  readonly pages: readonly {
    readonly to: NonNullable<LinkProps['to']>;
    readonly label: string;
    readonly needs?: Permission;
  }[];
}

/**
 * Sections of the settings, with the permission that each one requires. Users without this permission do not see the
 * section.
 */
const SETTINGS_SECTIONS: readonly GroupOfSettingsPages[] = [
  {
    title: 'Developers',
    pages: [
      { to: '/settings/api-keys', label: 'API keys' },
      { to: '/settings/webhooks', label: 'Webhooks', needs: 'webhooks:manage' },
      { to: '/settings/events', label: 'Events' },
      { to: '/settings/service-accounts', label: 'Service accounts', needs: 'keys:manage' },
    ],
  },
  {
    title: 'Workspace',
    pages: [
      { to: '/settings/team', label: 'Team', needs: 'workspace:admin' },
      { to: '/settings/exceptions', label: 'Exception rules', needs: 'workspace:admin' },
      { to: '/settings/required-documents', label: 'Required documents', needs: 'workspace:admin' },
      { to: '/settings/audit-log', label: 'Audit log', needs: 'workspace:admin' },
    ],
  },
  { title: 'Account', pages: [{ to: '/settings/account', label: 'My account' }] },
];

export function SettingsPage() {
  const { permissions } = useSession();
  const isAt = useMatchRoute();
  const { pathname } = useLocation();
  const pages = useRef<HTMLElement>(null);
  // On narrow screens, the navigation is one row that scrolls sideways, so the current link is scrolled into view.
  useEffect(() => {
    pages.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <div className={classes['settings']}>
      <nav ref={pages} aria-label="Settings" className={classes['pages']}>
        {SETTINGS_SECTIONS.map(({ title, pages }) => ({
          title,
          shown: pages.filter(({ needs }) => needs === undefined || permissions.includes(needs)),
        }))
          .filter(({ shown }) => shown.length > 0)
          .map(({ title, shown }) => (
            <section key={title} className={classes['section']}>
              <Text size="xs" fw={700} c="dimmed" px="sm" py={4} className={classes['title']}>
                {title}
              </Text>
              {shown.map(({ to, label }) => (
                <NavLink
                  key={to}
                  label={label}
                  active={Boolean(isAt({ to, fuzzy: true }))}
                  renderRoot={(props) => <Link {...props} to={to} search={{}} />}
                />
              ))}
            </section>
          ))}
      </nav>
      <div>
        <Outlet />
      </div>
    </div>
  );
}
