import { DomainError, PreconditionFailed } from '@tracking/contracts';
import type { Actor, JsonObject, Timestamp, WorkspaceSettings } from '@tracking/contracts';
import type { DocumentStore } from '@tracking/ports';
import { RecentLookUps, retryConflicts } from '@tracking/resilience';
import { patchSettings } from './merge-patch.ts';
import { INITIAL_SETTINGS, Rechecks } from './rechecks.ts';
import {
  CHECKED_RULES,
  type CheckedRules,
  toDecidedSettings,
  type DecidedSettings,
  SETTINGS_DOCUMENTS,
  type SettingsDocument,
  type SettingsDocuments,
  type SetValues,
  pickSetValues,
  type StoredSettings,
  RECHECK_REQUESTED,
  valuesOf,
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
    readonly rechecks: Rechecks,
    elapsed?: () => number,
  ) {
    this.#recent = new RecentLookUps({ ...(elapsed && { elapsed }) });
  }

  static async open({ documentStore, elapsed }: SettingsOptions): Promise<SettingsOfWorkspaces> {
    const documents = await documentStore.collection<SettingsDocument>(SETTINGS_DOCUMENTS);
    const checkedRules = await documentStore.collection<CheckedRules>(CHECKED_RULES);
    return new SettingsOfWorkspaces(documents, new Rechecks(documents, checkedRules), elapsed);
  }

  /** Returns the present settings. @throws Unavailable */
  async get(workspaceId: string): Promise<WorkspaceSettings> {
    return (await this.#read(workspaceId)) ?? DEFAULT_SETTINGS;
  }

  /**
   * Returns settings for writes. They are at most five seconds old and include changes made by this process.
   * @throws Unavailable if the document store does not respond in time, even if older settings are cached
   */
  async of(workspaceId: string): Promise<WorkspaceSettings> {
    return (await this.#recent.find(workspaceId, (id) => this.#read(id))) ?? DEFAULT_SETTINGS;
  }

  /**
   * Changes the settings and requests a recheck of the workspace's open shipments. If the patch has no effect, writes
   * nothing.
   * @throws DomainError `validation_failed` with all invalid fields; PreconditionFailed; Unavailable, Busy
   */
  change(command: ChangeSettingsRequest): Promise<SettingsChange> {
    const { id, at, actor, workspace_id } = command;
    return retryConflicts(this.documents, `the settings of ${workspace_id}`, async () => {
      const found = await this.documents.get(workspace_id);
      if (found?.changed_by === id) {
        return { before: toDecidedSettings(found.before), after: toWorkspaceSettings(found) };
      }
      const before = stored(found ?? INITIAL_SETTINGS);
      const set = applyChange(before, command);
      if (set === undefined) {
        return { before: toDecidedSettings(before), after: toWorkspaceSettings(found ?? INITIAL_SETTINGS) };
      }
      const document: SettingsDocument = {
        id: workspace_id,
        ...set,
        version: before.version + 1,
        updated_at: at,
        updated_by: actor,
        changed_by: id,
        before,
        ...RECHECK_REQUESTED,
      };
      if (!(await this.#write(document, found?.version))) return undefined;
      this.#recent.forget(workspace_id);
      return { before: toDecidedSettings(before), after: toWorkspaceSettings(document) };
    });
  }

  async #read(workspaceId: string): Promise<WorkspaceSettings | undefined> {
    const found = await this.documents.get(workspaceId);
    return found && toWorkspaceSettings(found);
  }

  #write(document: SettingsDocument, version: number | undefined): Promise<boolean> {
    return version === undefined ? this.documents.insert(document) : this.documents.replace(document, { version });
  }
}

/** Returns the changed values to store; undefined if the patch changes nothing. @throws DomainError */
function applyChange(before: StoredSettings, { patch, if_match }: ChangeSettingsRequest): SetValues | undefined {
  const { values, faults } = patchSettings(valuesOf(before), patch);
  if (faults.length > 0) throw new DomainError('validation_failed', 'The settings are not valid.', faults);
  if (if_match !== undefined && !if_match.includes(before.version)) throw new PreconditionFailed(before.version);
  const set = pickSetValues(values);
  return JSON.stringify(set) === JSON.stringify(pickSetValues(valuesOf(before))) ? undefined : set;
}

function stored({ exceptions, required_documents, version, updated_at, updated_by }: StoredSettings): StoredSettings {
  return { exceptions, required_documents, version, updated_at, updated_by };
}
