import { ModalsProvider, modals } from '@mantine/modals';
import { useEffect } from 'react';

export type Question = Parameters<typeof modals.openConfirmModal>[0];

const { promise: isThere, resolve: tellThere } = Promise.withResolvers<void>();

/** Renders confirm dialogs. */
export default function Asking() {
  useEffect(tellThere, []);
  return <ModalsProvider>{null}</ModalsProvider>;
}

/** Resolves when the question is shown. */
export async function ask(question: Question): Promise<void> {
  await isThere;
  modals.openConfirmModal(question);
}
