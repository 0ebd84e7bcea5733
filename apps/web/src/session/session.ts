import { queryOptions, useQueryClient, useSuspenseQuery, MutationCache, QueryCache } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PermissionError } from '@tracking/client';
import { isSignedOut } from '../app/failures.ts';
import { useWrite } from '../app/write.ts';
import { type Environment, api } from './api.ts';

export type Session = Awaited<ReturnType<ReturnType<typeof api>['session']['get']>>;
export type Permission = Session['permissions'][number];

/** Whose the session is, in one word. */
export function ownerOf({ workspace, user }: Session): string {
  return `${workspace.id} ${user?.id ?? ''}`;
}

/** Who is signed in, and what they may do here. @throws AuthenticationError where nobody is */
export const sessionQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['session', environment],
    queryFn: ({ signal }): Promise<Session> => api(environment).session.get({ signal }),
    staleTime: 60_000,
  });

/** The environment that the page is about: it stands in its address. */
export function useEnvironment(): Environment {
  const { environment } = useSearch({ strict: false });
  return environment === 'test' ? 'test' : 'live';
}

export function useApi() {
  return api(useEnvironment());
}

/** Of whoever is signed in: pages that use it are shown to nobody else. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery(useEnvironment())).data;
}

export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}

async function forgetImports(owner: string): Promise<void> {
  try {
    const { importStore } = await import('../shipments/import/import-store.ts');
    await importStore.removeEnded(owner);
  } catch {
    // Where the browser keeps nothing, there is nothing to forget.
  }
}

/** Signs out, and forgets everything that was read; of imports only what is still to be sent is kept. */
export function useSignOut() {
  const [queries, navigate, client, owner] = [useQueryClient(), useNavigate(), useApi(), ownerOf(useSession())];
  return useWrite({
    write: async () => {
      await forgetImports(owner);
      try {
        await client.session.signOut();
      } catch (error) {
        // Ended already: so it is what they want.
        if (!isSignedOut(error)) throw error;
      }
    },
    onDone: () => {
      tellTabs();
      void navigate({ to: '/sign-in', search: {} }).then(() => queries.clear());
    },
  });
}

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

let channel: BroadcastChannel | undefined;

/** Tabs of one browser share the session. */
function sessionChannel(): BroadcastChannel {
  channel ??= new BroadcastChannel('session');
  return channel;
}

/** Tells the other tabs that somebody signed in or out. */
export function tellTabs(): void {
  sessionChannel().postMessage('changed');
}

/** Calls the listener when somebody signs in or out in another tab. */
export function onOtherTab(listener: () => void): void {
  sessionChannel().addEventListener('message', listener);
}
