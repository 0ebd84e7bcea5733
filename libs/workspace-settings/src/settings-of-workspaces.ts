import { DomainError, PreconditionFailed } from '@tracking/contracts';
import type { Actor, JsonObject, Timestamp, WorkspaceSettings } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { RecentLookUps } from '@tracking/resilience';
import { patched } from './merge-patch.ts';
import { NOTHING_SET, setValuesOf, valuesOf } from './set-values.ts';
import type { SetValues } from './set-values.ts';

/** Changes settings once, however often it is carried out. */
export interface ChangeSettings {
  /** UUID of the command. */
  readonly id: string;
  readonly at: Timestamp;
  readonly actor: Actor;
  readonly workspace_id: string;
  /** A JSON merge patch, as the client sent it: checked here, where every faulty field is named at once. */
  readonly patch: JsonObject;
  /** Only where one of these is the version. */
  readonly if_match?: readonly number[] | undefined;
}
export interface SettingsChange {
  readonly before: WorkspaceSettings;
  readonly after: WorkspaceSettings;
}

/** What a workspace set, and when. */
interface StoredSettings extends SetValues, Pick<WorkspaceSettings, 'version' | 'updated_at' | 'updated_by'> {}
interface SettingsDocument extends Document, StoredSettings {
  /** The command of the last change. */
  readonly changed_by: string;
  /** As they were before it: that command, repeated, answers the same. */
  readonly before: StoredSettings;
}

const NEVER_CHANGED: StoredSettings = { ...NOTHING_SET, version: 1, updated_at: null, updated_by: null };
const MAX_TRIES = 20;

export interface SettingsOptions {
  readonly documentStore: DocumentStore;
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
}

/** The settings of every workspace: a document each, under the workspace's id, once something was set. */
export class SettingsOfWorkspaces {
  readonly #recent: RecentLookUps<StoredSettings>;

  private constructor(
    private readonly documents: Collection<SettingsDocument>,
    elapsed?: () => number,
  ) {
    this.#recent = new RecentLookUps({ ...(elapsed && { elapsed }) });
  }

  static async open({ documentStore, elapsed }: SettingsOptions): Promise<SettingsOfWorkspaces> {
    const documents = await documentStore.collection<SettingsDocument>({ name: 'workspace_settings', indexes: [] });
    return new SettingsOfWorkspaces(documents, elapsed);
  }

  /** As they are now. @throws Unavailable */
  async get(workspaceId: string): Promise<WorkspaceSettings> {
    return settings((await this.documents.get(workspaceId)) ?? NEVER_CHANGED);
  }

  /**
   * As they were at most five seconds ago, and in this process after its own changes: for whoever asks at every write.
   * @throws Unavailable when the document store does not answer in time, whatever was known before
   */
  async of(workspaceId: string): Promise<WorkspaceSettings> {
    return settings((await this.#recent.find(workspaceId, (id) => this.documents.get(id))) ?? NEVER_CHANGED);
  }

  /**
   * Writes nothing where the patch changes nothing.
   * @throws DomainError `validation_failed` naming every faulty field; PreconditionFailed; Unavailable
   */
  async change(command: ChangeSettings): Promise<SettingsChange> {
    const { id, at, actor, workspace_id } = command;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = await this.documents.get(workspace_id);
      if (found?.changed_by === id) return { before: settings(found.before), after: settings(found) };
      const before = stored(found ?? NEVER_CHANGED);
      const set = changed(before, command);
      if (set === undefined) return { before: settings(before), after: settings(before) };
      const document: SettingsDocument = {
        id: workspace_id,
        ...set,
        version: before.version + 1,
        updated_at: at,
        updated_by: actor,
        changed_by: id,
        before,
      };
      if (!(await this.#write(document, found?.version))) continue;
      this.#recent.forget(workspace_id);
      return { before: settings(before), after: settings(document) };
    }
    throw new Unavailable('document store', `settings of ${workspace_id} are being changed by too many at once`);
  }

  #write(document: SettingsDocument, version: number | undefined): Promise<boolean> {
    return version === undefined ? this.documents.insert(document) : this.documents.replace(document, { version });
  }
}

/** What is to be stored; undefined where nothing changes. @throws DomainError */
function changed(before: StoredSettings, { patch, if_match }: ChangeSettings): SetValues | undefined {
  const { values, faults } = patched(valuesOf(before), patch);
  if (faults.length > 0) throw new DomainError('validation_failed', 'The settings are not valid.', faults);
  if (if_match !== undefined && !if_match.includes(before.version)) throw new PreconditionFailed(before.version);
  const set = setValuesOf(values);
  return JSON.stringify(set) === JSON.stringify(setValuesOf(valuesOf(before))) ? undefined : set;
}

function settings({ version, updated_at, updated_by, ...set }: StoredSettings): WorkspaceSettings {
  return { ...valuesOf(set), version, updated_at, updated_by };
}

function stored({ exceptions, required_documents, version, updated_at, updated_by }: StoredSettings): StoredSettings {
  return { exceptions, required_documents, version, updated_at, updated_by };
}
