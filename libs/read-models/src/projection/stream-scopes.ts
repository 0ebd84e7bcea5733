import type { Scope } from '@tracking/contracts';
import type { EventStore, StoredEvent } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { toShipmentEvent } from '@tracking/shipments-domain';

const REMEMBERED = 50_000;
const READS_AT_ONCE = 16;

/** Whose each stream is: its first event says so. The streams seen last are remembered. */
export class StreamScopes {
  /** Bounded by size: with `max` the cache would take the memory of all of them when it is made. */
  private readonly remembered = new LRUCache<string, Scope>({ maxSize: REMEMBERED, sizeCalculation: () => 1 });

  constructor(private readonly eventStore: EventStore) {}

  /**
   * Scopes of the streams of these events, by stream. First events that are neither among them nor remembered are read;
   * a stream whose first event tells no scope is left out.
   * @throws Unavailable
   */
  async of(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, Scope>> {
    const scopes = new Map<string, Scope>();
    const unknown = new Set<string>();
    for (const { stream, revision, ...rest } of events) {
      if (revision === 0) this.learn(scopes, { stream, revision, ...rest });
      else if (!scopes.has(stream)) {
        const scope = this.remembered.get(stream);
        if (scope) scopes.set(stream, scope);
        else unknown.add(stream);
      }
    }
    const streams = unknown.values();
    const readSome = async (): Promise<void> => {
      for (const stream of streams) {
        const [first] = await this.eventStore.read(stream, { from: 0, to: 0 });
        if (first) this.learn(scopes, first);
      }
    };
    await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, unknown.size) }, readSome));
    return scopes;
  }

  private learn(scopes: Map<string, Scope>, first: StoredEvent): void {
    const scope = scopeIn(first);
    if (!scope) return;
    scopes.set(first.stream, scope);
    this.remembered.set(first.stream, scope);
  }
}

function scopeIn(first: StoredEvent): Scope | undefined {
  try {
    const event = toShipmentEvent(first);
    if (event.type !== 'shipment.created.v1') return undefined;
    return { workspace_id: event.data.workspace_id, environment: event.data.environment };
  } catch {
    // What cannot be read is parked by whoever applies it, with the reason.
    return undefined;
  }
}
