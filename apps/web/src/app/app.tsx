import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/global.css';
import '@mantine/core/styles.css';
import './theme.css';
import './colors.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { watchingCaches, onOtherTab } from '../session/session.ts';
import { Questions, Told } from './overlays.tsx';
import { isWorthRepeating } from './failures.ts';
import { createAppRouter } from './router.tsx';
import { theme } from './theme.ts';

const caches = watchingCaches({
  ended: () => void signInAgain(),
  refused: () => void queryClient.invalidateQueries({ queryKey: ['session'] }),
  changed: () => globalThis.location.reload(),
});
const queryClient = new QueryClient({
  ...caches,
  defaultOptions: {
    // The client repeats what may be repeated by itself.
    queries: { retry: false, staleTime: 10_000, refetchOnWindowFocus: (query) => !isWorthRepeating(query.state.error) },
  },
});
onOtherTab(() => void queryClient.invalidateQueries({ queryKey: ['session'] }));
const router = createAppRouter(queryClient);

/** They come back to where they are. */
async function signInAgain(): Promise<void> {
  const { pathname, href } = router.state.location;
  if (pathname === '/sign-in' || pathname === '/invitation') return;
  await router.navigate({ to: '/sign-in', search: { next: href, ended: true } });
  // They may have stayed, for what they entered.
  if (router.state.location.pathname === '/sign-in') queryClient.clear();
}

/**
 * Everything around the pages. Styles come from files alone, also Mantine's variables: the policy of the page allows no
 * inline ones.
 */
export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Told />
        <Questions />
      </QueryClientProvider>
    </MantineProvider>
  );
}
