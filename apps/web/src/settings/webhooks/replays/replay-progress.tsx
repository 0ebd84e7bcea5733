import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { WebhookReplay } from '@tracking/client';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { WordsBadge } from '../badges.tsx';
import { TOUCHED_BY_DELIVERIES } from '../webhook-queries.ts';
import { REPLAY_STATUSES } from '../webhook-words.ts';
import { progressOf } from './replay-filter.ts';

/** How far it is, and a way to end it or go on with it. */
export function ReplayProgress({ replay }: { readonly replay: WebhookReplay }) {
  const client = useApi();
  const { id, status, matched, done, failed, action } = replay;
  const cancel = useWrite({
    write: () => client.webhookReplays.cancel(id),
    done: 'It is canceled: what was begun goes on.',
    touches: TOUCHED_BY_DELIVERIES,
  });
  const resume = useWrite({
    write: () => client.webhookReplays.resume(id),
    done: 'It goes on.',
    touches: TOUCHED_BY_DELIVERIES,
  });
  const share = progressOf(replay);
  const wasDone = action === 'discard' ? 'discarded' : 'delivered';
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <WordsBadge words={REPLAY_STATUSES[status]} />
        {status === 'running' && (
          <Button size="compact-xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
        {status === 'canceled' && (
          <Button size="compact-xs" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
            Resume
          </Button>
        )}
      </Group>
      <Progress.Root>
        <Progress.Section
          value={share.done}
          color="green.7"
          aria-label={`${done} of ${matched} ${wasDone}`}
          animated={status === 'running'}
        />
        <Progress.Section value={share.failed} color="red.7" aria-label={`${failed} of ${matched} failed`} />
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {matched} found{status === 'running' && ' so far'} · {done} {wasDone}
        {failed > 0 && ` · ${failed} failed at first, and go on by their schedule`}
      </Text>
    </Stack>
  );
}
