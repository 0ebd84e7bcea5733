import type { WorkspaceSettings } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import { withDeadline } from '@tracking/resilience';
import { LRUCache } from 'lru-cache';

/**
 * What a look-up found is used this long, counted from its beginning, and one that takes longer than the other time is
 * none: so a change holds everywhere within five seconds, also where the store is slow.
 */
const USED_FOR_MS = 3_000;
const LOOK_UP_MS = 4_000;
const MAX_KEPT = 10_000;

interface Known {
  readonly settings: WorkspaceSettings;
  /** By the monotonic clock. */
  readonly until: number;
}

/** Settings that were looked up a moment ago. Requests for the same ones share a look-up. */
export class RecentSettings {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KEPT });
  readonly #lookUps = new Map<string, Promise<WorkspaceSettings>>();

  constructor(
    private readonly lookUp: (workspaceId: string) => Promise<WorkspaceSettings>,
    /** Monotonic time in milliseconds. */
    private readonly elapsed: () => number,
  ) {}

  /** @throws Unavailable */
  async of(workspaceId: string): Promise<WorkspaceSettings> {
    const known = this.#known.get(workspaceId);
    if (known && this.elapsed() < known.until) return known.settings;
    return this.#lookUps.get(workspaceId) ?? this.#begin(workspaceId);
  }

  /** Looks them up anew, whatever is under way: it may have read what was before. */
  forget(workspaceId: string): void {
    this.#known.delete(workspaceId);
    this.#lookUps.delete(workspaceId);
  }

  #begin(workspaceId: string): Promise<WorkspaceSettings> {
    const begun = this.elapsed();
    const lookUp = withDeadline(this.lookUp(workspaceId), LOOK_UP_MS, late)
      .then((settings) => {
        if (this.elapsed() - begun > LOOK_UP_MS) throw late();
        if (this.#lookUps.get(workspaceId) === lookUp) {
          this.#known.set(workspaceId, { settings, until: begun + USED_FOR_MS });
        }
        return settings;
      })
      .finally(() => {
        if (this.#lookUps.get(workspaceId) === lookUp) this.#lookUps.delete(workspaceId);
      });
    this.#lookUps.set(workspaceId, lookUp);
    return lookUp;
  }
}

function late(): Unavailable {
  return new Unavailable('document store', `no answer about settings within ${LOOK_UP_MS} ms`);
}
