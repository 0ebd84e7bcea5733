import { useQueryClient } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useEffect, useState } from 'react';
import { useLive, useLiveEvent } from '../../live/live-events.ts';
import { useEnvironment } from '../../session/session.ts';
import { showExceptions } from './queue-queries.ts';
import type { QueueSearch } from './queue-address.ts';
import { belongs, mayLack } from './queue-search.ts';

/** What happened is shown at once so often, and views are counted anew so often. */
const SHOW_MS = 200;
const COUNT_MS = 5_000;

export interface QueueNews {
  /** Exceptions that belong to the list and are not in it. */
  readonly arrived: number;
  /** The list may lack exceptions that no event reported. */
  readonly missed: boolean;
  readonly forget: () => void;
}

interface ShownList {
  /** Ids of the exceptions that the list has. */
  readonly shown: ReadonlySet<string>;
  readonly pages: number;
}

/** Updates listed exceptions where they stand, and counts those that the list does not have yet. */
export function useQueueNews(search: QueueSearch, me: string, { shown, pages }: ShownList): QueueNews {
  const [environment, queries, { isOn, gaps }] = [useEnvironment(), useQueryClient(), useLive()];
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set());
  const [knownGaps, setKnownGaps] = useState(gaps);

  const [gathered] = useState<{ exceptions: ShipmentException[]; show?: Timer; count?: Timer }>({ exceptions: [] });
  const show = () => {
    const latest = gathered.exceptions.splice(0);
    showExceptions(queries, environment, latest);
    const added = latest.filter((one) => !shown.has(one.id) && belongs(one, search, me, Date.now()));
    if (added.length > 0) setArrived((known) => new Set([...known, ...added.map(({ id }) => id)]));
  };
  useLiveEvent(({ data }) => {
    if (!('exception' in data)) return;
    gathered.exceptions.push(data.exception);
    gathered.show ??= setTimeout(() => {
      delete gathered.show;
      show();
    }, SHOW_MS);
    gathered.count ??= setTimeout(() => {
      delete gathered.count;
      void queries.invalidateQueries({ queryKey: ['exception-count', environment] });
    }, COUNT_MS);
  });
  useEffect(
    () => () => {
      clearTimeout(gathered.show);
      clearTimeout(gathered.count);
    },
    [gathered],
  );
  return {
    arrived: [...arrived].filter((id) => !shown.has(id)).length,
    missed: mayLack({ isOn, gaps }, knownGaps, pages),
    forget: () => {
      setArrived(new Set());
      setKnownGaps(gaps);
    },
  };
}

type Timer = ReturnType<typeof setTimeout>;
