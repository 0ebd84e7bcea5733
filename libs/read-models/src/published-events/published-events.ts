import { API_VERSIONS } from '@tracking/contracts';
import type { ApiVersion, EventEnvelope, PublishedEvent, Scope } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { EventBodies } from '@tracking/shipments-domain';
import type { QueryPage } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { EventListQuery } from './event-queries.ts';

const NEWEST: ApiVersion = API_VERSIONS[API_VERSIONS.length - 1] ?? API_VERSIONS[0];

/** The public events of a scope as they are delivered, whether or not an endpoint wanted them. */
export class PublishedEvents {
  constructor(
    private readonly readModels: Pick<ReadModels, 'queries' | 'progress'>,
    private readonly bodies: EventBodies,
  ) {}

  /** Oldest first; in the newest version of the payload. @throws Unavailable, Busy */
  async list(scope: Scope, query: EventListQuery): Promise<QueryPage<EventEnvelope>> {
    const { items, next } = await this.readModels.queries.published_events.list(scope, query);
    return { items: (await this.bodies(items)).map(envelope), next };
  }

  /** @throws Unavailable */
  async get(scope: Scope, id: string): Promise<EventEnvelope | undefined> {
    const found = await this.readModels.queries.published_events.get(scope, id);
    const [body] = found ? await this.bodies([found]) : [];
    return body && envelope(body);
  }

  /** Whether the events of everything stored up to the position are there, now or within the time. @throws Busy */
  reached(position: Position, timeoutMs: number): Promise<boolean> {
    return this.readModels.progress.reached('published_events', position, timeoutMs);
  }
}

/** Its members in the order of a delivery's. */
function envelope({ id, type, created_at, ...rest }: PublishedEvent): EventEnvelope {
  return { id, type, created_at, api_version: NEWEST, ...rest };
}
