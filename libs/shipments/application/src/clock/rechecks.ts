import { createHash } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, type Scope, type Timestamp } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';
import type { ReadModelsReached } from '../publisher/publishing.ts';

/**
 * A request to check the open shipments of a workspace, because its settings changed, shipments were imported, or a
 * release has other rules.
 */
export interface Recheck {
  readonly workspace_id: string;
  /** Version of the settings for the checks. */
  readonly version: number;
  /** Step of the re-check; grows with each {@link Rechecks.advance}. */
  readonly step: number;
  /** False while the re-check waits for every replica to apply the settings. */
  readonly isRunning: boolean;
  /** Id of the last shipment that was checked; null before the first. */
  readonly after: string | null;
  /** Number of shipments checked so far. */
  readonly checked: number;
}

export interface RecheckProgress extends Pick<Recheck, 'after' | 'checked'> {
  readonly isDone: boolean;
  readonly at: Timestamp;
}

/** Stores the progress of re-checks durably. */
export interface Rechecks {
  /**
   * Returns unfinished re-checks, sorted by workspace.
   * @param after the workspace of the last item of the previous page
   * @throws Unavailable
   */
  listUnfinishedRechecks(after: string | undefined, limit: number): Promise<readonly Recheck[]>;
  /**
   * Stores the progress of a re-check. Returns undefined and stores nothing if another process advanced it or the
   * settings changed again.
   * @throws Unavailable
   */
  advance(recheck: Recheck, progress: RecheckProgress): Promise<Recheck | undefined>;
}

/** Requests re-checks without a change of settings. */
interface RequestedRechecks {
  /** @throws Unavailable */
  request(workspaceId: string): Promise<void>;
  /** Returns the rules version for which re-checks of all workspaces were last requested. @throws Unavailable */
  readCheckedRules(): Promise<string | undefined>;
  /** @throws Unavailable */
  storeCheckedRules(rules: string): Promise<void>;
}

/** Shipments that changed settings may affect: shipments that have not ended, or have an open exception. */
export interface UnsettledShipments {
  /**
   * Returns shipments of the workspace, live and test, sorted by id.
   * @param after the id of the last item of the previous page
   * @throws Unavailable
   */
  listUnsettledShipments(
    workspaceId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly (Scope & { readonly id: string })[]>;
}

/** Revision of the rules. Increment it in a release that changes rules of exceptions. */
const RULES_REVISION = 1;
const DEFAULT_SETTINGS_HASH = createHash('sha256').update(JSON.stringify(DEFAULT_RULE_SETTINGS)).digest('hex');
/** Identifies the rules and default settings of this release. */
export const RULES_VERSION = `${RULES_REVISION} ${DEFAULT_SETTINGS_HASH}`;

interface ReleaseRecheckParts {
  readonly rechecks: RequestedRechecks;
  readonly workspaces: {
    /**
     * Returns the id of the first workspace with a shipment after another one; undefined after the last. @throws
     * Unavailable
     */
    findNextWorkspace(after: string | undefined): Promise<string | undefined>;
  };
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Progress of the read model that lists workspaces. */
  readonly readModelsReached: ReadModelsReached;
  /** Rules version; defaults to that of this release. */
  readonly rules?: string;
  /**
   * Milliseconds for which other replicas may still run the previous release; 0 by default. They use its rules, and may
   * take over requested re-checks.
   */
  readonly upgradeMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Requests re-checks of all workspaces once after a release whose rules or defaults differ. A crash repeats all
 * requests.
 */
export class ReleaseRecheck {
  /** Time when this process noticed the release, in monotonic milliseconds. */
  private noticedAt: number | undefined;
  /** End of the log when the upgrade was over. */
  private upgraded: { readonly head: Position | undefined } | undefined;
  private isDone = false;

  constructor(private readonly parts: ReleaseRecheckParts) {}

  /**
   * Requests the re-checks if the upgrade is over and the read model contains all earlier events; otherwise does
   * nothing. @throws Unavailable
   */
  async request(ending: AbortSignal): Promise<void> {
    const { rechecks, rules = RULES_VERSION } = this.parts;
    if (this.isDone) return;
    if ((await rechecks.readCheckedRules()) !== rules) {
      if (!this.isUpgradeOver() || !(await this.isReadModelCurrent()) || !(await this.requestForAllWorkspaces(ending)))
        return;
      await rechecks.storeCheckedRules(rules);
    }
    this.isDone = true;
  }

  private isUpgradeOver(): boolean {
    const { elapsed = monotonicMs, upgradeMs = 0 } = this.parts;
    this.noticedAt ??= elapsed();
    return elapsed() - this.noticedAt >= upgradeMs;
  }

  private async isReadModelCurrent(): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const { head } = (this.upgraded ??= { head: await eventStore.head() });
    return head === undefined || (await readModelsReached(head, 0));
  }

  /** Requests a re-check of each workspace. Returns false if interrupted. */
  private async requestForAllWorkspaces(ending: AbortSignal): Promise<boolean> {
    const { rechecks, workspaces } = this.parts;
    let workspace = await workspaces.findNextWorkspace(undefined);
    while (workspace !== undefined && !ending.aborted) {
      await rechecks.request(workspace);
      workspace = await workspaces.findNextWorkspace(workspace);
    }
    return workspace === undefined;
  }
}
