import type { MantineColorScheme } from '@mantine/core';

export const COLOR_SCHEMES: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As the system' },
];
