import { MutationCache, QueryCache, queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PermissionError } from '@tracking/client';
import { isSignedOutError } from '../app/failures.ts';
import { useApiWrite } from '../app/write.ts';
import { type Environment, getApiClient } from './api.ts';

export type Session = Awaited<ReturnType<ReturnType<typeof getApiClient>['session']['get']>>;
export type Permission = Session['permissions'][number];

/** Returns a string that identifies the user and workspace of a session. */
export function getSessionOwner({ workspace, user }: Session): string {
  return `${workspace.id} ${user?.id ?? ''}`;
}

/** Reads the session with the user, role and permissions. @throws AuthenticationError if the user is not signed in */
export const sessionQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['session', environment],
    queryFn: ({ signal }): Promise<Session> => getApiClient(environment).session.get({ signal }),
    staleTime: 60_000,
  });

/** Returns the environment that the URL names. */
export function useEnvironment(): Environment {
  const { environment } = useSearch({ strict: false });
  return environment === 'test' ? 'test' : 'live';
}

export function useApi() {
  return getApiClient(useEnvironment());
}

/** Returns the session. For pages that require one. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery(useEnvironment())).data;
}

export function useHasPermission(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}

async function removeCompletedImports(owner: string): Promise<void> {
  try {
    const { importStore } = await import('../shipments/import/import-store.ts');
    await importStore.removeCompleted(owner);
  } catch {
    // A browser that stores nothing has nothing to remove.
  }
}

/** Signs out and drops all data that was read. Keeps only imports with unsent rows. */
export function useSignOut() {
  const [queries, navigate, client, owner] = [useQueryClient(), useNavigate(), useApi(), getSessionOwner(useSession())];
  return useApiWrite({
    write: async () => {
      await removeCompletedImports(owner);
      try {
        await client.session.signOut();
      } catch (error) {
        // A session that has already ended counts as signed out.
        if (!isSignedOutError(error)) throw error;
      }
    },
    onDone: () => {
      notifyOtherTabs();
      void navigate({ to: '/sign-in', search: {} }).then(() => queries.clear());
    },
  });
}

interface SessionListeners {
  /** Called when the session has ended. */
  readonly ended: () => void;
  /** Called when the service refuses a permission that the page assumed. */
  readonly refused: () => void;
  /** Called when another user has signed in with this browser. */
  readonly changed: () => void;
}

/** Creates query and mutation caches that detect a changed or ended session. */
export function createSessionCaches({ ended, refused, changed }: SessionListeners) {
  let userId: string | undefined;
  const checkError = (error: unknown) => {
    if (isSignedOutError(error)) ended();
    else if (error instanceof PermissionError) refused();
  };
  const queryCache = new QueryCache({
    onError: (error, { queryKey, state }) => {
      // Until the first session is read, the router redirects to the sign-in page.
      if (queryKey[0] !== 'session' || state.data !== undefined) checkError(error);
    },
    onSuccess: (data, { queryKey }) => {
      if (queryKey[0] !== 'session') return;
      const { user } = data as Session;
      if (userId !== undefined && user?.id !== userId) changed();
      userId = user?.id;
    },
  });
  return { queryCache, mutationCache: new MutationCache({ onError: checkError }) };
}

/** Time within which the response to a password change arrives after it has ended the former cookie. */
const COOKIE_REPLACEMENT_MS = 500;

/**
 * Checks if the browser has a valid session after a request was refused with 401. A password change replaces the cookie,
 * so a request that was sent at the same time is refused although the session continues.
 */
export function isSessionReplaced(): Promise<boolean> {
  const check = async () => {
    await new Promise((resolve) => setTimeout(resolve, COOKIE_REPLACEMENT_MS));
    try {
      await getApiClient('live').session.get();
      return true;
    } catch {
      return false;
    } finally {
      sessionCheck = undefined;
    }
  };
  return (sessionCheck ??= check());
}

/** The check in progress, which all refused requests share. */
let sessionCheck: Promise<boolean> | undefined;

let cachedSessionChannel: BroadcastChannel | undefined;

/** Returns the channel between tabs of one browser, which share the session. */
function openSessionChannel(): BroadcastChannel {
  cachedSessionChannel ??= new BroadcastChannel('session');
  return cachedSessionChannel;
}

/** Notifies the other tabs that the user signed in or out. */
export function notifyOtherTabs(): void {
  openSessionChannel().postMessage('changed');
}

/** Calls the listener when a user signs in or out in another tab. */
export function onSessionChange(listener: () => void): void {
  openSessionChannel().addEventListener('message', listener);
}
