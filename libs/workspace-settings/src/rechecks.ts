import type { Timestamp } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import {
  type LastRecheckedRules,
  NO_CHANGED_SETTINGS,
  type SettingsDocument,
  type SettingsDocuments,
  type StoredSettings,
  PENDING_RECHECK_FIELDS,
} from './settings-document.ts';

/** A recheck of a workspace's open shipments after a change of its settings. */
export interface RequestedShipmentRecheck {
  readonly workspace_id: string;
  /** Version of the settings that the recheck applies. */
  readonly version: number;
  /** Progress counter. {@link RecheckStore.storeRecheckProgress} fails if another process has advanced the counter. */
  readonly step: number;
  /** False while the recheck waits until all replicas have the settings. */
  readonly isRunning: boolean;
  /** Id of the last checked shipment; null before the first check. */
  readonly after: string | null;
  /** Number of checked shipments. */
  readonly checked: number;
}

export interface RecheckProgressRecord extends Pick<RequestedShipmentRecheck, 'after' | 'checked'> {
  readonly isDone: boolean;
  readonly at: Timestamp;
}

/**
 * Re-checks of workspaces, stored in the settings documents. The write that changes the settings also starts the
 * recheck, and the settings version guards its progress. A change therefore restarts the recheck, and no earlier
 * progress can be stored afterwards.
 */
export class RecheckStore {
  constructor(
    private readonly documents: SettingsDocuments,
    private readonly checkedRules: Collection<LastRecheckedRules>,
  ) {}

  /**
   * Returns unfinished rechecks, sorted by workspace.
   * @param after workspace of the last recheck of the previous page
   */
  async listUnfinishedRechecks(after: string | undefined, limit: number): Promise<readonly RequestedShipmentRecheck[]> {
    const found = await this.documents.find({
      filter: { is_rechecking: true },
      sort: { fields: ['id'] },
      ...(after !== undefined && { after: [after] }),
      limit,
    });
    return found.flatMap((document) => toRequestedShipmentRecheck(document) ?? []);
  }

  /**
   * Requests a recheck of a workspace's shipments although its settings did not change. A running recheck starts again.
   * @throws BusyError, UnavailableError
   */
  async requestRecheck(workspaceId: string): Promise<void> {
    // The recheck is a part of the settings document, so this call waits for changes of the settings.
    await retryConflicts(this.documents, `the settings of ${workspaceId}`, async () => {
      const found = await this.documents.get(workspaceId);
      if (found === undefined) {
        return (
          (await this.documents.insert({ ...createInitialSettings(workspaceId), ...PENDING_RECHECK_FIELDS })) ||
          undefined
        );
      }
      const { version, recheck_step = 0 } = found;
      const guard = { version, ...(found.recheck_step !== undefined && { recheck_step }) };
      const requested = { ...found, ...PENDING_RECHECK_FIELDS, recheck_step: recheck_step + 1 };
      return (await this.documents.replace(requested, guard)) || undefined;
    });
  }

  /**
   * Returns the version of the rules with which all workspaces were last rechecked, or with which a recheck was
   * requested; undefined before the first recheck.
   */
  async readRecheckedRulesVersion(): Promise<string | undefined> {
    return (await this.checkedRules.get(CHECKED_RULES_DOCUMENT_ID))?.rules;
  }

  async storeRecheckedRulesVersion(rules: string): Promise<void> {
    await this.checkedRules.upsert({ id: CHECKED_RULES_DOCUMENT_ID, rules });
  }

  /**
   * Stores the progress of a recheck.
   * @returns the stored recheck; undefined, without a write, if another job advanced it or the settings changed
   * @throws UnavailableError
   */
  async storeRecheckProgress(
    recheck: RequestedShipmentRecheck,
    { after, checked, isDone, at }: RecheckProgressRecord,
  ): Promise<RequestedShipmentRecheck | undefined> {
    const { workspace_id: id, version, step } = recheck;
    const found = await this.documents.get(id);
    if (found?.recheck === undefined || found.version !== version || found.recheck_step !== step) return undefined;
    const { is_rechecking: _marked, ...rest } = found;
    const advanced: SettingsDocument = {
      ...rest,
      ...(!isDone && { is_rechecking: true }),
      recheck_step: step + 1,
      recheck: {
        state: isDone ? 'done' : 'running',
        checked,
        started_at: found.recheck.started_at ?? at,
        finished_at: isDone ? at : null,
        after,
      },
    };
    const isStored = await this.documents.replace(advanced, { version, recheck_step: step });
    return isStored ? toRequestedShipmentRecheck(advanced) : undefined;
  }
}

function toRequestedShipmentRecheck({
  id,
  version,
  recheck,
  recheck_step,
}: SettingsDocument): RequestedShipmentRecheck | undefined {
  if (recheck === undefined || recheck_step === undefined) return undefined;
  const { state, after, checked } = recheck;
  return { workspace_id: id, version, step: recheck_step, isRunning: state !== 'pending', after, checked };
}

const CHECKED_RULES_DOCUMENT_ID = 'rules';

/** Document for a workspace that has never changed a setting. */
export const INITIAL_WORKSPACE_SETTINGS: StoredSettings = {
  ...NO_CHANGED_SETTINGS,
  version: 1,
  updated_at: null,
  updated_by: null,
};

function createInitialSettings(id: string): Omit<SettingsDocument, keyof typeof PENDING_RECHECK_FIELDS> {
  return { id, ...INITIAL_WORKSPACE_SETTINGS, changed_by: '', before: INITIAL_WORKSPACE_SETTINGS };
}
