import { type PublishedEvent, type Scope, isInScope } from '@tracking/contracts';
import type { EventLog, EventLogQuery, LoggedEventRow } from '../src/replays/event-log.ts';

/** The log of published events, in memory. */
export class FakeEventLog implements EventLog {
  private readonly published: PublishedEvent[] = [];
  /** How many of them it shows, the oldest ones. */
  shown = Infinity;
  /** Ids of those that cannot be made again. */
  readonly broken = new Set<string>();

  add(...events: readonly PublishedEvent[]): void {
    this.published.push(...events);
  }

  page(scope: Scope, { types, since, until, after, limit }: EventLogQuery) {
    const rows = this.rows(scope).filter(
      ({ type, created_at, position }) =>
        types.includes(type) &&
        (since === null || created_at >= since) &&
        created_at <= until &&
        (after === null || position > after),
    );
    const events = rows.slice(0, limit);
    return Promise.resolve({ events, next: rows.length > limit ? (events.at(-1)?.position ?? null) : null });
  }

  /** Positions of the event store count the events, on the stage. */
  reached(position: string) {
    return Promise.resolve(Number(position) <= this.shown);
  }

  make(rows: readonly LoggedEventRow[]): Promise<readonly PublishedEvent[]> {
    const wanted = rows.filter(({ id }) => !this.broken.has(id));
    return Promise.resolve(wanted.flatMap((row) => this.published.filter(({ id }) => id === row.id)));
  }

  find(scope: Scope, ids: readonly string[]): Promise<readonly LoggedEventRow[]> {
    return Promise.resolve(this.rows(scope).filter(({ id }) => ids.includes(id)));
  }

  private rows(scope: Scope): readonly LoggedEventRow[] {
    return this.published.slice(0, this.shown).flatMap((event, index) => {
      const { id, type, created_at } = event;
      const position = index.toString(16).padStart(16, '0');
      return isInScope(event, scope) ? [{ id, type, created_at, position, stream: 'shipment-1', revision: index }] : [];
    });
  }
}
