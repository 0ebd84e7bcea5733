import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/global.css';
import '@mantine/core/styles.css';
import './theme.css';
import { Drawer, Loader, MantineProvider, Modal, createTheme } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import {
  subscribeToSessionChangesInOtherTabs,
  createSessionQueryCaches,
  isSessionValidAfterRefusal,
} from '../session/session.ts';
import { isRetryableError } from './failures.ts';
import { NotificationArea, ConfirmDialogArea } from './overlays.tsx';
import { createAppRouter } from './router.tsx';

const queryCachesWatchingSession = createSessionQueryCaches({
  ended: () => void openSignInAfterSessionEnd(),
  refused: () => void queryClient.invalidateQueries({ queryKey: ['session'] }),
  changed: () => globalThis.location.reload(),
});
const queryClient = new QueryClient({
  ...queryCachesWatchingSession,
  defaultOptions: {
    // Query retries are disabled here, because the API client already retries requests that are safe to repeat.
    queries: { retry: false, staleTime: 10_000, refetchOnWindowFocus: (query) => !isRetryableError(query.state.error) },
  },
});
subscribeToSessionChangesInOtherTabs(() => void queryClient.invalidateQueries({ queryKey: ['session'] }));
const router = createAppRouter(queryClient);

/** Opens the sign-in page. After signing in, the user returns to the current page. */
async function openSignInAfterSessionEnd(): Promise<void> {
  if (isSignInPage()) return;
  if (await isSessionValidAfterRefusal()) {
    await queryClient.invalidateQueries();
    return;
  }
  if (isSignInPage()) return;
  const { href } = router.state.location;
  await router.navigate({ to: '/sign-in', search: { next: href, ended: true } });
  // The cached data stays if unsaved input has kept the user on the page.
  if (router.state.location.pathname === '/sign-in') queryClient.clear();
}

function isSignInPage(): boolean {
  return ['/sign-in', '/invitation'].includes(router.state.location.pathname);
}

/**
 * The root component with the providers for all pages. All styles, including Mantine's variables, come from files
 * because the content security policy forbids inline styles.
 */
export function App() {
  return (
    <MantineProvider theme={mantineTheme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <NotificationArea />
        <ConfirmDialogArea />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The file theme.css defines the variables of Mantine, because scripts may not add styles to the page. */
const mantineTheme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 5 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The role `status` lets screen readers announce the label of a loading indicator.
    Loader: Loader.extend({ defaultProps: { role: 'status' } }),
    // Dialogs do not lock page scrolling, because the lock adds an inline style that the CSP forbids.
    // The header of a dialog is not a landmark for screen readers.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, attributes: { header: { role: 'none' } } } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, attributes: { header: { role: 'none' } } } }),
  },
});
