import { Badge } from '@mantine/core';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { Shipment, TrackingEvent } from '@tracking/client';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isSignedOutError } from '../app/failures.ts';
import { type Environment, getApiClient } from '../session/api.ts';
import { useEnvironment } from '../session/session.ts';
import {
  createShipmentRereadPredicate,
  markVisibleShipmentListsAsMissingUpdates,
  refetchDataOfEnvironment,
  updateCachedShipments,
} from './live-updates.ts';
import { LiveStream } from './live-stream.ts';

/** State of the event stream for the environment that the page shows. */
export interface LiveStreamStatus {
  /**
   * True while the stream is connected. If false, the page may show outdated data. Undefined until the first connection
   * opens or fails.
   */
  readonly isConnected: boolean | undefined;
  /** Number of times that the stream has lost events. */
  readonly gaps: number;
}

/** Milliseconds for which events are collected before the queries about their shipments are refetched. */
const REFETCH_DELAY_MS = 1_000;
/**
 * Milliseconds between updates of the displayed shipments. Rendering the page for each event would freeze it when many
 * events arrive.
 */
const SHIPMENT_DISPLAY_UPDATE_INTERVAL_MS = 200;
/** Maximum number of shipments read in one request. */
const MAX_SHIPMENTS_PER_REQUEST = 50;
/** Query kinds of lists without automatic refetch. A refetch would move their rows. */
const LISTS_WITHOUT_AUTO_REFETCH: ReadonlySet<unknown> = new Set([
  'shipments',
  'shipment-news',
  'exception-queue',
  'webhook-deliveries',
]);

/**
 * Starts the event stream of an environment. Does nothing if this stream is already running. The router calls this
 * function before it loads the code of the page. The stream therefore starts before the page reads its data, and no
 * data must be read again.
 */
export function startLiveFeed(queries: QueryClient, environment: Environment): void {
  if (liveFeed?.environment === environment) return;
  liveFeed?.stopLiveFeed();
  liveFeed = new LiveEventCacheUpdater(queries, environment);
}

/** Runs the event stream of the current environment while the component is mounted. */
export function useLiveStream(): void {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  useEffect(() => {
    startLiveFeed(queries, environment);
    return () => {
      // The router may have started the stream of another environment, which must keep running.
      if (liveFeed?.environment !== environment) return;
      liveFeed.stopLiveFeed();
      liveFeed = undefined;
      updateStreamStatus({ isConnected: undefined });
    };
  }, [environment, queries]);
}

export function useLiveStreamStatus(): LiveStreamStatus {
  return useSyncExternalStore(subscribeToConnectionStatus, () => liveStreamStatus);
}

/** Calls the listener for each event of the current environment. */
export function useLiveEventListener(listener: (event: TrackingEvent) => void): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const call = (event: TrackingEvent) => latest.current(event);
    liveEventListeners.add(call);
    return () => void liveEventListeners.delete(call);
  }, []);
}

/**
 * Calls `refetch` shortly after an event, and only once for several events that arrive together. The query does not
 * wait for its next poll.
 */
export function useLiveRefetch(refetch: () => unknown): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLiveEventListener(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      refetch();
    }, REFETCH_DELAY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

/**
 * Badge that shows if the page receives events. The badge does not use the word “Live”, because it is the name of an
 * environment.
 */
export function ConnectionBadge() {
  const { isConnected } = useLiveStreamStatus();
  return (
    <Badge
      variant="dot"
      color={isConnected === true ? 'var(--mantine-color-green-outline)' : 'gray'}
      tt="none"
      role="status"
      miw="max-content"
    >
      {isConnected === undefined ? 'Connecting…' : isConnected ? 'Connected' : 'Reconnecting…'}
    </Badge>
  );
}

const liveEventListeners = new Set<(event: TrackingEvent) => void>();
const streamStatusListeners = new Set<() => void>();
let liveStreamStatus: LiveStreamStatus = { isConnected: undefined, gaps: 0 };
let liveFeed: LiveEventCacheUpdater | undefined;

function subscribeToConnectionStatus(watcher: () => void): () => void {
  streamStatusListeners.add(watcher);
  return () => void streamStatusListeners.delete(watcher);
}

function updateStreamStatus(change: Partial<LiveStreamStatus>): void {
  liveStreamStatus = { ...liveStreamStatus, ...change };
  for (const watcher of streamStatusListeners) watcher();
}

/** Receives the events of one environment, updates the query cache and calls the event listeners. */
class LiveEventCacheUpdater {
  private readonly pendingRefetches: RefetcherOfChangedShipments;
  private readonly pendingUpdates: PendingShipmentUpdates;
  private readonly stream: LiveStream;

  constructor(
    private readonly queries: QueryClient,
    readonly environment: Environment,
  ) {
    this.pendingRefetches = new RefetcherOfChangedShipments(queries, environment);
    this.pendingUpdates = new PendingShipmentUpdates(queries, environment);
    this.stream = new LiveStream({
      stream: (query, options) => getApiClient(environment).events.stream(query, options),
      visibility: document,
      onEvent: (event) => this.processLiveEvent(event),
      onState: (isOn) => updateStreamStatus({ isConnected: isOn }),
      onFirstOpen: () => refetchDataOfEnvironment(queries, environment),
      onGap: () => {
        updateStreamStatus({ gaps: liveStreamStatus.gaps + 1 });
        void queries.invalidateQueries({ predicate: ({ queryKey: [kind] }) => !LISTS_WITHOUT_AUTO_REFETCH.has(kind) });
        markVisibleShipmentListsAsMissingUpdates(queries, environment);
      },
      // A refetch of the session finds out that the session has ended.
      onRejected: (error) => isSignedOutError(error) && void queries.invalidateQueries({ queryKey: ['session'] }),
    });
    void this.stream.runLiveEventStream();
  }

  stopLiveFeed(): void {
    this.stream.stopStream();
    this.pendingRefetches.stopRefetches();
    this.pendingUpdates.stopUpdates();
    // The lists are marked as outdated, because from now on the page misses the events of this environment.
    markVisibleShipmentListsAsMissingUpdates(this.queries, this.environment);
  }

  private processLiveEvent(event: TrackingEvent): void {
    const { data } = event;
    if ('shipment' in data) this.pendingUpdates.queueChangedShipmentForDisplay(data.shipment);
    else this.pendingUpdates.readShipmentIfListed(data.shipment_id);
    this.pendingRefetches.scheduleRefetchOfChangedShipment(data.shipment_id);
    for (const listener of liveEventListeners) listener(event);
  }
}

/** Collects changed shipments, and shows them together after a short delay. */
class PendingShipmentUpdates {
  private readonly shipments: Shipment[] = [];
  private readonly idsToRead = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly environment: Environment,
  ) {}

  queueChangedShipmentForDisplay(shipment: Shipment): void {
    this.shipments.push(shipment);
    this.timer ??= setTimeout(() => this.showPendingShipmentUpdates(), SHIPMENT_DISPLAY_UPDATE_INTERVAL_MS);
  }

  stopUpdates(): void {
    clearTimeout(this.timer);
  }

  /**
   * Reads a shipment again if a list shows it. Events about exceptions and documents contain only the shipment's id.
   */
  readShipmentIfListed(id: string): void {
    this.idsToRead.add(id);
    this.timer ??= setTimeout(() => this.showPendingShipmentUpdates(), SHIPMENT_DISPLAY_UPDATE_INTERVAL_MS);
  }

  private showPendingShipmentUpdates(): void {
    this.timer = undefined;
    const { queries, environment } = this;
    updateCachedShipments(queries, environment, this.shipments.splice(0));
    const waiting = [...this.idsToRead].filter(createShipmentRereadPredicate(queries, environment));
    const ids = waiting.slice(0, MAX_SHIPMENTS_PER_REQUEST);
    this.idsToRead.clear();
    if (ids.length === 0) return;
    for (const id of waiting.slice(MAX_SHIPMENTS_PER_REQUEST)) this.readShipmentIfListed(id);
    void getApiClient(environment)
      .shipments.list({ id: ids, limit: ids.length })
      .page()
      .then(({ data }) => updateCachedShipments(queries, environment, data))
      // They stay as they are until their next event.
      .catch(() => undefined);
  }
}

/**
 * Collects the ids of shipments that had events, and refetches the queries about these shipments after a short delay.
 */
class RefetcherOfChangedShipments {
  private readonly ids = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly environment: Environment,
  ) {}

  scheduleRefetchOfChangedShipment(shipmentId: string): void {
    this.ids.add(shipmentId);
    this.timer ??= setTimeout(() => this.refetchQueriesOfChangedShipments(), REFETCH_DELAY_MS);
  }

  stopRefetches(): void {
    clearTimeout(this.timer);
  }

  private refetchQueriesOfChangedShipments(): void {
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
