import { useEffect, useRef } from 'react';
import { useLiveEvent } from './live-events.ts';

/** Between an event and what follows from it elsewhere; events that come closely are one reason to read anew. */
const SETTLE_MS = 1_000;

/** Reads anew a moment after something happened, instead of waiting for the next time it is read in any case. */
export function useLiveRefetch(refetch: () => unknown): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLiveEvent(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      refetch();
    }, SETTLE_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
