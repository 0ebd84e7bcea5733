import { createHash } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, type Scope, type Timestamp } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';
import type { ReadModelsReached } from '../publisher/publishing.ts';

/** The open shipments of a workspace are to be checked: its settings changed, some were imported, or a release has other rules. */
export interface Recheck {
  readonly workspace_id: string;
  /** Of the settings by which they are checked. */
  readonly version: number;
  /** Grows with each {@link Rechecks.advance}. */
  readonly step: number;
  /** False as long as it waits for every replica to go by the settings. */
  readonly isRunning: boolean;
  /** Id of the last shipment that was checked; null before the first. */
  readonly after: string | null;
  /** How many were. */
  readonly checked: number;
}

export interface RecheckProgress extends Pick<Recheck, 'after' | 'checked'> {
  readonly isDone: boolean;
  readonly at: Timestamp;
}

/** Changes of settings that open shipments are not checked by yet, and how far that is: durable. */
export interface Rechecks {
  /**
   * By workspace.
   * @param after the workspace of the last of the page before
   * @throws Unavailable
   */
  unfinished(after: string | undefined, limit: number): Promise<readonly Recheck[]>;
  /**
   * Stores how far it is, unless somebody else advanced it or the settings changed again: undefined then.
   * @throws Unavailable
   */
  advance(recheck: Recheck, progress: RecheckProgress): Promise<Recheck | undefined>;
}

/** Has the open shipments of workspaces checked although no settings changed. */
interface RequestedRechecks {
  /** @throws Unavailable */
  request(workspaceId: string): Promise<void>;
  /** The rules for which those of all workspaces were requested last. @throws Unavailable */
  rules(): Promise<string | undefined>;
  /** @throws Unavailable */
  setRules(rules: string): Promise<void>;
}

/** Shipments about which other settings may change something: they have not ended, or an exception of theirs is open. */
export interface UnsettledShipments {
  /**
   * Those of the workspace, live and test ones, in the order of their ids.
   * @param after the id of the last of the page before
   * @throws Unavailable
   */
  ofWorkspace(
    workspaceId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly (Scope & { readonly id: string })[]>;
}

/** Raise it in a release that changes rules of exceptions. */
const RULES_REVISION = 1;
const DEFAULT_SETTINGS_HASH = createHash('sha256').update(JSON.stringify(DEFAULT_RULE_SETTINGS)).digest('hex');
/** Names the rules and default settings of this release. */
export const RULES_VERSION = `${RULES_REVISION} ${DEFAULT_SETTINGS_HASH}`;

interface ReleaseRecheckParts {
  readonly rechecks: RequestedRechecks;
  readonly workspaces: {
    /** The first workspace with a shipment after another one, by id; undefined after the last. @throws Unavailable */
    nextWorkspace(after: string | undefined): Promise<string | undefined>;
  };
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Of the read model by which workspaces are found. */
  readonly readModelsReached: ReadModelsReached;
  /** Defaults to those of this release. */
  readonly rules?: string;
  /**
   * How long other replicas may still run the release before, in milliseconds; 0 by default. They decide by its rules, and
   * may take over what is requested.
   */
  readonly upgradeMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/** Requests re-checks of all workspaces once after a release whose rules or defaults differ. A crash repeats all of them. */
export class ReleaseRecheck {
  /** When this process noticed it, in monotonic milliseconds. */
  private noticedAt: number | undefined;
  /** The end of the log when the upgrade was over. */
  private upgraded: { readonly head: Position | undefined } | undefined;
  private isDone = false;

  constructor(private readonly parts: ReleaseRecheckParts) {}

  /** Does nothing until the upgrade is over and the read model shows what was stored before. @throws Unavailable */
  async request(ending: AbortSignal): Promise<void> {
    const { rechecks, rules = RULES_VERSION } = this.parts;
    if (this.isDone) return;
    if ((await rechecks.rules()) !== rules) {
      if (!this.isUpgraded() || !(await this.isReadModelCurrent()) || !(await this.requestAll(ending))) return;
      await rechecks.setRules(rules);
    }
    this.isDone = true;
  }

  private isUpgraded(): boolean {
    const { elapsed = monotonicMs, upgradeMs = 0 } = this.parts;
    this.noticedAt ??= elapsed();
    return elapsed() - this.noticedAt >= upgradeMs;
  }

  private async isReadModelCurrent(): Promise<boolean> {
    const { eventStore, readModelsReached } = this.parts;
    const { head } = (this.upgraded ??= { head: await eventStore.head() });
    return head === undefined || (await readModelsReached(head, 0));
  }

  /** Answers whether it came to the end. */
  private async requestAll(ending: AbortSignal): Promise<boolean> {
    const { rechecks, workspaces } = this.parts;
    let workspace = await workspaces.nextWorkspace(undefined);
    while (workspace !== undefined && !ending.aborted) {
      await rechecks.request(workspace);
      workspace = await workspaces.nextWorkspace(workspace);
    }
    return workspace === undefined;
  }
}
