import { Alert } from '@mantine/core';
import { failureBeside } from './failures.ts';

interface Props {
  readonly error: unknown;
  /** The fields that the form shows, with their errors. */
  readonly fields: readonly string[];
  /** "Not saved" */
  readonly title: string;
}

/** The failure of a form as far as none of its fields shows it; nothing if there is none. */
export function Refused({ error, fields, title }: Props) {
  const message = error === null ? undefined : failureBeside(error, fields);
  if (message === undefined) return null;
  return (
    <Alert color="red" role="alert" title={title}>
      {message}
    </Alert>
  );
}
