import type { Timestamp } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import {
  type CheckedRules,
  NOTHING_SET,
  type SettingsDocument,
  type SettingsDocuments,
  type StoredSettings,
  TO_RECHECK,
} from './settings-document.ts';

/** A workspace's open shipments are to be checked again, since its settings changed. */
export interface Recheck {
  readonly workspace_id: string;
  /** Of the settings by which they are checked. */
  readonly version: number;
  /** Of its progress: {@link Rechecks.advance} takes one that nobody has advanced. */
  readonly step: number;
  /** False as long as it waits for all replicas to know the settings. */
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

/**
 * What is to be checked again, in the documents of the settings: marked in the write that changes them, and guarded by
 * their version, so that a change begins it anew and no progress of before comes after it.
 */
export class Rechecks {
  constructor(
    private readonly documents: SettingsDocuments,
    private readonly checkedRules: Collection<CheckedRules>,
  ) {}

  /** Those that are not done, by workspace. @param after the workspace of the last one that was answered */
  async unfinished(after: string | undefined, limit: number): Promise<readonly Recheck[]> {
    const found = await this.documents.find({
      filter: { is_rechecking: true },
      sort: { fields: ['id'] },
      ...(after !== undefined && { after: [after] }),
      limit,
    });
    return found.flatMap((document) => recheckOf(document) ?? []);
  }

  /**
   * Has the shipments of a workspace checked again although its settings did not change. One that is running begins again.
   * @throws Busy, Unavailable
   */
  async request(workspaceId: string): Promise<void> {
    await retryConflicts(`the re-check of ${workspaceId}`, async () => {
      const found = await this.documents.get(workspaceId);
      if (found === undefined) {
        return (await this.documents.insert({ ...neverChanged(workspaceId), ...TO_RECHECK })) || undefined;
      }
      const { version, recheck_step = 0 } = found;
      const guard = { version, ...(found.recheck_step !== undefined && { recheck_step }) };
      const requested = { ...found, ...TO_RECHECK, recheck_step: recheck_step + 1 };
      return (await this.documents.replace(requested, guard)) || undefined;
    });
  }

  /** The rules by which all workspaces were last checked, or requested to be; undefined before the first time. */
  async rules(): Promise<string | undefined> {
    return (await this.checkedRules.get(RULES_ID))?.rules;
  }

  async setRules(rules: string): Promise<void> {
    await this.checkedRules.upsert({ id: RULES_ID, rules });
  }

  /**
   * Stores how far it is.
   * @returns it as it is then; undefined where somebody else advanced it, or the settings changed: nothing is stored then
   * @throws Unavailable
   */
  async advance(recheck: Recheck, { after, checked, isDone, at }: RecheckProgress): Promise<Recheck | undefined> {
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
    return isStored ? recheckOf(advanced) : undefined;
  }
}

function recheckOf({ id, version, recheck, recheck_step }: SettingsDocument): Recheck | undefined {
  if (recheck === undefined || recheck_step === undefined) return undefined;
  const { state, after, checked } = recheck;
  return { workspace_id: id, version, step: recheck_step, isRunning: state !== 'pending', after, checked };
}

const RULES_ID = 'rules';

/** Of a workspace that never changed a setting. */
export const NEVER_CHANGED: StoredSettings = { ...NOTHING_SET, version: 1, updated_at: null, updated_by: null };

function neverChanged(id: string): Omit<SettingsDocument, keyof typeof TO_RECHECK> {
  return { id, ...NEVER_CHANGED, changed_by: '', before: NEVER_CHANGED };
}
