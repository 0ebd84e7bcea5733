import { ModalsProvider, modals } from '@mantine/modals';
import { useEffect } from 'react';

export type Question = Parameters<typeof modals.openConfirmModal>[0];

const { promise: mounted, resolve: resolveMounted } = Promise.withResolvers<void>();

/** Renders confirm dialogs. */
export default function Asking() {
  useEffect(resolveMounted, []);
  return <ModalsProvider>{null}</ModalsProvider>;
}

/** Resolves when the question is shown. */
export async function ask(question: Question): Promise<void> {
  await mounted;
  modals.openConfirmModal(question);
}
