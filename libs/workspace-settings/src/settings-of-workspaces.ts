import { DomainError, PreconditionFailed } from '@tracking/contracts';
import type { Actor, JsonObject, Timestamp, WorkspaceSettings } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { RecentLookUps, retryConflicts } from '@tracking/resilience';
import { applySettingsPatch } from './merge-patch.ts';
import { INITIAL_SETTINGS, RecheckStore } from './rechecks.ts';
import {
  CHECKED_RULES,
  type CheckedRules,
  createDecidedSettings,
  type DecidedSettings,
  SETTINGS_DOCUMENTS,
  type SettingsDocument,
  type SettingsDocuments,
  type SetValues,
  pickValuesThatDifferFromDefault,
  type StoredSettings,
  REQUESTED_RECHECK,
  computeEffectiveSettings,
  toWorkspaceSettings,
} from './settings-document.ts';

/** A command that changes the settings of a workspace. A repeated command changes nothing. */
export interface ChangeSettingsRequest {
  /** UUID of the command; a repeat has the same UUID. */
  readonly id: string;
  readonly at: Timestamp;
  readonly actor: Actor;
  readonly workspace_id: string;
  /** JSON merge patch as the client sent it, not validated yet. All invalid fields are reported together. */
  readonly patch: JsonObject;
  /** Settings versions that the command accepts; every version if absent. */
  readonly if_match?: readonly number[] | undefined;
}
export interface SettingsChange {
  readonly before: DecidedSettings;
  readonly after: WorkspaceSettings;
}

const DEFAULT_SETTINGS = toWorkspaceSettings(INITIAL_SETTINGS);

interface SettingsOptions {
  readonly documentStore: DocumentStore;
  /** Returns monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * The settings of all workspaces, one document per workspace. The document has the workspace's id and is created by the
 * first change.
 */
export class SettingsOfWorkspaces {
  readonly #recent: RecentLookUps<WorkspaceSettings>;

  private constructor(
    private readonly documents: SettingsDocuments,
    readonly rechecks: RecheckStore,
    elapsed?: () => number,
  ) {
    this.#recent = new RecentLookUps({ ...(elapsed && { elapsed }) });
  }

  static async openWorkspaceSettings({ documentStore, elapsed }: SettingsOptions): Promise<SettingsOfWorkspaces> {
    const documents = await documentStore.collection<SettingsDocument>(SETTINGS_DOCUMENTS);
    const checkedRules = await documentStore.collection<CheckedRules>(CHECKED_RULES);
    return new SettingsOfWorkspaces(documents, new RecheckStore(documents, checkedRules), elapsed);
  }

  /** Returns the present settings. @throws Unavailable */
  async getSettings(workspaceId: string): Promise<WorkspaceSettings> {
    return (await this.#readSettings(workspaceId)) ?? DEFAULT_SETTINGS;
  }

  /**
   * Returns settings for writes. They are at most five seconds old and include changes made by this process.
   * @throws Unavailable if the document store does not respond in time, even if older settings are cached
   */
  async getCachedSettings(workspaceId: string): Promise<WorkspaceSettings> {
    return (await this.#recent.lookUp(workspaceId, (id) => this.#readSettings(id))) ?? DEFAULT_SETTINGS;
  }

  /**
   * Changes the settings and requests a recheck of the workspace's open shipments. If the patch has no effect, writes
   * nothing.
   * @throws DomainError `validation_failed` with all invalid fields; PreconditionFailed; Unavailable, Busy
   */
  changeSettings(command: ChangeSettingsRequest): Promise<SettingsChange> {
    const { id, at, actor, workspace_id } = command;
    return retryConflicts(this.documents, `the settings of ${workspace_id}`, async () => {
      const found = await this.documents.get(workspace_id);
      if (found?.changed_by === id) {
        return { before: createDecidedSettings(found.before), after: toWorkspaceSettings(found) };
      }
      const before = pickStoredFields(found ?? INITIAL_SETTINGS);
      const set = applySettingsChange(before, command);
      if (set === undefined) {
        return { before: createDecidedSettings(before), after: toWorkspaceSettings(found ?? INITIAL_SETTINGS) };
      }
      const document: SettingsDocument = {
        id: workspace_id,
        ...set,
        version: before.version + 1,
        updated_at: at,
        updated_by: actor,
        changed_by: id,
        before,
        ...REQUESTED_RECHECK,
      };
      if (!(await this.#writeDocument(document, found?.version))) return undefined;
      this.#recent.forgetKey(workspace_id);
      return { before: createDecidedSettings(before), after: toWorkspaceSettings(document) };
    });
  }

  async #readSettings(workspaceId: string): Promise<WorkspaceSettings | undefined> {
    const found = await this.documents.get(workspaceId);
    return found && toWorkspaceSettings(found);
  }

  #writeDocument(document: SettingsDocument, version: number | undefined): Promise<boolean> {
    return version === undefined ? this.documents.insert(document) : this.documents.replace(document, { version });
  }
}

/** Returns the changed values to store; undefined if the patch changes nothing. @throws DomainError */
function applySettingsChange(
  before: StoredSettings,
  { patch, if_match }: ChangeSettingsRequest,
): SetValues | undefined {
  const { values, faults } = applySettingsPatch(computeEffectiveSettings(before), patch);
  if (faults.length > 0) throw new DomainError('validation_failed', 'The settings are not valid.', faults);
  if (if_match !== undefined && !if_match.includes(before.version)) throw new PreconditionFailed(before.version);
  const set = pickValuesThatDifferFromDefault(values);
  return JSON.stringify(set) === JSON.stringify(pickValuesThatDifferFromDefault(computeEffectiveSettings(before)))
    ? undefined
    : set;
}

function pickStoredFields({
  exceptions,
  required_documents,
  version,
  updated_at,
  updated_by,
}: StoredSettings): StoredSettings {
  return { exceptions, required_documents, version, updated_at, updated_by };
}
