import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { isSignedOut } from '../app/failures.ts';
import { useWrite } from '../app/write.ts';
import { type Environment, api } from './api.ts';
import { tellTabs } from './tabs.ts';

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
