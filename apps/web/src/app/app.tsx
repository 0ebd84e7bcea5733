import { MantineProvider, Drawer, Loader, Modal, createTheme } from '@mantine/core';
import '@mantine/core/styles.css';
import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/global.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { watchingCaches, onOtherTab } from '../session/session.ts';
import { isWorthRepeating } from './failures.ts';
import { Questions, Told } from './overlays.tsx';
import { createAppRouter } from './router.tsx';
import './theme.css';

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

/** Values of variables stand in theme.css: none are put into the page by a script. */
const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 5 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // What its label says is said to those who do not see it.
    Loader: Loader.extend({ defaultProps: { role: 'status' } }),
    // Locking the page behind them puts an inline style into it, which its policy refuses. Their head is not the page's.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, attributes: { header: { role: 'none' } } } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, attributes: { header: { role: 'none' } } } }),
  },
});
