import { Drawer, Loader, Modal, createTheme, type MantineColorScheme } from '@mantine/core';

/** Values of variables stand in theme.css: none are put into the page by a script. */
export const theme = createTheme({
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

export const COLOR_SCHEMES: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As the system' },
];
