import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Group,
  Menu,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import { IconDots, IconPlus, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { confirmAction } from '../../app/overlays.tsx';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { RowMenu } from '../../app/row-menu.tsx';
import { SecretDialog } from '../../app/one-time-secret.tsx';
import { useApiWrite } from '../../app/write.ts';
import { PagePermissionGate } from '../../session/permissions.tsx';
import { ROLE_LABELS } from '../../session/roles.ts';
import { useApi, useEnvironment, useSession } from '../../session/session.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { ChangeRoleForm, InviteMemberForm, OneTimeLinkPanel, CreateLinkForm } from './team-dialogs.tsx';
import {
  MEMBER_STATUS_LABELS,
  type Member,
  type TeamUrlParameters,
  getTeamMemberName,
  findTeamMembers,
  usersQuery,
} from './team.ts';

type TeamDialog =
  | { readonly kind: 'invite' }
  | { readonly kind: 'role'; readonly member: Member }
  | { readonly kind: 'link'; readonly member: Member }
  | { readonly kind: 'invited'; readonly member: Member; readonly url: string; readonly until: string };

const TEAM_DIALOG_TITLES: Readonly<Record<TeamDialog['kind'], string>> = {
  invite: 'Invite member',
  role: 'Change role',
  link: 'Create link',
  invited: 'New invitation link',
};

export function TeamPage() {
  return (
    <PagePermissionGate permission="workspace:admin">
      <TeamMembersPanel />
    </PagePermissionGate>
  );
}

function TeamMembersPanel() {
  const users = useQuery(usersQuery(useEnvironment()));
  const { q, removed } = useSearch({ from: '/signed-in/settings/team' });
  const navigate = useNavigate({ from: '/settings/team' });
  const change = (changes: TeamUrlParameters) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace: true });
  const [dialog, setDialog] = useState<TeamDialog>();
  const close = () => setDialog(undefined);
  return (
    <Stack>
      <PageHeader
        title="Team"
        about="Users who can sign in to this workspace, in live and in test."
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
          label="Show removed members"
          checked={removed ?? false}
          onChange={(event) => change({ removed: event.currentTarget.checked || undefined })}
        />
      </Group>
      <QueryResultPanel query={users} what="the team">
        {(all) => {
          const found = findTeamMembers(all, { q, removed });
          if (found.length === 0) return <Alert title="No members found">Try another name or e-mail.</Alert>;
          return <MemberTable members={found} onOpenDialog={setDialog} />;
        }}
      </QueryResultPanel>
      <SecretDialog opened={dialog !== undefined} onClose={close} title={dialog && TEAM_DIALOG_TITLES[dialog.kind]}>
        {dialog?.kind === 'invite' && <InviteMemberForm onClose={close} />}
        {dialog?.kind === 'role' && <ChangeRoleForm member={dialog.member} onClose={close} />}
        {dialog?.kind === 'link' && <CreateLinkForm member={dialog.member} onClose={close} />}
        {dialog?.kind === 'invited' && (
          <OneTimeLinkPanel email={dialog.member.email} url={dialog.url} until={dialog.until} onClose={close} />
        )}
      </SecretDialog>
    </Stack>
  );
}

const MEMBER_STATUS_COLORS: Readonly<Record<Member['status'], string>> = {
  active: 'green',
  invited: 'blue',
  deactivated: 'gray',
};

interface MemberTableProps {
  readonly members: readonly Member[];
  readonly onOpenDialog: (dialog: TeamDialog) => void;
}

function MemberTable({ members, onOpenDialog }: MemberTableProps) {
  const { user } = useSession();
  return (
    <Table.ScrollContainer minWidth={700}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Last active</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((member) => (
            <Table.Tr key={member.id}>
              <Table.Td>
                <Stack gap={0}>
                  <Text size="sm" fw={500}>
                    {getTeamMemberName(member)}
                  </Text>
                  {member.name !== null && (
                    <Text size="xs" c="dimmed">
                      {member.email}
                    </Text>
                  )}
                </Stack>
              </Table.Td>
              <Table.Td>{ROLE_LABELS[member.role]}</Table.Td>
              <Table.Td>
                <Badge color={MEMBER_STATUS_COLORS[member.status]} variant="light" tt="none" miw="max-content">
                  {MEMBER_STATUS_LABELS[member.status]}
                </Badge>
              </Table.Td>
              <Table.Td>
                <UserLocalTimeText value={member.last_seen_at} />
              </Table.Td>
              <Table.Td ta="end" className="rowActions">
                {member.id === user?.id ? (
                  <DisabledOwnRowMenu />
                ) : (
                  <MemberMenu member={member} onOpenDialog={onOpenDialog} />
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Disabled menu in the user's own row. Administrators cannot change or remove themselves. */
function DisabledOwnRowMenu() {
  const why = 'You cannot change or remove yourself. Ask another administrator.';
  return (
    <Tooltip label={why} events={{ hover: true, focus: true, touch: true }}>
      <ActionIcon variant="subtle" color="gray" data-disabled aria-disabled aria-label={why}>
        <IconDots size={18} />
      </ActionIcon>
    </Tooltip>
  );
}

function MemberMenu({
  member,
  onOpenDialog,
}: {
  readonly member: Member;
  readonly onOpenDialog: MemberTableProps['onOpenDialog'];
}) {
  const client = useApi();
  const touches = [['users'], ['api-keys']];
  const isInvited = member.status === 'invited';
  const name = getTeamMemberName(member);
  const remove = useApiWrite({
    write: () => client.users.deactivate(member.id),
    done: isInvited ? 'Invitation revoked.' : `${name} is removed.`,
    invalidates: touches,
  });
  const restore = useApiWrite({
    write: () => client.users.reactivate(member.id),
    done: ({ status }) => (status === 'invited' ? `${name} is invited again.` : `${name} is restored.`),
    invalidates: touches,
    onDone: ({ invitation_url: url, invitation_expires_at: until }) => {
      if (url !== null && until !== null) onOpenDialog({ kind: 'invited', member, url, until });
      // The mutation is reset, because its result contains the one-time link, which is a secret.
      restore.reset();
    },
  });
  const confirmRemove = () =>
    confirmAction({
      title: isInvited ? `Revoke the invitation for ${name}?` : `Remove ${name}?`,
      children: (
        <Text size="sm">
          {isInvited
            ? 'The invitation link stops working.'
            : 'All sessions and keys of the member end within five seconds. The member’s changes stay in the history. You can restore the member later.'}
        </Text>
      ),
      labels: { confirm: isInvited ? 'Revoke' : 'Remove', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => remove.mutate(),
    });
  return (
    <RowMenu of={name}>
      <Menu.Item onClick={() => onOpenDialog({ kind: 'role', member })}>Change role…</Menu.Item>
      {member.status === 'deactivated' ? (
        <Menu.Item onClick={() => restore.mutate()}>Restore</Menu.Item>
      ) : (
        <>
          <Menu.Item onClick={() => onOpenDialog({ kind: 'link', member })}>
            {isInvited ? 'New invitation link…' : 'Create password reset link…'}
          </Menu.Item>
          <Menu.Item color="red" onClick={confirmRemove}>
            {isInvited ? 'Revoke invitation…' : 'Remove…'}
          </Menu.Item>
        </>
      )}
    </RowMenu>
  );
}
