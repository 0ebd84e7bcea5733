import { DomainError, PreconditionFailedError } from '@tracking/contracts';
import type { Actor, JsonObject, Timestamp, WorkspaceSettings } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { RecentLookUpCache, retryConflicts } from '@tracking/resilience';
import { applySettingsPatch } from './merge-patch.ts';
import { INITIAL_WORKSPACE_SETTINGS, RecheckStore } from './rechecks.ts';
import {
  CHECKED_RULES_COLLECTION_SPEC,
  type LastRecheckedRules,
  toEffectiveWorkspaceSettings,
  type DecidedSettings,
  WORKSPACE_SETTINGS_COLLECTION_SPEC,
  type SettingsDocument,
  type SettingsDocuments,
  type WorkspaceSettingOverrides,
  pickValuesThatDifferFromDefault,
  type StoredSettings,
  PENDING_RECHECK_FIELDS,
  computeEffectiveSettings,
  toWorkspaceSettings,
} from './settings-document.ts';

/** A command that changes the settings of a workspace. A repeated command changes nothing. */
export interface ChangeWorkspaceSettingsCommand {
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

const DEFAULT_WORKSPACE_SETTINGS = toWorkspaceSettings(INITIAL_WORKSPACE_SETTINGS);

interface WorkspaceSettingsStoreOptions {
  readonly documentStore: DocumentStore;
  /** Returns monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * The settings of all workspaces, one document per workspace. The document has the workspace's id and is created by the
 * first change.
 */
export class WorkspaceSettingsStore {
  readonly #recent: RecentLookUpCache<WorkspaceSettings>;

  private constructor(
    private readonly documents: SettingsDocuments,
    readonly rechecks: RecheckStore,
    elapsed?: () => number,
  ) {
    this.#recent = new RecentLookUpCache({ ...(elapsed && { elapsed }) });
  }

  static async openWorkspaceSettings({
    documentStore,
    elapsed,
  }: WorkspaceSettingsStoreOptions): Promise<WorkspaceSettingsStore> {
    const documents = await documentStore.collection<SettingsDocument>(WORKSPACE_SETTINGS_COLLECTION_SPEC);
    const checkedRules = await documentStore.collection<LastRecheckedRules>(CHECKED_RULES_COLLECTION_SPEC);
    return new WorkspaceSettingsStore(documents, new RecheckStore(documents, checkedRules), elapsed);
  }

  /** Returns the present settings. @throws UnavailableError */
  async getWorkspaceSettings(workspaceId: string): Promise<WorkspaceSettings> {
    return (await this.#readSettings(workspaceId)) ?? DEFAULT_WORKSPACE_SETTINGS;
  }

  /**
   * Returns settings for writes. They are at most five seconds old and include changes made by this process.
   * @throws UnavailableError if the document store does not respond in time, even if older settings are cached
   */
  async getCachedSettings(workspaceId: string): Promise<WorkspaceSettings> {
    return (
      (await this.#recent.getOrLookUpValue(workspaceId, (id) => this.#readSettings(id))) ?? DEFAULT_WORKSPACE_SETTINGS
    );
  }

  /**
   * Changes the settings and requests a recheck of the workspace's open shipments. If the patch has no effect, writes
   * nothing.
   * @throws DomainError `validation_failed` with all invalid fields; PreconditionFailedError; UnavailableError, BusyError
   */
  async changeSettings(command: ChangeWorkspaceSettingsCommand): Promise<SettingsChange> {
    try {
      return await this.#writeSettingsChange(command);
    } finally {
      // A failed attempt may have stored the change, and a repeat finds it stored.
      this.#recent.removeCachedLookUp(command.workspace_id);
    }
  }

  #writeSettingsChange(command: ChangeWorkspaceSettingsCommand): Promise<SettingsChange> {
    const { id, at, actor, workspace_id } = command;
    return retryConflicts(this.documents, `the settings of ${workspace_id}`, async () => {
      const found = await this.documents.get(workspace_id);
      if (found?.changed_by === id) {
        return { before: toEffectiveWorkspaceSettings(found.before), after: toWorkspaceSettings(found) };
      }
      const before = pickStoredSettingsFields(found ?? INITIAL_WORKSPACE_SETTINGS);
      const set = applySettingsChange(before, command);
      if (set === undefined) {
        return {
          before: toEffectiveWorkspaceSettings(before),
          after: toWorkspaceSettings(found ?? INITIAL_WORKSPACE_SETTINGS),
        };
      }
      const document: SettingsDocument = {
        id: workspace_id,
        ...set,
        version: before.version + 1,
        updated_at: at,
        updated_by: actor,
        changed_by: id,
        before,
        ...PENDING_RECHECK_FIELDS,
      };
      if (!(await this.#writeSettingsIfUnchanged(document, found?.version))) return undefined;
      return { before: toEffectiveWorkspaceSettings(before), after: toWorkspaceSettings(document) };
    });
  }

  async #readSettings(workspaceId: string): Promise<WorkspaceSettings | undefined> {
    const found = await this.documents.get(workspaceId);
    return found && toWorkspaceSettings(found);
  }

  #writeSettingsIfUnchanged(document: SettingsDocument, version: number | undefined): Promise<boolean> {
    return version === undefined ? this.documents.insert(document) : this.documents.replace(document, { version });
  }
}

/** Returns the changed values to store; undefined if the patch changes nothing. @throws DomainError */
function applySettingsChange(
  before: StoredSettings,
  { patch, if_match }: ChangeWorkspaceSettingsCommand,
): WorkspaceSettingOverrides | undefined {
  const { values, faults } = applySettingsPatch(computeEffectiveSettings(before), patch);
  if (faults.length > 0) throw new DomainError('validation_failed', 'The settings are not valid.', faults);
  if (if_match !== undefined && !if_match.includes(before.version)) throw new PreconditionFailedError(before.version);
  const set = pickValuesThatDifferFromDefault(values);
  return JSON.stringify(set) === JSON.stringify(pickValuesThatDifferFromDefault(computeEffectiveSettings(before)))
    ? undefined
    : set;
}

function pickStoredSettingsFields({
  exceptions,
  required_documents,
  version,
  updated_at,
  updated_by,
}: StoredSettings): StoredSettings {
  return { exceptions, required_documents, version, updated_at, updated_by };
}
