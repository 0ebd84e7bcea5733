import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';

/** Asks before a page is left on which something was entered and not saved. */
export function Leaving({ isDirty }: { readonly isDirty: () => boolean }) {
  const leaving = useBlocker({ shouldBlockFn: isDirty, enableBeforeUnload: isDirty, withResolver: true });
  return (
    <Modal opened={leaving.status === 'blocked'} onClose={() => leaving.reset?.()} title="Leave without saving?">
      <Stack>
        <Text size="sm">What you entered is not saved.</Text>
        <Group justify="end">
          <Button variant="default" onClick={() => leaving.reset?.()} data-autofocus>
            Stay
          </Button>
          <Button color="red" onClick={() => leaving.proceed?.()}>
            Leave
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
