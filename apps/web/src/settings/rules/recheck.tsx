import { Loader, Group, Text } from '@mantine/core';
import type { WorkspaceSettings } from '@tracking/client';
import { Time } from '../../values/time.tsx';
import { useChangedBy } from './changed-by.ts';

/** When settings changed, by whom, and how far the open shipments are checked by them. */
export function LastChange({ settings }: { readonly settings: WorkspaceSettings }) {
  const by = useChangedBy(settings);
  const { updated_at, recheck } = settings;
  if (updated_at === null)
    return (
      <Text size="sm" c="dimmed">
        Nothing was changed yet: the defaults hold.
      </Text>
    );
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed" component="span">
        Changed <Time value={updated_at} /> by {by}.
      </Text>
      {recheck !== null && recheck.state !== 'done' && (
        <>
          <Loader size="xs" aria-hidden role="presentation" />
          <Text size="sm">
            {recheck.state === 'pending'
              ? 'Open shipments are checked by it in a moment.'
              : `Open shipments are being checked by it: ${recheck.checked.toLocaleString()} so far.`}
          </Text>
        </>
      )}
      {recheck?.state === 'done' && (
        <Text size="sm" c="dimmed">
          {recheck.checked.toLocaleString()} open shipments were checked by it.
        </Text>
      )}
    </Group>
  );
}
