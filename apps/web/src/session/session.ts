import { MutationCache, QueryCache, queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PermissionError } from '@tracking/client';
import { isSignedOutError } from '../app/failures.ts';
import { useApiWrite } from '../app/write.ts';
import { type Environment, getApiClient } from './api.ts';

export type Session = Awaited<ReturnType<ReturnType<typeof getApiClient>['session']['get']>>;
export type Permission = Session['permissions'][number];

/** Returns a text that identifies the workspace and user of a session. */
export function getSessionOwnerKey({ workspace, user }: Session): string {
  return `${workspace.id} ${user?.id ?? ''}`;
}

/**
 * Query of the session with its user, role and permissions. @throws AuthenticationError if the user is not signed in
 */
export const sessionQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['session', environment],
    queryFn: ({ signal }): Promise<Session> => getApiClient(environment).session.get({ signal }),
    staleTime: 60_000,
  });

/** Returns the environment that the page URL names. The default is live. */
export function useEnvironment(): Environment {
  const { environment } = useSearch({ strict: false });
  return environment === 'test' ? 'test' : 'live';
}

export function useApi() {
  return getApiClient(useEnvironment());
}

/** Returns the current session. Use it only on pages that require a session. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery(useEnvironment())).data;
}

export function useHasPermission(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}

async function removeCompletedImports(owner: string): Promise<void> {
  try {
    const { importStore } = await import('../shipments/import/import-store.ts');
    await importStore.removeCompletedImports(owner);
  } catch {
    // A browser that stores nothing has nothing to remove.
  }
}

/** Returns the mutation that signs the user out and deletes all cached data. Only imports with unsent rows are kept. */
export function useSignOut() {
  const [queries, navigate, client, owner] = [
    useQueryClient(),
    useNavigate(),
    useApi(),
    getSessionOwnerKey(useSession()),
  ];
  return useApiWrite({
    write: async () => {
      await removeCompletedImports(owner);
      try {
        await client.session.signOut();
      } catch (error) {
        // If the session has already ended, the sign-out counts as successful.
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
  /** Callback that runs when the session has ended. */
  readonly ended: () => void;
  /** Callback that runs when the service refuses a permission that the page expected. */
  readonly refused: () => void;
  /** Callback that runs when another user has signed in with this browser. */
  readonly changed: () => void;
}

/**
 * Creates the query cache and the mutation cache. The caches report a session that has ended or belongs to another
 * user.
 */
export function createSessionQueryCaches({ ended, refused, changed }: SessionListeners) {
  let userId: string | undefined;
  const checkError = (error: unknown) => {
    if (isSignedOutError(error)) ended();
    else if (error instanceof PermissionError) refused();
  };
  const queryCache = new QueryCache({
    onError: (error, { queryKey, state }) => {
      // The router handles an error of the first session read, and opens the sign-in page.
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
const SESSION_COOKIE_REPLACEMENT_WAIT_MS = 500;

/**
 * Checks if the browser has a valid session after a request was refused with 401. A password change replaces the cookie,
 * so a request that was sent at the same time is refused although the session continues.
 */
export function isSessionValidAfterRefusal(): Promise<boolean> {
  const check = async () => {
    await new Promise((resolve) => setTimeout(resolve, SESSION_COOKIE_REPLACEMENT_WAIT_MS));
    try {
      await getApiClient('live').session.get();
      return true;
    } catch {
      return false;
    } finally {
      pendingSessionCheck = undefined;
    }
  };
  return (pendingSessionCheck ??= check());
}

/** The check in progress, which all refused requests share. */
let pendingSessionCheck: Promise<boolean> | undefined;

let cachedSessionBroadcastChannel: BroadcastChannel | undefined;

/** Returns the broadcast channel to the other tabs of the browser. All tabs share the session. */
function openSessionBroadcastChannel(): BroadcastChannel {
  cachedSessionBroadcastChannel ??= new BroadcastChannel('session');
  return cachedSessionBroadcastChannel;
}

/** Notifies the other tabs of the browser that the user signed in or out. */
export function notifyOtherTabs(): void {
  openSessionBroadcastChannel().postMessage('changed');
}

/** Calls the listener when the user signs in or out in another tab of the browser. */
export function subscribeToSessionChangesInOtherTabs(listener: () => void): void {
  openSessionBroadcastChannel().addEventListener('message', listener);
}
