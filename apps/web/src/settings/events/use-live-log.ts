import type { TrackingEvent } from '@tracking/client';
import { useEffect, useState } from 'react';
import { useLiveEvent } from '../../live/live-events.tsx';
import { MOST_LIVE, isAskedFor } from './event-log.ts';
import type { EventSearch } from './event-search.ts';

/** Shown at once so often. */
const SHOW_MS = 200;

/** What comes while the page is open, the oldest first; while it is paused it waits to be shown. */
export function useLiveLog(search: EventSearch, isPaused: boolean) {
  const [state, setState] = useState<{
    readonly shown: readonly TrackingEvent[];
    readonly waiting: readonly TrackingEvent[];
  }>({ shown: [], waiting: [] });
  const [gathered] = useState<{ events: TrackingEvent[]; timer?: ReturnType<typeof setTimeout> }>({ events: [] });
  useLiveEvent((event) => {
    if (!isAskedFor(event, search)) return;
    gathered.events.push(event);
    gathered.timer ??= setTimeout(() => {
      delete gathered.timer;
      const latest = gathered.events.splice(0);
      setState(({ shown, waiting }) => ({ shown, waiting: [...waiting, ...latest].slice(-MOST_LIVE) }));
    }, SHOW_MS);
  });
  useEffect(() => () => clearTimeout(gathered.timer), [gathered]);
  if (!isPaused && state.waiting.length > 0)
    setState({ shown: [...state.shown, ...state.waiting].slice(-MOST_LIVE), waiting: [] });
  return { shown: state.shown, waiting: state.waiting.length };
}
