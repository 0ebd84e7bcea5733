import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { failureOf, isOutdated } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { RoleChoice } from '../../session/permissions.tsx';
import { ROLE_LABELS } from '../../session/roles.ts';
import { useApi } from '../../session/session.ts';
import type { Member } from './team-queries.ts';
import { calledOf } from './members.ts';

export function ChangeRole({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const client = useApi();
  const [role, setRole] = useState(member.role);
  // As they were last seen: what another administrator made of them meanwhile is told before it is overwritten.
  const [known, setKnown] = useState(member);
  const change = useWrite({
    write: () => client.users.patch(member.id, { role }, { ifMatch: `"${known.version}"` }),
    done: ({ role: now }) => `${calledOf(member)} is ${ROLE_LABELS[now]} now.`,
    touches: [['users'], ['api-keys']],
    onDone: onClose,
    shows: (error) => {
      if (isOutdated(error)) lookAgain.mutate();
      return true;
    },
  });
  const lookAgain = useWrite({
    write: () => client.users.get(member.id),
    touches: [['users']],
    onDone: setKnown,
  });
  return (
    <Stack>
      {isOutdated(change.error) && known.version !== member.version && (
        <Alert color="yellow" role="alert" title="Changed meanwhile">
          Somebody else changed {calledOf(known)}, who is {ROLE_LABELS[known.role]} now. Save again to have yours.
        </Alert>
      )}
      {change.isError && !isOutdated(change.error) && (
        <Alert color="red" role="alert" title="Not changed">
          {failureOf(change.error).message}
        </Alert>
      )}
      <Text size="sm">What {calledOf(member)} may do, with sessions and keys, within five seconds.</Text>
      <RoleChoice value={role} onChange={setRole} />
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
