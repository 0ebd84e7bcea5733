import { MutationCache, QueryCache } from '@tanstack/react-query';
import { PermissionError } from '@tracking/client';
import { isSignedOut } from '../app/failures.ts';
import type { Session } from './session.ts';

interface Told {
  /** The session has ended: whatever is asked is refused from now on. */
  readonly ended: () => void;
  /** Something was refused to them that the page took them to be allowed. */
  readonly refused: () => void;
  /** Somebody else has signed in with this browser: what is shown is not theirs. */
  readonly changed: () => void;
}

/** Caches that see, in whatever is read and written, that the session is not what the page takes it for. */
export function watchingCaches({ ended, refused, changed }: Told) {
  let userId: string | undefined;
  const look = (error: unknown) => {
    if (isSignedOut(error)) ended();
    else if (error instanceof PermissionError) refused();
  };
  const queryCache = new QueryCache({
    onError: (error, { queryKey, state }) => {
      // Where nobody was signed in before, the route asks them to.
      if (queryKey[0] !== 'session' || state.data !== undefined) look(error);
    },
    onSuccess: (data, { queryKey }) => {
      if (queryKey[0] !== 'session') return;
      const { user } = data as Session;
      if (userId !== undefined && user?.id !== userId) changed();
      userId = user?.id;
    },
  });
  return { queryCache, mutationCache: new MutationCache({ onError: look }) };
}
