import { createHash } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';
import type { ReadModelsReached } from '../publisher/publishing.ts';

/**
 * A re-check of a workspace's open shipments. It is requested because settings changed, shipments were imported, or a
 * release has other rules.
 */
export interface RequestedShipmentRecheck {
  readonly workspace_id: string;
  /** Version of the settings with which the shipments are checked. */
  readonly version: number;
  /** Progress counter of the re-check. Each {@link RecheckStore.storeRecheckProgress} increases it. */
  readonly step: number;
  /** False while the re-check waits for every replica to apply the settings. */
  readonly isRunning: boolean;
  /** Id of the last checked shipment; null before the first check. */
  readonly after: string | null;
  /** Number of shipments checked so far. */
  readonly checked: number;
}

export interface RecheckProgressRecord extends Pick<RequestedShipmentRecheck, 'after' | 'checked'> {
  readonly isDone: boolean;
  readonly at: Timestamp;
}

/** Stores the progress of re-checks durably. */
export interface RecheckStore {
  /**
   * Returns unfinished re-checks, sorted by workspace.
   * @param after workspace of the last re-check of the previous page
   * @throws UnavailableError
   */
  listUnfinishedRechecks(after: string | undefined, limit: number): Promise<readonly RequestedShipmentRecheck[]>;
  /**
   * Stores the progress of a re-check. If another process advanced the re-check or the settings changed again, stores
   * nothing and returns undefined.
   * @throws UnavailableError
   */
  storeRecheckProgress(
    recheck: RequestedShipmentRecheck,
    progress: RecheckProgressRecord,
  ): Promise<RequestedShipmentRecheck | undefined>;
}

/** Requests re-checks for reasons other than a change of settings. */
interface RecheckRequestStore {
  /** @throws UnavailableError */
  requestRecheck(workspaceId: string): Promise<void>;
  /** Returns the version of the rules for which all re-checks were last requested. @throws UnavailableError */
  readRecheckedRulesVersion(): Promise<string | undefined>;
  /** @throws UnavailableError */
  storeRecheckedRulesVersion(rules: string): Promise<void>;
}

/** Shipments that changed settings can affect: they have not ended, or they have an open exception. */
export interface UnsettledShipmentReader {
  /**
   * Returns live and test shipments of the workspace, sorted by id.
   * @param after id of the last shipment of the previous page
   * @throws UnavailableError
   */
  listUnsettledShipments(
    workspaceId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly (WorkspaceScope & { readonly id: string })[]>;
}

/** Revision of the rules about statuses, times and exceptions. Increment it in every release that changes the rules. */
const RULES_REVISION = 3;
const DEFAULT_SETTINGS_HASH = createHash('sha256').update(JSON.stringify(DEFAULT_RULE_SETTINGS)).digest('hex');
/** Version of the rules: it identifies the rules and the default settings of a release. */
export const RULES_VERSION = `${RULES_REVISION} ${DEFAULT_SETTINGS_HASH}`;

interface UpgradeRecheckDependencies {
  readonly rechecks: RecheckRequestStore;
  readonly workspaces: {
    /**
     * Returns the id of the first workspace after the given one that has a shipment; undefined after the last
     * workspace.
     * @throws UnavailableError
     */
    findNextWorkspace(after: string | undefined): Promise<string | undefined>;
  };
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Returns true if the read model of workspaces has reached a position. */
  readonly readModelsReached: ReadModelsReached;
  /** Version of the rules; defaults to the version of this release. */
  readonly rules?: string;
  /**
   * Milliseconds for which other replicas may still run the previous release; 0 by default. Such replicas use its
   * rules, and may run requested re-checks with them.
   */
  readonly upgradeMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Requests one re-check of every workspace after an upgrade to a release with other rules or defaults. After a crash,
 * all requests are repeated.
 */
export class UpgradeRecheckRequester {
  /** Time when this process noticed the upgrade, in monotonic milliseconds. */
  private noticedAt: number | undefined;
  /** Last position of the log when all replicas had been upgraded. */
  private upgraded: { readonly head: Position | undefined } | undefined;
  private isDone = false;

  constructor(private readonly parts: UpgradeRecheckDependencies) {}

  /**
   * Requests the re-checks if all replicas are upgraded and the read model contains all earlier events. Otherwise does
   * nothing.
   * @throws UnavailableError
   */
  async requestRechecksIfUpgraded(ending: AbortSignal): Promise<void> {
    const { rechecks, rules = RULES_VERSION } = this.parts;
    if (this.isDone) return;
    if ((await rechecks.readRecheckedRulesVersion()) !== rules) {
      if (
        !this.isUpgradeOver() ||
        !(await this.isReadModelCurrent()) ||
        !(await this.requestRecheckOfAllWorkspaces(ending))
      )
        return;
      await rechecks.storeRecheckedRulesVersion(rules);
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

  /** Requests a re-check of each workspace. Returns false if interrupted before the last workspace. */
  private async requestRecheckOfAllWorkspaces(ending: AbortSignal): Promise<boolean> {
    const { rechecks, workspaces } = this.parts;
    let workspace = await workspaces.findNextWorkspace(undefined);
    while (workspace !== undefined && !ending.aborted) {
      await rechecks.requestRecheck(workspace);
      workspace = await workspaces.findNextWorkspace(workspace);
    }
    return workspace === undefined;
  }
}
