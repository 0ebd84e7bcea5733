import { Badge, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { LazyMultiSelect, LazySelect } from '../../app/lazy.tsx';
import tabs from '../../app/link-tabs.module.css';
import { PageHeader } from '../../app/page.tsx';
import { useEnvironment, useHasPermission, useSession } from '../../session/session.ts';
import { EXCEPTION_LABELS, EXCEPTION_STATUS_LABELS, SEVERITY_LABELS } from '../exception-labels.ts';
import classes from './exceptions-page.module.css';
import { exceptionCountQuery } from './queue-queries.ts';
import {
  type Age,
  EXCEPTION_TYPES_WITH_DUE_DATE,
  type ExceptionQueueUrlParameters,
  type QueueSort,
  SEVERITY_VALUES,
  EXCEPTION_TYPES,
  type View,
  hasQueueFilters,
  parseCommaSeparatedKnownNames,
} from './queue-search.ts';
import { ExceptionQueuePanel } from './queue.tsx';

const EXCEPTION_VIEW_LABELS: Readonly<Record<View, string>> = {
  all: 'All open exceptions',
  mine: 'Assigned to me',
  unassigned: 'Unassigned',
  resolved: 'Resolved',
};

/** Page of the exceptions queue, with its views, filters and list. */
export function ExceptionsPage() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/exceptions' });
  const { at: _at, ...asked } = search;
  const mayWrite = useHasPermission('exceptions:write');
  const environment = useEnvironment();
  const { user } = useSession();
  return (
    <Stack gap="sm">
      <PageHeader
        title="Exceptions"
        about={
          mayWrite ? (
            <span className={classes['keys']}>
              Shortcuts: J and K move, Enter opens, X selects, A acknowledges, M assigns to you, R resolves.
            </span>
          ) : (
            'You can view exceptions. To acknowledge or resolve them, you need the permission exceptions:write.'
          )
        }
      />
      <nav className={tabs['tabs']} aria-label="Views">
        {(['all', 'mine', 'unassigned', 'resolved'] as const).map((view) => (
          <QueueViewLink key={view} view={view} />
        ))}
      </nav>
      <ExceptionFilterBar search={search} />
      <ExceptionQueuePanel key={JSON.stringify([environment, asked])} search={search} me={user?.email ?? ''} />
    </Stack>
  );
}

function QueueViewLink({ view }: { readonly view: View }) {
  const { user } = useSession();
  const environment = useEnvironment();
  const counted = view === 'resolved' ? 'all' : view;
  const { data: count } = useQuery({
    ...exceptionCountQuery(environment, counted, user?.email ?? ''),
    enabled: view !== 'resolved',
  });
  return (
    <Link
      from="/exceptions"
      to="/exceptions"
      search={({ at: _at, status, ...before }: ExceptionQueueUrlParameters) => ({
        ...before,
        view: view === 'all' ? undefined : view,
        // The view of resolved exceptions has no status filter.
        ...(view !== 'resolved' && status !== undefined && { status }),
      })}
      activeOptions={{ explicitUndefined: true }}
      className={`${tabs['tab']} ${classes['view']}`}
    >
      {EXCEPTION_VIEW_LABELS[view]}
      {view !== 'resolved' && count !== undefined && (
        <Badge size="sm" variant="light" color="gray" autoContrast>
          {count}
        </Badge>
      )}
    </Link>
  );
}

const AGE_LABELS: Readonly<Record<Age, string>> = {
  '<24': 'Less than a day',
  '>24': 'More than a day',
  '>72': 'More than 3 days',
  '>168': 'More than a week',
};
const QUEUE_SORT_LABELS: Readonly<Record<QueueSort, string>> = {
  '-severity': 'Most severe first',
  opened_at: 'Oldest first',
  '-opened_at': 'Newest first',
  due: 'Due date, soonest first',
};
const toSelectOptions = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

function ExceptionFilterBar({ search }: { readonly search: ExceptionQueueUrlParameters }) {
  const navigate = useNavigate({ from: '/exceptions' });
  const change = (changes: Partial<ExceptionQueueUrlParameters>) =>
    void navigate({ search: (before) => ({ ...before, ...changes, at: undefined }), replace: true });
  const sort = search.sort ?? '-severity';
  const types: readonly string[] = sort === 'due' ? EXCEPTION_TYPES_WITH_DUE_DATE : EXCEPTION_TYPES;
  const joined = (values: readonly string[]) => (values.length === 0 ? undefined : values.join(','));
  return (
    <Group gap="xs" align="end" role="search" aria-label="Exceptions">
      <LazyMultiSelect
        label="Severity"
        placeholder={search.severity === undefined ? 'Any' : ''}
        data={toSelectOptions(SEVERITY_LABELS)}
        value={parseCommaSeparatedKnownNames(SEVERITY_VALUES, search.severity)}
        onChange={(values) => change({ severity: joined(values) })}
        clearable
        miw={150}
        maw={320}
      />
      <LazyMultiSelect
        label="Type"
        description={sort === 'due' ? 'Types with a due date' : undefined}
        placeholder={search.type === undefined ? 'Any' : ''}
        data={types.map((value) => ({ value, label: EXCEPTION_LABELS[value as keyof typeof EXCEPTION_LABELS] }))}
        value={parseCommaSeparatedKnownNames(EXCEPTION_TYPES, search.type).filter((type) => types.includes(type))}
        onChange={(values) => change({ type: joined(values) })}
        clearable
        searchable
        miw={180}
        maw={360}
      />
      {search.view !== 'resolved' && (
        <LazySelect
          label="Status"
          placeholder="Any"
          data={[
            { value: 'open', label: EXCEPTION_STATUS_LABELS.open },
            { value: 'acknowledged', label: EXCEPTION_STATUS_LABELS.acknowledged },
          ]}
          value={search.status ?? null}
          onChange={(status) => change({ status: (status as ExceptionQueueUrlParameters['status']) ?? undefined })}
          clearable
          w={150}
        />
      )}
      <LazySelect
        label="Opened"
        placeholder="Any time"
        data={toSelectOptions(AGE_LABELS).map(({ value, label }) => ({ value, label: `${label} ago` }))}
        value={search.age ?? null}
        onChange={(age) => change({ age: (age as Age | null) ?? undefined })}
        clearable
        w={200}
      />
      <LazySelect
        label="Sort by"
        data={toSelectOptions(QUEUE_SORT_LABELS)}
        value={sort}
        onChange={(value) =>
          change({ sort: value === '-severity' ? undefined : (value as ExceptionQueueUrlParameters['sort']) })
        }
        allowDeselect={false}
        w={190}
      />
      {hasQueueFilters(search) && (
        <Button
          variant="subtle"
          onClick={() => change({ severity: undefined, type: undefined, status: undefined, age: undefined })}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}
