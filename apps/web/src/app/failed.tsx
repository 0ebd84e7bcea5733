import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { failureOf } from './failures.ts';

/** In place of what could not be read, with a way to try again. */
export function Failed({ error, reset }: { readonly error: unknown; readonly reset?: () => void }) {
  const router = useRouter();
  const { title, message, requestId } = failureOf(error);
  const again = async () => {
    reset?.();
    await router.invalidate();
  };
  return (
    <Alert color="red" role="alert" title={title} m="md">
      <Stack align="start" gap="xs">
        <Text size="sm">{message}</Text>
        {requestId !== undefined && (
          <Text size="xs" c="dimmed">
            Request <Code>{requestId}</Code>
          </Text>
        )}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => void again()}>
            Try again
          </Button>
          <Button size="xs" variant="subtle" onClick={() => globalThis.location.reload()}>
            Reload the page
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
