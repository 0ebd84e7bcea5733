import { setImmediate } from 'node:timers/promises';
import type { Timestamp } from '@tracking/contracts';
import type { Collection, StoredEvent, CollectionWrite } from '@tracking/ports';
import type { EventFailure, EventHandler, HandledEvent } from '@tracking/subscriptions';
import type { LRUCache } from 'lru-cache';
import type { ProjectedEvent, ReadModel, ReadModelRow } from '../read-model.ts';
import { toShipmentEvent } from '@tracking/shipments-domain';
import type { StreamScopes } from './stream-scopes.ts';

/** Events folded before others get their turn on the thread: a few milliseconds. */
const EVENTS_AT_ONCE = 200;

export interface ProjectorParts {
  readonly model: ReadModel;
  readonly rows: Collection<ReadModelRow>;
  readonly cache: LRUCache<string, ReadModelRow>;
  readonly scopes: StreamScopes;
  /** Rows from before it are over their retention; undefined: there is none. */
  readonly keptSince?: () => Timestamp | undefined;
}

interface Decoded {
  readonly decoded: readonly { readonly stored: StoredEvent; readonly projected: ProjectedEvent }[];
  readonly ids: ReadonlySet<string>;
}

/**
 * Folds events into rows. Everything may be repeated: rows are written where they are newer than what is stored, and
 * the same events always make the same rows.
 */
export class BatchProjector implements EventHandler {
  constructor(private readonly parts: ProjectorParts) {}

  /** Resolves when the rows of all events but those of streams that failed are written. */
  async handle(events: readonly HandledEvent[]): Promise<readonly EventFailure[]> {
    const { model, rows, cache } = this.parts;
    const failures = new Map<string, EventFailure>();
    const { decoded, ids } = await this.decode(events, failures);
    const present = await this.present(ids);

    const keptSince = model.retainedFrom && this.parts.keptSince?.();
    const isKept = (after: ReadModelRow) => keptSince === undefined || model.retainedFrom!(after) >= keptSince;
    const changed = new Map<string, ReadModelRow>();
    const row = (id: string): ReadModelRow | undefined => changed.get(id) ?? present.get(id);
    for (const [index, { stored, projected }] of decoded.entries()) {
      if (index % EVENTS_AT_ONCE === EVENTS_AT_ONCE - 1) await setImmediate();
      const failure = failures.get(stored.stream);
      if (failure && failure.event.revision < stored.revision) continue;
      try {
        for (const after of model.apply(projected, row).filter(isKept)) changed.set(after.id, after);
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
    }
    if (changed.size > 0) await rows.writeMany([...changed.values()].map(ifNewer));
    if (model.reads !== undefined) for (const after of changed.values()) cache.set(after.id, after);
    return [...failures.values()];
  }

  /** The events in their newest version, and the ids of the rows they need; a stream ends before one that fails. */
  private async decode(events: readonly HandledEvent[], failures: Map<string, EventFailure>): Promise<Decoded> {
    const { model, scopes } = this.parts;
    const scopeOf = model.scoped ? await scopes.of(events) : undefined;
    const decoded: { stored: StoredEvent; projected: ProjectedEvent }[] = [];
    const ids = new Set<string>();
    for (const stored of events) {
      if (failures.has(stored.stream)) continue;
      try {
        const { id, stream, position, place } = stored;
        const projected = { id, stream, position, place, scope: scopeOf?.get(stream), event: toShipmentEvent(stored) };
        for (const read of model.reads?.(projected) ?? []) ids.add(read);
        decoded.push({ stored, projected });
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
    }
    return { decoded, ids };
  }

  private async present(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, ReadModelRow>> {
    const present = new Map<string, ReadModelRow>();
    const missing: string[] = [];
    for (const id of ids) {
      const cached = this.parts.cache.get(id);
      if (cached) present.set(id, cached);
      else missing.push(id);
    }
    if (missing.length > 0) for (const stored of await this.parts.rows.getMany(missing)) present.set(stored.id, stored);
    return present;
  }
}

/** A row never goes back: neither by repeated work nor by a runner that lost its lease and does not know it yet. */
function ifNewer(row: ReadModelRow): CollectionWrite<ReadModelRow> {
  return { kind: 'upsert', document: row, guard: { revision: { lt: row.revision } } };
}
