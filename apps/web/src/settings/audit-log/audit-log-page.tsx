import {
  Alert,
  Badge,
  Button,
  Center,
  Code,
  Group,
  Loader,
  Stack,
  Table,
  Text,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { ErrorAlert, PageHeader } from '../../app/page.tsx';
import { PagePermissionGate } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { SearchableSelectField } from '../../values/search-select.tsx';
import { DateField } from '../../values/time-fields.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import { DATE_LIMITS } from '../../values/zones.ts';
import { apiKeysQuery, serviceAccountsQuery } from '../api-keys/key-queries.ts';
import { getTeamMemberName, usersQuery } from '../team/team.ts';
import {
  COMMAND_LINE_ACTOR,
  type NameLookup,
  getActorName,
  auditLogQuery,
  formatAuditFieldChanges,
  endpointUrlsQuery,
  describeAuditEntry,
} from './audit-log.ts';
import { AUDIT_TYPE_LABELS, type AuditEntry, type AuditLogUrlParameters, type AuditType } from './audit-search.ts';

export function AuditLogPage() {
  return (
    <PagePermissionGate permission="workspace:admin">
      <AuditLogContent />
    </PagePermissionGate>
  );
}

function AuditLogContent() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/settings/audit-log' });
  const log = useInfiniteQuery(auditLogQuery(useEnvironment(), search));
  const entries = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Stack>
      <PageHeader
        title="Audit log"
        about="Changes to users, keys, endpoints and settings. Entries are kept for 400 days."
      />
      <AuditFilterPanel search={search} />
      {log.isPending && (
        <Center p="xl">
          <Loader aria-label="Loading the audit log" />
        </Center>
      )}
      {log.isError && <ErrorAlert error={log.error} reset={() => void log.refetch()} />}
      {log.isSuccess && entries.length === 0 && (
        <Alert title={isFiltered ? 'No matching entries' : 'No entries yet'}>
          {isFiltered
            ? 'Choose a longer period or clear the filters.'
            : 'Changes to users, keys, endpoints and settings appear here.'}
        </Alert>
      )}
      {entries.length > 0 && <AuditEntryTable entries={entries} />}
      {log.hasNextPage && (
        <Button variant="default" mx="auto" onClick={() => void log.fetchNextPage()} loading={log.isFetchingNextPage}>
          Show older entries
        </Button>
      )}
    </Stack>
  );
}

const AUDIT_TYPE_OPTIONS = Object.entries(AUDIT_TYPE_LABELS).map(([value, label]) => ({ value, label }));

/** Filters of the audit log. The page URL stores all filters. */
function AuditFilterPanel({ search }: { readonly search: AuditLogUrlParameters }) {
  const navigate = useNavigate({ from: '/settings/audit-log' });
  const change = (changes: AuditLogUrlParameters) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace: true });
  return (
    <Group gap="xs" align="end" role="search" aria-label="Audit log">
      <SearchableSelectField
        label="Actor"
        placeholder="Anyone"
        data={useActorOptions(search.actor)}
        value={search.actor ?? null}
        onChange={(actor) => change({ actor: actor ?? undefined })}
        clearable
        w={220}
      />
      <SearchableSelectField
        label="Action"
        placeholder="Any action"
        data={AUDIT_TYPE_OPTIONS}
        value={search.type ?? null}
        onChange={(type) => change({ type: (type as AuditType | null) ?? undefined })}
        clearable
        w={220}
      />
      <DateField
        label="From"
        type="date"
        value={search.from ?? ''}
        max={search.to ?? DATE_LIMITS.max}
        onChange={(from) => change({ from })}
      />
      <DateField
        label="To"
        type="date"
        value={search.to ?? ''}
        min={search.from ?? DATE_LIMITS.min}
        onChange={(to) => change({ to })}
      />
      {Object.keys(search).length > 0 && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/**
 * Returns the options of the actor filter: all users and service accounts. The selected actor is included even if it is
 * unknown.
 */
function useActorOptions(chosen: string | undefined) {
  const environment = useEnvironment();
  const users = useQuery(usersQuery(environment));
  const accounts = useQuery(serviceAccountsQuery(environment));
  const people = (users.data ?? []).map((user) => ({ value: user.id, label: getTeamMemberName(user) }));
  const systems = [
    ...(accounts.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    { value: COMMAND_LINE_ACTOR, label: 'Command line' },
  ];
  const isKnown = chosen === undefined || [...people, ...systems].some(({ value }) => value === chosen);
  return [
    ...(isKnown ? [] : [{ group: 'Selected actor', items: [{ value: chosen, label: chosen }] }]),
    { group: 'Users', items: people },
    { group: 'Systems', items: systems },
  ];
}

function AuditEntryTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const nameOf = useTargetNameLookup();
  const [openId, setOpenId] = useState<string>();
  return (
    <Table.ScrollContainer minWidth={620}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={190}>Time</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th w={140}>IP address</Table.Th>
            <Table.Th w={100}>
              <VisuallyHidden>Details</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => {
            const isOpen = entry.id === openId;
            const action = describeAuditEntry(entry, nameOf);
            return (
              <Fragment key={entry.id}>
                <Table.Tr>
                  <Table.Td className="oneLine">
                    <UserLocalTimeText value={entry.at} />
                  </Table.Td>
                  <Table.Td>
                    <Text span fw={600} inherit>
                      {getActorName(entry, nameOf)}
                    </Text>{' '}
                    {action} {entry.outcome === 'unknown' && <UnknownOutcomeBadge />}
                    <AuditEntrySummary entry={entry} />
                  </Table.Td>
                  <Table.Td>{entry.address ?? '—'}</Table.Td>
                  <Table.Td ta="end" className="rowActions">
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-expanded={isOpen}
                      aria-label={`Details: ${action}`}
                      onClick={() => setOpenId(isOpen ? undefined : entry.id)}
                    >
                      {isOpen ? 'Close' : 'Details'}
                    </Button>
                  </Table.Td>
                </Table.Tr>
                {isOpen && (
                  <Table.Tr>
                    <Table.Td colSpan={4}>
                      <AuditEntryDetails entry={entry} />
                    </Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Shows the changes to an existing resource in one line. */
function AuditEntrySummary({ entry }: { readonly entry: AuditEntry }) {
  const changed = formatAuditFieldChanges(entry).filter(({ from, to }) => from !== undefined && to !== undefined);
  if (changed.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" lineClamp={1}>
      {changed.map(({ field, from, to }) => `${field}: ${from} → ${to}`).join('; ')}
    </Text>
  );
}

function UnknownOutcomeBadge() {
  return (
    <Tooltip label="The server stopped before it could confirm the change." multiline maw={280}>
      <Badge color="yellow" variant="light" tt="none" tabIndex={0}>
        Outcome unknown
      </Badge>
    </Tooltip>
  );
}

function AuditEntryDetails({ entry }: { readonly entry: AuditEntry }) {
  const changes = formatAuditFieldChanges(entry);
  return (
    <Stack gap="sm" py="xs">
      {changes.length > 0 && (
        <Table withTableBorder verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ field, from, to }) => (
              <Table.Tr key={field}>
                <Table.Td>{field}</Table.Td>
                <Table.Td>{from ?? '—'}</Table.Td>
                <Table.Td>{to ?? '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group gap="lg">
        <Text size="xs" c="dimmed">
          Request <Code>{entry.request_id}</Code>
        </Text>
      </Group>
      <Code block tabIndex={0} aria-label="Audit log entry as JSON">
        {JSON.stringify(entry, null, 2)}
      </Code>
    </Stack>
  );
}

/**
 * Returns a function that looks up the current names of users, accounts, keys and endpoints. While the names load, the
 * function returns ids.
 */
function useTargetNameLookup(): NameLookup {
  const environment = useEnvironment();
  const users = useQuery(usersQuery(environment));
  const accounts = useQuery(serviceAccountsQuery(environment));
  const keys = useQuery(apiKeysQuery(environment));
  const endpoints = useQuery(endpointUrlsQuery);
  const names = new Map([
    ...(users.data ?? []).map((user) => [user.id, getTeamMemberName(user)] as const),
    ...[...(accounts.data ?? []), ...(keys.data ?? [])].map(({ id, name }) => [id, name] as const),
    ...(endpoints.data ?? []),
  ]);
  return (id) => names.get(id);
}
