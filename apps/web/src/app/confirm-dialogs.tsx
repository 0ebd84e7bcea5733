import { ModalsProvider, modals } from '@mantine/modals';
import { useEffect } from 'react';

export type ConfirmDialogOptions = Parameters<typeof modals.openConfirmModal>[0];

const { promise: mounted, resolve: resolveMounted } = Promise.withResolvers<void>();

/** Renders all open confirmation dialogs. */
export default function ConfirmDialogs() {
  useEffect(resolveMounted, []);
  return <ModalsProvider>{null}</ModalsProvider>;
}

/** Opens a confirmation dialog. The promise resolves when the dialog is visible. */
export async function openConfirmDialog(question: ConfirmDialogOptions): Promise<void> {
  await mounted;
  modals.openConfirmModal(question);
}
