import { useClipboard } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { type ReactNode, useEffect } from 'react';

interface Props {
  readonly value: string;
  readonly children: (clipboard: { readonly copied: boolean; readonly copy: () => void }) => ReactNode;
}

/** Lets a button copy a text. Shows a notification if the browser refuses, as it does on pages that are not served over HTTPS. */
export function Copy({ value, children }: Props) {
  const { copy, copied, error } = useClipboard({ timeout: 1_000 });
  useEffect(() => {
    if (error === null) return;
    const message = 'The browser does not allow this page to copy. Select the text and copy it with the keyboard.';
    notifications.show({ title: 'Not copied', message, color: 'red', autoClose: 10_000 });
  }, [error]);
  return children({ copied, copy: () => copy(value) });
}
