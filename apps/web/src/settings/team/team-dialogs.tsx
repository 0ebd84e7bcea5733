import { Alert, Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { describeFailure, getFieldErrors, isOutdatedVersionError } from '../../app/failures.ts';
import { FormErrorAlert } from '../../app/page.tsx';
import { OneTimeSecret } from '../../app/one-time-secret.tsx';
import { useApiWrite } from '../../app/write.ts';
import { ROLE_LABELS, type Role } from '../../session/roles.ts';
import { useApi } from '../../session/session.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { RoleField } from '../settings-parts.tsx';
import { type Member, getTeamMemberName } from './team.ts';

export function InviteMemberForm({ onClose }: { readonly onClose: () => void }) {
  const client = useApi();
  const form = useForm({
    mode: 'controlled',
    initialValues: { email: '', role: 'operator' as Role },
    validate: { email: (email) => (email.includes('@') ? null : 'Enter an e-mail address such as jo@example.com') },
  });
  const invite = useApiWrite({
    write: (user: typeof form.values) => client.users.invite(user),
    invalidates: [['users']],
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  if (invite.isSuccess) {
    const { email, invitation_url: url, invitation_expires_at: until } = invite.data;
    return <OneTimeLinkPanel email={email} url={url} until={until} onClose={onClose} />;
  }
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack>
        <FormErrorAlert error={invite.error} fields={['email']} title="Invitation not created" />
        <TextInput {...form.getInputProps('email')} label="E-mail" type="email" required data-autofocus />
        <RoleField value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
        <Group justify="end">
          <Button variant="default" onClick={onClose} disabled={invite.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Create link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function ChangeRoleForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const client = useApi();
  const [role, setRole] = useState(member.role);
  // The form is based on this version of the member, and shows a concurrent change before overwriting it.
  const [known, setKnown] = useState(member);
  const change = useApiWrite({
    write: () => client.users.patch(member.id, { role }, { ifMatch: `"${known.version}"` }),
    done: ({ role: now }) => `${getTeamMemberName(member)} is ${ROLE_LABELS[now]} now.`,
    invalidates: [['users'], ['api-keys']],
    onDone: onClose,
    showsError: (error) => {
      if (isOutdatedVersionError(error)) refresh.mutate();
      return true;
    },
  });
  const refresh = useApiWrite({
    write: () => client.users.get(member.id),
    invalidates: [['users']],
    onDone: setKnown,
  });
  return (
    <Stack>
      {isOutdatedVersionError(change.error) && known.version !== member.version && (
        <Alert color="yellow" role="alert" title="Someone else changed this member">
          {`Another administrator changed ${getTeamMemberName(known)}. The current role is ${ROLE_LABELS[known.role]}. Save again to overwrite it.`}
        </Alert>
      )}
      {change.isError && !isOutdatedVersionError(change.error) && (
        <Alert color="red" role="alert" title="Not saved">
          {describeFailure(change.error).message}
        </Alert>
      )}
      <Text size="sm">{`The role applies to all sessions and keys of ${getTeamMemberName(member)} within five seconds.`}</Text>
      <RoleField value={role} onChange={setRole} />
      <Group justify="end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => change.mutate()} loading={change.isPending} disabled={role === known.role}>
          Save
        </Button>
      </Group>
    </Stack>
  );
}

/**
 * Creates a one-time link for a member. A member who has not joined gets a new invitation. Any other member gets a
 * password reset link.
 */
export function CreateLinkForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const client = useApi();
  const [revokesKeys, setRevokesKeys] = useState(false);
  const createLink = useApiWrite({
    write: () => client.users.resetPassword(member.id, { revoke_api_keys: revokesKeys }),
    invalidates: [['users'], ['api-keys']],
  });
  if (createLink.isSuccess) {
    return (
      <OneTimeLinkPanel
        email={member.email}
        url={createLink.data.reset_url}
        until={createLink.data.expires_at}
        onClose={onClose}
      />
    );
  }
  return (
    <Stack>
      <Text size="sm">
        {member.status === 'invited'
          ? `A new link replaces the current invitation link of ${getTeamMemberName(member)}.`
          : `${getTeamMemberName(member)} can set a new password with the link. Their sessions end within five seconds. The current password works until they set a new one.`}
      </Text>
      {member.status === 'active' && (
        <Checkbox
          checked={revokesKeys}
          onChange={(event) => setRevokesKeys(event.currentTarget.checked)}
          label="Also revoke their API keys"
          description="Choose this if others may have used the account. Systems that use these keys stop working."
        />
      )}
      <Group justify="end">
        <Button variant="default" onClick={onClose} disabled={createLink.isPending}>
          Cancel
        </Button>
        <Button onClick={() => createLink.mutate()} loading={createLink.isPending}>
          Create link
        </Button>
      </Group>
    </Stack>
  );
}

interface OneTimeLinkProps {
  readonly email: string;
  readonly url: string;
  /** Expiry time of the one-time link, ISO 8601. */
  readonly until: string;
  readonly onClose: () => void;
}

/** Shows a one-time link, which the administrator sends to the member. */
export function OneTimeLinkPanel({ email, url, until, onClose }: OneTimeLinkProps) {
  return (
    <Stack>
      <OneTimeSecret
        label="One-time link"
        secret={url}
        about={
          <>
            {`Send the link to ${email} over a channel you trust. Anyone who has the link can set the password. The link works once and expires at this time: `}
            <UserLocalTimeText value={until} />
          </>
        }
      />
      <Button onClick={onClose}>Done</Button>
    </Stack>
  );
}
