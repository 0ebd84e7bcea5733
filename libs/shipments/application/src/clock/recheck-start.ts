import type { EventStore, Position } from '@tracking/ports';
import type { ReadModelsReached } from '../publisher/read-models-first.ts';
import type { Recheck } from './rechecks.ts';

interface Noticed {
  readonly version: number;
  /** In monotonic milliseconds. */
  readonly at: number;
  /** The end of the log when every replica went by the settings: what was decided by those before lies before it. */
  head?: Position | undefined;
}

export interface RecheckStartParts {
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Of the read model by which open shipments are found. */
  readonly readModelsReached: ReadModelsReached;
  /** From when a change is noticed, in milliseconds, until every replica goes by it. */
  readonly beginsAfterMs: number;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/**
 * When a re-check may begin: once no replica decides by the settings of before, and all shipments that any did decide by them
 * are found. Counted by one clock, from when the change is noticed: a process that takes over waits anew.
 */
export class RecheckStart {
  /** By workspace: those that wait. */
  private noticed = new Map<string, Noticed>();

  constructor(private readonly parts: RecheckStartParts) {}

  /** Forgets all but those that still wait. */
  keepOnly(waiting: ReadonlySet<string>): void {
    for (const id of this.noticed.keys()) if (!waiting.has(id)) this.noticed.delete(id);
  }

  /** Whether every replica goes by the change: it was noticed long enough ago. It is noticed when this is asked first. */
  hasWaited({ workspace_id, version }: Recheck): boolean {
    const { beginsAfterMs, elapsed } = this.parts;
    return elapsed() - this.noticedAt(workspace_id, version).at >= beginsAfterMs;
  }

  /** Whether all shipments are found that were decided before. To be asked when that has waited. @throws Unavailable */
  async isShown({ workspace_id, version }: Recheck): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const noticed = this.noticedAt(workspace_id, version);
    const head = (noticed.head ??= await eventStore.head());
    return head === undefined || (await readModelsReached(head, 0));
  }

  private noticedAt(workspaceId: string, version: number): Noticed {
    const before = this.noticed.get(workspaceId);
    if (before?.version === version) return before;
    const noticed = { version, at: this.parts.elapsed() };
    this.noticed.set(workspaceId, noticed);
    return noticed;
  }
}
