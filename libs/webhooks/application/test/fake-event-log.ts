import { type PublishedEvent, type WorkspaceScope, isResourceInScope } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import type { EventLog, EventLogQuery, LoggedEventWithoutData } from '../src/replays/replay-source.ts';

/** An in-memory log of published events. */
export class FakeEventLog implements EventLog {
  private readonly published: PublishedEvent[] = [];
  /** Ids of events that cannot be rebuilt. */
  readonly broken = new Set<string>();

  /** Hook that runs before events are rebuilt. */
  making: () => Promise<void> = () => Promise.resolve();
  /** Number of events that the log returns. Later events are not visible yet. */
  shown = Infinity;

  addEvents(...events: readonly PublishedEvent[]): void {
    this.published.push(...events);
  }

  page(scope: WorkspaceScope, { types, since, until, upTo, after, limit }: EventLogQuery) {
    // In tests, a position of the event store is the number of events.
    if (Number(upTo) > this.shown) return Promise.reject(new UnavailableError('read models', 'test'));
    const rows = this.listLoggedEventsOfScope(scope).filter(
      ({ type, created_at, position }) =>
        types.includes(type) &&
        (since === null || created_at >= since) &&
        (until === null || created_at <= until) &&
        position <= upTo &&
        (after === null || position > after),
    );
    const events = rows.slice(0, limit);
    return Promise.resolve({ events, next: rows.length > limit ? (events.at(-1)?.position ?? null) : null });
  }

  async makeEvents(rows: readonly LoggedEventWithoutData[]): Promise<readonly PublishedEvent[]> {
    await this.making();
    const wanted = rows.filter(({ id }) => !this.broken.has(id));
    return wanted.flatMap((row) => this.published.filter(({ id }) => id === row.id));
  }

  find(scope: WorkspaceScope, ids: readonly string[]): Promise<readonly LoggedEventWithoutData[]> {
    return Promise.resolve(this.listLoggedEventsOfScope(scope).filter(({ id }) => ids.includes(id)));
  }

  private listLoggedEventsOfScope(scope: WorkspaceScope): readonly LoggedEventWithoutData[] {
    return this.published.flatMap((event, index) => {
      const { id, type, created_at } = event;
      const position = String(index + 1).padStart(10, '0');
      return isResourceInScope(event, scope)
        ? [{ id, type, created_at, position, stream: 'shipment-1', revision: index }]
        : [];
    });
  }
}
