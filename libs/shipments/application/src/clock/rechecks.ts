import type { Scope, Timestamp } from '@tracking/contracts';

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
export interface RequestedRechecks {
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
