import { DomainError } from '@tracking/contracts';
import type { Workspace } from '@tracking/contracts';
import { DuplicateKeyError } from '@tracking/ports';
import type { Clock, Collection, DocumentStore } from '@tracking/ports';
import { WORKSPACES_COLLECTION_SPEC } from './collections.ts';
import { validateAndTrimStoredName, findAllMatchingDocuments } from './records.ts';
import { derivePrefixedId, createPrefixedId } from './secrets.ts';
import type { RandomBytes } from './secrets.ts';

interface WorkspaceDocument extends Workspace {
  /** The name in normalised form, for comparison. */
  readonly name_key: string;
}

export const DEFAULT_WORKSPACE = 'default';

export class Workspaces {
  private constructor(
    private readonly documents: Collection<WorkspaceDocument>,
    private readonly clock: Clock,
    private readonly randomBytes: RandomBytes,
  ) {}

  /**
   * Creates the workspace `default` if it is missing. The id is derived, so that two replicas create only one
   * workspace.
   */
  static async openWorkspacesCreatingDefault(
    documentStore: DocumentStore,
    clock: Clock,
    randomBytes: RandomBytes,
  ): Promise<Workspaces> {
    const documents = await documentStore.collection<WorkspaceDocument>(WORKSPACES_COLLECTION_SPEC);
    const workspaces = new Workspaces(documents, clock, randomBytes);
    await workspaces.insertWorkspaceOrGetExisting(derivePrefixedId('wsp', DEFAULT_WORKSPACE), DEFAULT_WORKSPACE);
    return workspaces;
  }

  /**
   * Creates a workspace. A repeated command returns the workspace that it created.
   * @throws DomainError `validation_failed`, `workspace_exists`
   */
  async createWorkspace(name: string, commandId?: string): Promise<Workspace> {
    return this.createWorkspaceWithId(
      commandId === undefined ? createPrefixedId('wsp', this.randomBytes) : derivePrefixedId('wsp', commandId),
      name,
    );
  }

  /**
   * Creates a workspace with the id that it has in another system. Does nothing if it exists.
   * @throws DomainError `validation_failed`; `workspace_exists` if another workspace has the name
   */
  async createImportedWorkspaceIfMissing(id: string, name: string): Promise<Workspace> {
    const known = await this.documents.get(id);
    return known ? toWorkspace(known) : this.createWorkspaceWithId(id, name);
  }

  /** Returns all workspaces, oldest first. */
  async listWorkspaces(): Promise<readonly Workspace[]> {
    return (await findAllMatchingDocuments(this.documents, {}, ['created_at', 'id'])).map(toWorkspace);
  }

  /** @throws DomainError `not_found` */
  async getWorkspace(id: string): Promise<Workspace> {
    const found = await this.documents.get(id);
    if (!found) throw new DomainError('not_found', 'No such workspace.');
    return toWorkspace(found);
  }

  /** Returns the workspace with a name, regardless of case. */
  async findWorkspaceByName(name: string): Promise<Workspace | undefined> {
    const [found] = await this.documents.find({
      filter: { name_key: normalizeNameForComparison(name.trim()) },
      limit: 1,
    });
    return found && toWorkspace(found);
  }

  private async createWorkspaceWithId(id: string, name: string): Promise<Workspace> {
    const checked = validateAndTrimStoredName(name);
    try {
      return await this.insertWorkspaceOrGetExisting(id, checked);
    } catch (error) {
      if (error instanceof DuplicateKeyError)
        throw new DomainError('workspace_exists', `A workspace with the name ${checked} exists already.`);
      throw error;
    }
  }

  private async insertWorkspaceOrGetExisting(id: string, name: string): Promise<Workspace> {
    const document = { id, name, name_key: normalizeNameForComparison(name), created_at: this.clock().toISOString() };
    if (await this.documents.insert(document)) return toWorkspace(document);
    return toWorkspace((await this.documents.get(id)) ?? document);
  }
}

function normalizeNameForComparison(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function toWorkspace({ id, name, created_at }: WorkspaceDocument): Workspace {
  return { id, name, created_at };
}
