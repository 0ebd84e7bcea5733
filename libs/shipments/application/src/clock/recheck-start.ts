import type { EventStore, Position } from '@tracking/ports';
import type { ReadModelsReached } from '../publisher/read-models-first.ts';
import type { Recheck } from './rechecks.ts';

interface Noticed {
  readonly version: number;
  readonly step: number;
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
  hasWaited(recheck: Recheck): boolean {
    const { beginsAfterMs, elapsed } = this.parts;
    return elapsed() - this.noticedAt(recheck).at >= beginsAfterMs;
  }

  /** Whether all shipments are found that were decided before. To be asked when that has waited. @throws Unavailable */
  async isShown(recheck: Recheck): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const noticed = this.noticedAt(recheck);
    const head = (noticed.head ??= await eventStore.head());
    return head === undefined || (await readModelsReached(head, 0));
  }

  private noticedAt({ workspace_id, version, step }: Recheck): Noticed {
    const before = this.noticed.get(workspace_id);
    if (before?.version === version && before.step === step) return before;
    const noticed = { version, step, at: this.parts.elapsed() };
    this.noticed.set(workspace_id, noticed);
    return noticed;
  }
}
