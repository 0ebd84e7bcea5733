import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEnvironment } from '../../session/session.ts';
import { DateField } from '../../values/time-fields.tsx';
import { SearchSelect } from '../../values/search-select.tsx';
import { DAYS } from '../../values/zones.ts';
import { serviceAccountsQuery } from '../api-keys/key-queries.ts';
import { usersQuery } from '../team/team-queries.ts';
import { calledOf } from '../team/members.ts';
import { AUDIT_TYPE_LABELS, type AuditType } from './audit-labels.ts';
import type { AuditSearch } from './audit-search.ts';
import { COMMAND_LINE } from './audit-sentence.ts';

const TYPES = Object.entries(AUDIT_TYPE_LABELS).map(([value, label]) => ({ value, label }));

/** What the log is narrowed by: all of it stands in the address. */
export function AuditFilters({ search }: { readonly search: AuditSearch }) {
  const navigate = useNavigate({ from: '/settings/audit-log' });
  const change = (changes: AuditSearch) => void navigate({ search: (now) => ({ ...now, ...changes }), replace: true });
  return (
    <Group gap="xs" align="end" role="search" aria-label="Audit log">
      <SearchSelect
        label="By"
        placeholder="Anybody"
        data={useActors(search.actor)}
        value={search.actor ?? null}
        onChange={(actor) => change({ actor: actor ?? undefined })}
        clearable
        w={220}
      />
      <SearchSelect
        label="What"
        placeholder="Anything"
        data={TYPES}
        value={search.type ?? null}
        onChange={(type) => change({ type: (type as AuditType | null) ?? undefined })}
        clearable
        w={220}
      />
      <DateField
        label="From"
        type="date"
        value={search.from ?? ''}
        max={search.to ?? DAYS.max}
        onChange={(from) => change({ from })}
      />
      <DateField
        label="To"
        type="date"
        value={search.to ?? ''}
        min={search.from ?? DAYS.min}
        onChange={(to) => change({ to })}
      />
      {Object.keys(search).length > 0 && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </Group>
  );
}

/** Everybody who may have changed something; the one of the address too, where nobody is known by it. */
function useActors(chosen: string | undefined) {
  const environment = useEnvironment();
  const users = useQuery(usersQuery(environment));
  const accounts = useQuery(serviceAccountsQuery(environment));
  const people = (users.data ?? []).map((user) => ({ value: user.id, label: calledOf(user) }));
  const systems = [
    ...(accounts.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    { value: COMMAND_LINE, label: 'The command line' },
  ];
  const isKnown = chosen === undefined || [...people, ...systems].some(({ value }) => value === chosen);
  return [
    ...(isKnown ? [] : [{ group: 'Chosen', items: [{ value: chosen, label: chosen }] }]),
    { group: 'People', items: people },
    { group: 'Systems', items: systems },
  ];
}
