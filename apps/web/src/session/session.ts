import { MutationCache, QueryCache, queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PermissionError } from '@tracking/client';
import { isSignedOut } from '../app/failures.ts';
import { useWrite } from '../app/write.ts';
import { type Environment, api } from './api.ts';

export type Session = Awaited<ReturnType<ReturnType<typeof api>['session']['get']>>;
export type Permission = Session['permissions'][number];

/** Identifies the user of a session in one string. */
export function sessionOwner({ workspace, user }: Session): string {
  return `${workspace.id} ${user?.id ?? ''}`;
}

/** The session: the user, their role and their permissions. @throws AuthenticationError if the user is not signed in */
export const sessionQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['session', environment],
    queryFn: ({ signal }): Promise<Session> => api(environment).session.get({ signal }),
    staleTime: 60_000,
  });

/** The environment of the page, which is in its address. */
export function useEnvironment(): Environment {
  const { environment } = useSearch({ strict: false });
  return environment === 'test' ? 'test' : 'live';
}

export function useApi() {
  return api(useEnvironment());
}

/** The session, for pages that require one. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery(useEnvironment())).data;
}

export function useHasPermission(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}

async function removeEndedImports(owner: string): Promise<void> {
  try {
    const { importStore } = await import('../shipments/import/import-store.ts');
    await importStore.removeEnded(owner);
  } catch {
    // A browser that stores nothing has nothing to remove.
  }
}

/** Signs out and drops all data that was read. Imports are removed too, unless they have unsent rows. */
export function useSignOut() {
  const [queries, navigate, client, owner] = [useQueryClient(), useNavigate(), useApi(), sessionOwner(useSession())];
  return useWrite({
    write: async () => {
      await removeEndedImports(owner);
      try {
        await client.session.signOut();
      } catch (error) {
        // A session that has ended already is what the user wants.
        if (!isSignedOut(error)) throw error;
      }
    },
    onDone: () => {
      notifyTabs();
      void navigate({ to: '/sign-in', search: {} }).then(() => queries.clear());
    },
  });
}

interface SessionListeners {
  /** Called when the session has ended. */
  readonly ended: () => void;
  /** Called when a permission that the page assumed was refused. */
  readonly refused: () => void;
  /** Called when another user has signed in with this browser. */
  readonly changed: () => void;
}

/** Creates caches that notice in every read and write that the session has changed. */
export function createSessionCaches({ ended, refused, changed }: SessionListeners) {
  let userId: string | undefined;
  const checkError = (error: unknown) => {
    if (isSignedOut(error)) ended();
    else if (error instanceof PermissionError) refused();
  };
  const queryCache = new QueryCache({
    onError: (error, { queryKey, state }) => {
      // Before the first session was read, the router redirects to the sign-in page.
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

let channel: BroadcastChannel | undefined;

/** Tabs of one browser share the session. */
function sessionChannel(): BroadcastChannel {
  channel ??= new BroadcastChannel('session');
  return channel;
}

/** Notifies the other tabs that the user signed in or out. */
export function notifyTabs(): void {
  sessionChannel().postMessage('changed');
}

/** Calls the listener when a user signs in or out in another tab. */
export function onSessionChange(listener: () => void): void {
  sessionChannel().addEventListener('message', listener);
}
