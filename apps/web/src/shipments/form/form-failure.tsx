import { Alert, Code, Stack, Text } from '@mantine/core';
import { failureOf } from '../../app/failures.ts';

interface Props {
  readonly error: unknown;
  /** What is of no field of the form. */
  readonly others: readonly string[];
  /** Whether it waits for the connection, and goes on by itself. */
  readonly isPaused: boolean;
}

/** Why a form could not be saved, where that is said at no field. */
export function FormFailure({ error, others, isPaused }: Props) {
  if (isPaused) {
    return (
      <Alert color="orange" role="status" title="Waiting for the connection">
        It is saved as soon as you are back online. Keep this page open.
      </Alert>
    );
  }
  if (error === null) return null;
  const { title, message, requestId } = failureOf(error);
  return (
    <Alert color="red" role="alert" title={title}>
      <Stack gap={4}>
        {others.length === 0 ? (
          <Text size="sm">{message}</Text>
        ) : (
          <Text component="ul" size="sm" m={0} pl="md">
            {others.map((other) => (
              <li key={other}>{other}</li>
            ))}
          </Text>
        )}
        {requestId !== undefined && (
          <Text size="xs" c="dimmed">
            Request <Code>{requestId}</Code>
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
