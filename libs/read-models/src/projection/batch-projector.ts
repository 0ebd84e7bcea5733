import type { Clock, Collection, StoredEvent, Write } from '@tracking/ports';
import type { ProjectedEvent, ReadModel, Row } from '../read-model.ts';
import { decode } from './decode.ts';
import type { ParkedStream, ParkedStreams } from './parked-streams.ts';
import { describe } from './parked-streams.ts';
import type { RowCache } from './row-cache.ts';
import type { StreamScopes } from './stream-scopes.ts';

export interface ProjectorParts {
  readonly model: ReadModel;
  readonly generation: number;
  readonly partition: string;
  readonly rows: Collection<Row>;
  readonly cache: RowCache<Row>;
  readonly parked: ParkedStreams;
  readonly scopes: StreamScopes;
  readonly clock: Clock;
}

interface Decoded {
  readonly decoded: readonly { readonly stored: StoredEvent; readonly projected: ProjectedEvent }[];
  readonly ids: ReadonlySet<string>;
}

/** An event that could not be applied. */
interface Failure {
  readonly event: StoredEvent;
  readonly error: unknown;
}

/**
 * Folds events into rows. Everything may be repeated: rows are written where they are newer than what is stored, and
 * the same events always make the same rows.
 */
export class BatchProjector {
  constructor(private readonly parts: ProjectorParts) {}

  /**
   * Resolves when the rows of all events are written and the streams that failed are parked, so that a checkpoint may
   * pass them. Events of parked streams are left out.
   * @throws Unavailable; repeat it with the same events
   */
  async project(events: readonly StoredEvent[]): Promise<void> {
    const { parked } = this.parts;
    const failures = await this.fold(events.filter((event) => !parked.get(event.stream)));
    for (const failure of failures) await parked.park(this.parking(failure, 1));
  }

  /**
   * Another attempt at a parked stream: its events from the one that failed to its end as it is now; those that the
   * catch-up still holds are recognised by the rows.
   * @returns whether the stream is no longer parked
   * @throws Unavailable
   */
  async retry(document: ParkedStream, events: readonly StoredEvent[]): Promise<boolean> {
    const { parked } = this.parts;
    const [failure] = await this.fold(events);
    if (failure) await parked.park(this.parking(failure, document.attempts + 1));
    else await parked.release(document);
    return !failure;
  }

  /** Applies and writes; answers the first failure of each stream, whose later events were left out. */
  private async fold(events: readonly StoredEvent[]): Promise<readonly Failure[]> {
    const { model, rows, cache } = this.parts;
    const failures = new Map<string, Failure>();
    const { decoded, ids } = await this.decode(events, failures);
    const present = await this.present(ids);

    const changed = new Map<string, Row>();
    const row = (id: string): Row | undefined => changed.get(id) ?? present.get(id);
    for (const { stored, projected } of decoded) {
      const failure = failures.get(stored.stream);
      if (failure && failure.event.revision < stored.revision) continue;
      try {
        for (const after of model.apply(projected, row)) changed.set(after.id, after);
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
    }
    if (changed.size > 0) await rows.writeMany([...changed.values()].map(ifNewer));
    for (const after of changed.values()) cache.set(after);
    return [...failures.values()];
  }

  /** The events in their newest version, and the ids of the rows they need; a stream ends before one that fails. */
  private async decode(events: readonly StoredEvent[], failures: Map<string, Failure>): Promise<Decoded> {
    const { model, scopes } = this.parts;
    const scopeOf = model.scoped ? await scopes.of(events) : undefined;
    const decoded: { stored: StoredEvent; projected: ProjectedEvent }[] = [];
    const ids = new Set<string>();
    for (const stored of events) {
      if (failures.has(stored.stream)) continue;
      try {
        const { stream, position } = stored;
        const projected = { stream, position, scope: scopeOf?.get(stream), event: decode(stored) };
        for (const id of model.reads(projected)) ids.add(id);
        decoded.push({ stored, projected });
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
    }
    return { decoded, ids };
  }

  private async present(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Row>> {
    const present = new Map<string, Row>();
    const missing: string[] = [];
    for (const id of ids) {
      const cached = this.parts.cache.get(id);
      if (cached) present.set(id, cached);
      else missing.push(id);
    }
    if (missing.length > 0) for (const stored of await this.parts.rows.getMany(missing)) present.set(stored.id, stored);
    return present;
  }

  private parking({ event, error }: Failure, attempts: number): ParkedStream {
    const { model, generation, partition, clock } = this.parts;
    return {
      id: `${model.name}.${generation}.${event.stream}`,
      read_model: model.name,
      generation,
      partition,
      stream: event.stream,
      revision: event.revision,
      event_type: event.type,
      error: describe(error),
      parked_at: clock().toISOString(),
      attempts,
      retry: false,
    };
  }
}

/** A row never goes back: neither by repeated work nor by a runner that lost its lease and does not know it yet. */
function ifNewer(row: Row): Write<Row> {
  return { kind: 'upsert', document: row, guard: { revision: { lt: row.revision } } };
}
