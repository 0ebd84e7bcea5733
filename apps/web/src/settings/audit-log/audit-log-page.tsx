import { Alert, Button, Center, Loader, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Failed, PageHeader } from '../../app/page.tsx';
import { OnlyWith } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { AuditFilters } from './audit-filters.tsx';
import { auditLogQuery } from './audit-queries.ts';
import { Entries } from './entries.tsx';

export function AuditLogPage() {
  return (
    <OnlyWith permission="workspace:admin">
      <AuditLog />
    </OnlyWith>
  );
}

function AuditLog() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/settings/audit-log' });
  const log = useInfiniteQuery(auditLogQuery(useEnvironment(), search));
  const entries = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const isNarrowed = Object.keys(search).length > 0;
  return (
    <Stack>
      <PageHeader
        title="Audit log"
        about="Who changed what about people, keys, endpoints and settings. Kept 400 days."
      />
      <AuditFilters search={search} />
      {log.isPending && (
        <Center p="xl">
          <Loader aria-label="Loading the audit log" />
        </Center>
      )}
      {log.isError && <Failed error={log.error} reset={() => void log.refetch()} />}
      {log.isSuccess && entries.length === 0 && (
        <Alert title={isNarrowed ? 'Nothing matches' : 'Nothing has been changed yet'}>
          {isNarrowed
            ? 'Widen the days, or clear the filters.'
            : 'Every change of people, keys and endpoints is told here.'}
        </Alert>
      )}
      {entries.length > 0 && <Entries entries={entries} />}
      {log.hasNextPage && (
        <Button variant="default" mx="auto" onClick={() => void log.fetchNextPage()} loading={log.isFetchingNextPage}>
          Show earlier ones
        </Button>
      )}
    </Stack>
  );
}
