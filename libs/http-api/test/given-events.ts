import type { EventEnvelope } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { Listed, Scope, SortValues } from '@tracking/read-models';
import type { EventListQuery, EventsService } from '../src/index.ts';

/** Events in memory, by the promises of the service; a test gives them in their order. */
export class GivenEvents implements EventsService {
  readonly given: EventEnvelope[] = [];
  /** Whether all events are there yet. */
  complete = true;
  /** What the last call waited for. */
  waitedFor: Position | undefined;

  list(scope: Scope, { filter, limit, after }: EventListQuery): Promise<Listed<EventEnvelope>> {
    const { type, shipment_id, since, until } = filter;
    const found = this.inScope(scope)
      .slice(this.placeBehind(scope, filter.after))
      .filter((event) => type === undefined || type.includes(event.type))
      .filter(({ data }) => shipment_id === undefined || data['shipment_id'] === shipment_id)
      .filter(({ created_at }) => since === undefined || created_at >= since)
      .filter(({ created_at }) => until === undefined || created_at <= until);
    const start = after === undefined ? 0 : found.findIndex(({ id }) => id === after[1]) + 1;
    const items = found.slice(start, start + limit);
    const last = items.at(-1);
    const next: SortValues | undefined = last && found.at(-1) !== last ? [last.created_at, last.id] : undefined;
    return Promise.resolve({ items, next });
  }

  get(scope: Scope, id: string): Promise<EventEnvelope | undefined> {
    return Promise.resolve(this.inScope(scope).find((event) => event.id === id));
  }

  reached(position: Position): Promise<boolean> {
    this.waitedFor = position;
    return Promise.resolve(this.complete);
  }

  private inScope({ workspace_id, environment }: Scope): readonly EventEnvelope[] {
    return this.given.filter((event) => event.workspace_id === workspace_id && event.environment === environment);
  }

  private placeBehind(scope: Scope, id: string | undefined): number {
    return this.inScope(scope).findIndex((event) => event.id === id) + 1;
  }
}
