import type { ShipmentException } from '@tracking/client';
import type { MANUAL_RESOLUTIONS } from '../../exceptions/exception-labels.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { useGuardedWrite } from '../meanwhile/use-guarded-write.ts';
import { readException } from './exception-queries.ts';

/** What can be done about an exception. */
export type Dealing =
  | { readonly kind: 'acknowledge' | 'assign'; readonly assignee: string | null; readonly note?: string }
  | { readonly kind: 'remark'; readonly note: string }
  | { readonly kind: 'resolve'; readonly code: (typeof MANUAL_RESOLUTIONS)[number]; readonly note?: string };

const DONE: Readonly<Record<Dealing['kind'], string>> = {
  acknowledge: 'Acknowledged.',
  assign: 'Assigned.',
  remark: 'The note is kept.',
  resolve: 'Resolved.',
};
/** What somebody decides by: when one of these is another, they would look again. */
export const DECIDED_BY = ['status', 'severity', 'assignee', 'detail', 'resolution'] as const;
const DECISIVE = ['status', 'severity', 'assignee', 'detail'] as const;

/** Acknowledges, assigns, remarks on and resolves exceptions, as they were seen. */
export function useDealing(onEnd: () => void) {
  const [client, environment] = [useApi(), useEnvironment()];
  return useGuardedWrite<ShipmentException, Dealing, Dealing>({
    kind: 'exception',
    write: async ({ id }, dealing, ifMatch) => {
      const { kind, ...words } = dealing;
      if (dealing.kind === 'resolve')
        await client.exceptions.resolve(id, { code: dealing.code, note: dealing.note }, { ifMatch });
      else await client.exceptions.acknowledge(id, words, { ifMatch });
      return { kind, ...words } as Dealing;
    },
    read: ({ id }) => readException(environment, id),
    isSame: (seen, now) => DECISIVE.every((field) => seen[field] === now[field]),
    canStill: ({ status }) => status !== 'resolved',
    done: ({ kind }) => DONE[kind],
    onDone: onEnd,
    onLeft: onEnd,
  });
}
