import { notifications } from '@mantine/notifications';
import { type ReactNode, useEffect, useState } from 'react';

/** Milliseconds for which a button shows "Copied" after a click. */
const COPIED_LABEL_DURATION_MS = 1_000;

interface CopyTextProps {
  readonly value: string;
  readonly children: (clipboard: { readonly copied: boolean; readonly copy: () => void }) => ReactNode;
}

/** Gives its child button a function that copies a text. Shows a notification if the browser refuses to copy. */
export function CopyTextRenderPropWrapper({ value, children }: CopyTextProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    const timer = copied ? setTimeout(() => setCopied(false), COPIED_LABEL_DURATION_MS) : undefined;
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    if (!(await copyText(value))) {
      const message = 'The browser does not allow this page to copy. Select the text and copy it with the keyboard.';
      notifications.show({ title: 'Text not copied', message, color: 'red', autoClose: 10_000 });
      return;
    }
    setCopied(true);
  };
  return children({ copied, copy: () => void copy() });
}

/** Copies a text to the clipboard. @returns false if the browser refuses to copy */
async function copyText(text: string): Promise<boolean> {
  // Browsers provide `navigator.clipboard` only to pages served over HTTPS or from localhost.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) return copyTextBySelection(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return copyTextBySelection(text);
  }
}

/**
 * Copies a text with `execCommand`, which copies the selection of a hidden text field. The command is deprecated but
 * works without HTTPS.
 */
function copyTextBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.style.cssText = 'position: fixed; top: 0; opacity: 0';
  // The hidden text field is added inside an open dialog, because the dialog keeps the focus within itself.
  (focused?.parentElement ?? document.body).append(field);
  try {
    field.select();
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
