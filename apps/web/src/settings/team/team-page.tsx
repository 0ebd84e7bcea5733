import { Alert, Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { SecretDialog } from '../../app/shown-once.tsx';
import { PageHeader, Waiting } from '../../app/page.tsx';
import { OnlyWith } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { ChangeRole } from './change-role.tsx';
import { Invite } from './invite.tsx';
import { LinkShown } from './link-shown.tsx';
import { Members } from './members.tsx';
import { NewLink } from './new-link.tsx';
import { type Member, usersQuery } from './team-queries.ts';
import { membersFound } from './members.ts';
import type { TeamSearch } from './team-search.ts';

export type TeamDialog =
  | { readonly kind: 'invite' }
  | { readonly kind: 'role'; readonly member: Member }
  | { readonly kind: 'link'; readonly member: Member }
  | { readonly kind: 'invited'; readonly member: Member; readonly url: string; readonly until: string };

const TITLES: Readonly<Record<TeamDialog['kind'], string>> = {
  invite: 'Invite somebody',
  role: 'Change the role',
  link: 'Make a new link',
  invited: 'New invitation link',
};

export function TeamPage() {
  return (
    <OnlyWith permission="workspace:admin">
      <Team />
    </OnlyWith>
  );
}

function Team() {
  const users = useQuery(usersQuery(useEnvironment()));
  const { q, removed } = useSearch({ from: '/signed-in/settings/team' });
  const navigate = useNavigate({ from: '/settings/team' });
  const change = (changes: TeamSearch) => void navigate({ search: (now) => ({ ...now, ...changes }), replace: true });
  const [dialog, setDialog] = useState<TeamDialog>();
  const close = () => setDialog(undefined);
  return (
    <Stack>
      <PageHeader
        title="Team"
        about="Who signs in to this workspace, in live and in test."
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'invite' })}>
            Invite
          </Button>
        }
      />
      <Group role="search" aria-label="Team">
        <TextInput
          aria-label="Search by name or e-mail"
          placeholder="Name or e-mail"
          leftSection={<IconSearch size={16} aria-hidden />}
          defaultValue={q ?? ''}
          onChange={(event) => change({ q: event.currentTarget.value || undefined })}
          w={260}
        />
        <Switch
          label="Removed ones too"
          checked={removed ?? false}
          onChange={(event) => change({ removed: event.currentTarget.checked || undefined })}
        />
      </Group>
      <Waiting query={users} what="the team">
        {(all) => {
          const found = membersFound(all, { q, removed });
          if (found.length === 0) return <Alert title="Nobody is called so">Look for something else.</Alert>;
          return <Members members={found} onAsk={setDialog} />;
        }}
      </Waiting>
      <SecretDialog opened={dialog !== undefined} onClose={close} title={dialog && TITLES[dialog.kind]}>
        {dialog?.kind === 'invite' && <Invite onClose={close} />}
        {dialog?.kind === 'role' && <ChangeRole member={dialog.member} onClose={close} />}
        {dialog?.kind === 'link' && <NewLink member={dialog.member} onClose={close} />}
        {dialog?.kind === 'invited' && (
          <LinkShown email={dialog.member.email} url={dialog.url} until={dialog.until} onClose={close} />
        )}
      </SecretDialog>
    </Stack>
  );
}
