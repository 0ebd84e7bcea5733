import { Button, Group, Stack, Text } from '@mantine/core';
import { useWrite } from '../../app/write.ts';
import { useApi } from '../../session/session.ts';
import { LinkShown } from './link-shown.tsx';
import type { Member } from './team-queries.ts';
import { calledOf } from './members.ts';

/** Another invitation for who has not come yet, and a way to a new password for everybody else. */
export function NewLink({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const client = useApi();
  const make = useWrite({ write: () => client.users.resetPassword(member.id), touches: [['users']] });
  if (make.isSuccess) {
    return <LinkShown email={member.email} url={make.data.reset_url} until={make.data.expires_at} onClose={onClose} />;
  }
  return (
    <Stack>
      <Text size="sm">
        {member.status === 'invited'
          ? `The link that ${calledOf(member)} has leads nowhere any more once there is a new one.`
          : `${calledOf(member)} sets a new password by the link. The one of now is good until then; all their sessions end with it.`}
      </Text>
      <Group justify="end">
        <Button variant="default" onClick={onClose} disabled={make.isPending}>
          Cancel
        </Button>
        <Button onClick={() => make.mutate()} loading={make.isPending}>
          Make the link
        </Button>
      </Group>
    </Stack>
  );
}
