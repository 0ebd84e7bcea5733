import { Alert } from '@mantine/core';
import { failureOf } from '../../app/failures.ts';

/** Why settings stay as they were; nothing where there is no error. */
export function NotChanged({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" title="Not changed">
      {failureOf(error).message}
    </Alert>
  );
}
