import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay, useSession } from '../../session/session.ts';

/** What only those see who may write shipments; others are told why not. */
export function WritersOnly({ children }: { readonly children: ReactNode }) {
  const { role } = useSession();
  if (useMay('shipments:write')) return children;
  return (
    <Alert color="yellow" title="Your role may not write shipments">
      You are {role} here, which does not include <code>shipments:write</code>. An administrator can change that.
    </Alert>
  );
}
