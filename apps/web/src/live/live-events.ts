import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { Shipment, TrackingEvent } from '@tracking/client';
import { createContext, useContext, useEffect, useRef, useState } from 'react';
import { isSignedOut } from '../app/failures.ts';
import { type Environment, api } from '../session/api.ts';
import { useEnvironment } from '../session/session.ts';
import { leave, takeEarly } from './early-streams.ts';
import { isOfAList, missedNews, showShipments } from './live-news.ts';
import { LiveStream } from './live-stream.ts';
import { readOnceMore } from './read-once-more.ts';

export interface Live {
  /** Whether what happens is told; where not, what is shown may be old. Undefined until that is known. */
  readonly isOn: boolean | undefined;
  /** How often something happened that was not told. */
  readonly gaps: number;
}
const NOT_YET: Live = { isOn: undefined, gaps: 0 };
export const LiveContext = createContext(NOT_YET);
export const useLive = () => useContext(LiveContext);

/** What an event of a shipment makes old, beside the shipment itself: read anew once in so long, not for each of many. */
const SETTLE_MS = 1_000;
/** Shipments are shown at once so often: a page that draws itself for each of very many events stands still. */
const SHOW_MS = 200;
/** Shipments that are read at once for an exception or a document of theirs. */
const MOST_READ = 50;
/** Never read anew by itself: rows would move. */
const OF_LISTS: ReadonlySet<unknown> = new Set(['shipments', 'shipment-news', 'exception-queue', 'webhook-deliveries']);

type Listener = (event: TrackingEvent) => void;
const listeners = new Set<Listener>();

/** Calls it for each event of the environment that is looked at, as it comes. */
export function useLiveEvent(listener: Listener): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => {
    const tell: Listener = (event) => latest.current(event);
    listeners.add(tell);
    return () => void listeners.delete(tell);
  }, []);
}

/** Follows what happens, and puts it where it is shown. One stream for each tab that is in sight. */
export function useLiveEvents(): Live {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const [live, setLive] = useState(NOT_YET);
  useEffect(() => {
    const touched = new Touched(queries, environment);
    const changed = new Changed(queries, environment);
    const onEvent = (event: TrackingEvent) => {
      const { data } = event;
      if ('shipment' in data) changed.add(data.shipment);
      else changed.ask(data.shipment_id);
      touched.add(data.shipment_id);
      for (const listener of listeners) listener(event);
    };
    let early = takeEarly(environment);
    // What it did not come before was read once more when it opened.
    const isAhead = early?.isOpen ?? false;
    const stream = new LiveStream({
      stream: (query, options) => {
        const opened = early?.follow(options);
        early = undefined;
        return opened ?? api(environment).events.stream(query, options);
      },
      sight: document,
      onEvent,
      onState: (isOn) => setLive(({ gaps }) => ({ isOn, gaps })),
      onBeginning: () => !isAhead && readOnceMore(queries, environment),
      onGap: () => {
        setLive(({ isOn, gaps }) => ({ isOn, gaps: gaps + 1 }));
        void queries.invalidateQueries({ predicate: ({ queryKey: [kind] }) => !OF_LISTS.has(kind) });
        missedNews(queries, environment);
      },
      // Read anew, the session is seen to have ended.
      onRefusal: (error) => isSignedOut(error) && void queries.invalidateQueries({ queryKey: ['session'] }),
    });
    void stream.follow();
    return () => {
      stream.stop();
      early?.stop();
      leave(environment);
      touched.stop();
      changed.stop();
      // Nobody tells of this environment while another is looked at.
      missedNews(queries, environment);
    };
  }, [environment, queries]);
  return live;
}

/** Shipments that were told since they were last shown. */
class Changed {
  private readonly shipments: Shipment[] = [];
  private readonly asked = new Set<string>();
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

  /** Of exceptions and documents only what they are is told: how many a shipment has is read, where that is shown. */
  ask(id: string): void {
    this.asked.add(id);
    this.timer ??= setTimeout(() => this.show(), SHOW_MS);
  }

  private show(): void {
    this.timer = undefined;
    const { queries, environment } = this;
    showShipments(queries, environment, this.shipments.splice(0));
    const waiting = [...this.asked].filter(isOfAList(queries, environment));
    const ids = waiting.slice(0, MOST_READ);
    this.asked.clear();
    if (ids.length === 0) return;
    for (const id of waiting.slice(MOST_READ)) this.ask(id);
    void api(environment)
      .shipments.list({ id: ids, limit: ids.length })
      .page()
      .then(({ data }) => showShipments(queries, environment, data))
      // They stay as they were: the next event brings them.
      .catch(() => undefined);
  }
}

/** Shipments of which something happened: what belongs to them is read anew where it is shown. */
class Touched {
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
