import { Badge } from '@mantine/core';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { Shipment, TrackingEvent } from '@tracking/client';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isSignedOut } from '../app/failures.ts';
import { type Environment, api } from '../session/api.ts';
import { useEnvironment } from '../session/session.ts';
import { concernsLists, missedNews, readOnceMore, showShipments } from './live-news.ts';
import { LiveStream } from './live-stream.ts';

/** The state of the event stream of the environment that is shown. */
export interface Live {
  /** True while events arrive; otherwise the page may be out of date. Undefined until the first connection opens or fails. */
  readonly isOn: boolean | undefined;
  /** Number of times that events were missed. */
  readonly gaps: number;
}

/** Time in which further events of a shipment are gathered before what belongs to the shipment is read again. */
const SETTLE_MS = 1_000;
/** Time in which shipments are gathered before they are shown: a page that renders each of very many events freezes. */
const SHOW_MS = 200;
/** Shipments read in one request for their exceptions or documents. */
const MAX_SHIPMENTS_READ = 50;
/** Lists that are never read again by themselves, since their rows would move. */
const LISTS: ReadonlySet<unknown> = new Set(['shipments', 'shipment-news', 'exception-queue', 'webhook-deliveries']);

/**
 * Begins to follow the events of an environment, unless they are followed already. The router calls it before the code of the
 * page is loaded, so that the stream is older than the data of the page and nothing has to be read twice.
 */
export function followEvents(queries: QueryClient, environment: Environment): void {
  if (feed?.environment === environment) return;
  feed?.stop();
  feed = new Feed(queries, environment);
}

/** Follows the events of the environment while the component is shown. */
export function useLiveEvents(): void {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  useEffect(() => {
    followEvents(queries, environment);
    return () => {
      // The router may follow the next environment already.
      if (feed?.environment !== environment) return;
      feed.stop();
      feed = undefined;
      setLive({ isOn: undefined });
    };
  }, [environment, queries]);
}

export function useLive(): Live {
  return useSyncExternalStore(watchLive, () => live);
}

/** Calls the listener for each event of the environment, as it arrives. */
export function useLiveEvent(listener: (event: TrackingEvent) => void): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const call = (event: TrackingEvent) => latest.current(event);
    listeners.add(call);
    return () => void listeners.delete(call);
  }, []);
}

/** Calls `refetch` once, a moment after one or more events, instead of waiting for the next poll. */
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

/** Shows whether the page is kept up to date. Its words differ from “Live”, the name of an environment. */
export function LiveMark() {
  const { isOn } = useLive();
  return (
    <Badge
      variant="dot"
      color={isOn === true ? 'var(--mantine-color-green-outline)' : 'gray'}
      tt="none"
      role="status"
      miw="max-content"
    >
      {isOn === undefined ? 'Connecting…' : isOn ? 'Connected' : 'Reconnecting…'}
    </Badge>
  );
}

const listeners = new Set<(event: TrackingEvent) => void>();
const watchers = new Set<() => void>();
let live: Live = { isOn: undefined, gaps: 0 };
let feed: Feed | undefined;

function watchLive(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

function setLive(change: Partial<Live>): void {
  live = { ...live, ...change };
  for (const watcher of watchers) watcher();
}

/** Puts events of one environment into the query cache and passes them on to listeners. */
class Feed {
  private readonly touched: TouchedShipments;
  private readonly changed: ChangedShipments;
  private readonly stream: LiveStream;

  constructor(
    private readonly queries: QueryClient,
    readonly environment: Environment,
  ) {
    this.touched = new TouchedShipments(queries, environment);
    this.changed = new ChangedShipments(queries, environment);
    this.stream = new LiveStream({
      stream: (query, options) => api(environment).events.stream(query, options),
      sight: document,
      onEvent: (event) => this.apply(event),
      onState: (isOn) => setLive({ isOn }),
      onBeginning: () => readOnceMore(queries, environment),
      onGap: () => {
        setLive({ gaps: live.gaps + 1 });
        void queries.invalidateQueries({ predicate: ({ queryKey: [kind] }) => !LISTS.has(kind) });
        missedNews(queries, environment);
      },
      // Reading the session again shows that it has ended.
      onRefusal: (error) => isSignedOut(error) && void queries.invalidateQueries({ queryKey: ['session'] }),
    });
    void this.stream.follow();
  }

  stop(): void {
    this.stream.stop();
    this.touched.stop();
    this.changed.stop();
    // Events of this environment are missed from now on.
    missedNews(this.queries, this.environment);
  }

  private apply(event: TrackingEvent): void {
    const { data } = event;
    if ('shipment' in data) this.changed.add(data.shipment);
    else this.changed.read(data.shipment_id);
    this.touched.add(data.shipment_id);
    for (const listener of listeners) listener(event);
  }
}

/** Shipments whose new state is not shown yet. */
class ChangedShipments {
  private readonly shipments: Shipment[] = [];
  private readonly idsToRead = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly environment: Environment,
  ) {}

  add(shipment: Shipment): void {
    this.shipments.push(shipment);
    this.timer ??= setTimeout(() => this.show(), SHOW_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /** Events of exceptions and documents do not hold the shipment: it is read if a list shows it. */
  read(id: string): void {
    this.idsToRead.add(id);
    this.timer ??= setTimeout(() => this.show(), SHOW_MS);
  }

  private show(): void {
    this.timer = undefined;
    const { queries, environment } = this;
    showShipments(queries, environment, this.shipments.splice(0));
    const waiting = [...this.idsToRead].filter(concernsLists(queries, environment));
    const ids = waiting.slice(0, MAX_SHIPMENTS_READ);
    this.idsToRead.clear();
    if (ids.length === 0) return;
    for (const id of waiting.slice(MAX_SHIPMENTS_READ)) this.read(id);
    void api(environment)
      .shipments.list({ id: ids, limit: ids.length })
      .page()
      .then(({ data }) => showShipments(queries, environment, data))
      // They stay as they are until their next event.
      .catch(() => undefined);
  }
}

/** Shipments that had events: whatever else the page shows of them is read again. */
class TouchedShipments {
  private readonly ids = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly environment: Environment,
  ) {}

  add(shipmentId: string): void {
    this.ids.add(shipmentId);
    this.timer ??= setTimeout(() => this.settle(), SETTLE_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private settle(): void {
    this.timer = undefined;
    const ids = new Set(this.ids);
    this.ids.clear();
    const { environment } = this;
    void this.queries.invalidateQueries({
      predicate: ({ queryKey: [kind, of, id] }) =>
        of === environment &&
        (kind === 'exceptions' || (typeof id === 'string' && kind !== 'shipments' && ids.has(id))),
    });
  }
}
