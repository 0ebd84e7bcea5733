import { useQueryClient } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useWrite } from '../../app/write.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import type { MANUAL_RESOLUTIONS } from '../exception-labels.ts';
import { showExceptions } from './queue-queries.ts';

export interface Acknowledgement {
  readonly id: string;
  /** As it is where left out; null: nobody. */
  readonly assignee?: string | null;
  readonly note?: string;
}
export interface Resolution {
  readonly id: string;
  readonly code: (typeof MANUAL_RESOLUTIONS)[number];
  readonly note?: string;
}

/** What people do with an exception; each shows what became of it where it stands. */
export function useActs() {
  const [client, environment, queries] = [useApi(), useEnvironment(), useQueryClient()];
  const shown = <Written extends ShipmentException>(written: Written) => {
    showExceptions(queries, environment, [written]);
    return written;
  };
  const write = {
    acknowledge: async ({ id, ...words }: Acknowledgement) => shown(await client.exceptions.acknowledge(id, words)),
    resolve: async ({ id, ...words }: Resolution) => shown(await client.exceptions.resolve(id, words)),
  };
  const touches = [['exception-count', environment]];
  const acknowledge = useWrite({
    write: write.acknowledge,
    done: ({ assignee }) => (assignee === null ? 'Acknowledged.' : `Acknowledged, with ${assignee}.`),
    touches,
  });
  return {
    write,
    acknowledge,
    recount: () => queries.invalidateQueries({ queryKey: ['exception-count', environment] }),
  };
}
