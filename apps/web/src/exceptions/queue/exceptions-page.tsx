import { Badge, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { PageHeader } from '../../app/page-header.tsx';
import { useEnvironment, useMay, useSession } from '../../session/session.ts';
import classes from './exceptions-page.module.css';
import { QueueFilters } from './queue-filters.tsx';
import { Queue } from './queue.tsx';
import { countQuery } from './queue-queries.ts';
import type { QueueSearch, View } from './queue-address.ts';

const VIEW_LABELS: Readonly<Record<View, string>> = {
  all: 'All open',
  mine: 'Mine',
  unassigned: 'Unassigned',
  resolved: 'Resolved',
};

/** What is wrong with shipments, as work: who does what next. */
export function ExceptionsPage() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/exceptions' });
  const { at: _at, ...asked } = search;
  const mayWrite = useMay('exceptions:write');
  const environment = useEnvironment();
  const { user } = useSession();
  return (
    <Stack gap="sm">
      <PageHeader
        title="Exceptions"
        about={
          mayWrite ? (
            <span className={classes['keys']}>
              J and K move, Enter opens, X selects; A acknowledges, M makes it yours, R resolves.
            </span>
          ) : (
            'Your role may read them. To acknowledge or resolve takes exceptions:write.'
          )
        }
      />
      <nav className={classes['views']} aria-label="Views">
        {(['all', 'mine', 'unassigned', 'resolved'] as const).map((view) => (
          <ViewLink key={view} view={view} />
        ))}
      </nav>
      <QueueFilters search={search} />
      <Queue key={JSON.stringify([environment, asked])} search={search} me={user?.email ?? ''} />
    </Stack>
  );
}

function ViewLink({ view }: { readonly view: View }) {
  const { user } = useSession();
  const environment = useEnvironment();
  const counted = view === 'resolved' ? 'all' : view;
  const { data: count } = useQuery({
    ...countQuery(environment, counted, user?.email ?? ''),
    enabled: view !== 'resolved',
  });
  return (
    <Link
      from="/exceptions"
      to="/exceptions"
      search={({ at: _at, status, ...before }: QueueSearch) => ({
        ...before,
        view: view === 'all' ? undefined : view,
        // One that is resolved is neither open nor acknowledged.
        ...(view !== 'resolved' && status !== undefined && { status }),
      })}
      activeOptions={{ explicitUndefined: true }}
      className={classes['view']}
    >
      {VIEW_LABELS[view]}
      {view !== 'resolved' && count !== undefined && (
        <Badge size="sm" variant="light" color="gray" autoContrast>
          {count}
        </Badge>
      )}
    </Link>
  );
}
