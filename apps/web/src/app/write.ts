import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { failureOf, isSignedOut } from './failures.ts';

export { fieldErrors, isOutdated } from './failures.ts';

export interface WriteParts<Input, Output> {
  readonly write: (input: Input) => Promise<Output>;
  /** Told when it is done. */
  readonly done?: string | ((output: Output) => string);
  /** Queries that are read again at the end, also after a failure: all whose key begins so. */
  readonly touches?: readonly QueryKey[];
  readonly onDone?: (output: Output, input: Input) => void;
  /** Failures that the caller shows in its own place; all others are told as a notification. */
  readonly shows?: (error: unknown) => boolean;
}

/** A write, with what is told and read anew when it ended. Nothing is shown as done before the service says so. */
export function useWrite<Input = void, Output = unknown>(parts: WriteParts<Input, Output>) {
  const queries = useQueryClient();
  const { write, done, touches = [], onDone, shows } = parts;
  const readAgain = () => Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: write,
    // Secrets that are shown once, and passwords, are not kept when what showed them is closed.
    gcTime: 0,
    onSuccess: async (output, input) => {
      await readAgain();
      if (done !== undefined)
        notifications.show({ message: typeof done === 'string' ? done : done(output), color: 'green' });
      onDone?.(output, input);
    },
    onError: (error) => {
      // They are asked to sign in again.
      if (isSignedOut(error)) return;
      // Part of it may be done, or it was refused because what the page shows is outdated.
      void readAgain();
      if (shows?.(error)) return;
      const { title, message } = failureOf(error);
      notifications.show({ title, message, color: 'red', autoClose: 10_000 });
    },
  });
}
