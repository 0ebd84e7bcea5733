import { Inject, Injectable } from '@nestjs/common';
import { DomainError, ENVIRONMENTS } from '@tracking/contracts';
import type { Actor, AuditType, Environment, ItemPage, WorkspaceScope, Workspace } from '@tracking/contracts';
import { AuditTrail, RequestError, getCommandIdentity } from '@tracking/http';
import type { AuditedByRequest, CommandIdAndTime } from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyRequest } from 'fastify';
import { IDENTITY_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';

type Workspaces = Pick<AdministrationDependencies['identity'], 'workspaces'>;

/**
 * Actor of every change by operators. All operators share this actor, because every system user who can open the socket
 * owns the data.
 */
const OPERATOR_ACTOR: Actor = { type: 'system', id: 'administration' };

/** Workspace and environment of a request. If absent, the request covers all workspaces or both environments. */
export interface ScopeFilter {
  readonly workspace?: string | undefined;
  readonly environment?: Environment | undefined;
}

export interface ScopeWithWorkspaceName extends WorkspaceScope {
  /** Name of the workspace. */
  readonly workspace: string;
}

/** A resource with the workspace and environment that it belongs to. */
export type Owned<T extends object> = T & { readonly workspace: string; readonly environment: Environment };

/** Results from several workspaces. */
export interface ResultsOfSearchedWorkspaces<T extends object> {
  readonly data: readonly Owned<T>[];
  /** Names of the searched workspaces. */
  readonly workspaces: readonly string[];
}

interface RecordWithCreationTime {
  readonly created_at: string;
  readonly id: string;
}

/** Creates the principals of operators' requests. */
@Injectable()
export class OperatorPrincipalFactory {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: Workspaces,
    @Inject(AuditTrail) private readonly trail: AuditTrail,
  ) {}

  /** @throws RequestError `not_found` naming the workspace */
  async findWorkspaceByNameOrThrow(name: string): Promise<Workspace> {
    const workspace = await this.identity.workspaces.findWorkspaceByName(name);
    if (!workspace) throw new RequestError('not_found', `There is no workspace ${name}.`);
    return workspace;
  }

  /** A command about the users and keys of one workspace. @throws RequestError `not_found` */
  async createIdentityCommandByOperator(identity: CommandIdAndTime, workspace: string): Promise<IdentityCommand> {
    return { ...identity, actor: OPERATOR_ACTOR, workspace_id: (await this.findWorkspaceByNameOrThrow(workspace)).id };
  }

  /** @throws RequestError `not_found` */
  async createOperatorPrincipal({ workspace, environment }: ScopeFilter): Promise<OperatorPrincipal> {
    const workspaces =
      workspace === undefined
        ? await this.identity.workspaces.listWorkspaces()
        : [await this.findWorkspaceByNameOrThrow(workspace)];
    const environments = environment === undefined ? ENVIRONMENTS : [environment];
    const scopes = workspaces.flatMap(({ id, name }) =>
      environments.map((each) => ({ workspace_id: id, workspace: name, environment: each })),
    );
    return new OperatorPrincipal(scopes, this.trail);
  }
}

/**
 * An operator: a principal in several workspaces and environments. An operator uses the same queries and commands as
 * clients.
 */
export class OperatorPrincipal {
  constructor(
    readonly scopes: readonly ScopeWithWorkspaceName[],
    private readonly trail: AuditTrail,
  ) {}

  /** Names of the workspaces. */
  get workspaces(): readonly string[] {
    return [...new Set(this.scopes.map(({ workspace }) => workspace))];
  }

  /** Returns the names of the principal's workspaces, for messages. */
  get place(): string {
    const names = this.workspaces;
    return `${names.length === 1 ? 'workspace' : 'the workspaces'} ${names.join(', ')}`;
  }

  /**
   * Returns the newest entries of all scopes. The scopes are queried one after another, because all at once could be
   * too many.
   */
  async findNewestEntriesOfAllScopes<T extends RecordWithCreationTime>(
    limit: number,
    list: (scope: WorkspaceScope) => Promise<ItemPage<T>>,
  ): Promise<ResultsOfSearchedWorkspaces<T> & { readonly next_cursor: string | null }> {
    let data: readonly Owned<T>[] = [];
    let hasMore = false;
    for (const scope of this.scopes) {
      const found = await list(toScopeWithoutWorkspaceName(scope));
      const all = [...data, ...found.items.map((each) => addScopeToResource(each, scope))].sort(compareNewestFirst);
      data = all.slice(0, limit);
      hasMore ||= found.next !== null || all.length > limit;
    }
    const last = data.at(-1);
    const next_cursor = hasMore && last ? `${last.created_at} ${last.id}` : null;
    return { data, workspaces: this.workspaces, next_cursor };
  }

  /**
   * Finds a resource by its id, which does not contain the scope.
   * @param noun name of the resource type, for the error
   * @throws RequestError `not_found`
   */
  async findResourceInAllScopes<T extends object>(
    noun: string,
    get: (scope: WorkspaceScope) => Promise<T>,
  ): Promise<{ readonly scope: ScopeWithWorkspaceName; readonly found: T }> {
    for (const scope of this.scopes) {
      const found = await returnUndefinedIfNotFound(get(toScopeWithoutWorkspaceName(scope)));
      if (found !== undefined) return { scope, found };
    }
    throw new RequestError('not_found', `No such ${noun} in ${this.place}.`);
  }

  /** Runs a change in one of the scopes. Each scope that a request changes has an audit entry. */
  runAudited<T>(
    request: FastifyRequest,
    { workspace_id, environment }: WorkspaceScope,
    { type, target }: { readonly type: AuditType; readonly target: string | null },
    change: (command: CommandIdAndTime & WorkspaceScope) => Promise<T>,
  ): Promise<T> {
    const by = { workspace_id, actor: OPERATOR_ACTOR, address: null };
    const command = { ...getCommandIdentity(request), workspace_id, environment };
    return this.trail.runAudited(request, { type, by, target, part: `${workspace_id} ${environment}` }, () =>
      change(command),
    );
  }
}

/**
 * Returns the actor for the workspace that the body names. Without a workspace nothing can change, and the handler
 * reports the error.
 */
export function createOperatorAuditActor({ workspaces }: Workspaces): AuditedByRequest {
  return async ({ body }) => {
    const { workspace } = (body ?? {}) as { readonly workspace?: unknown };
    const found = typeof workspace === 'string' ? await workspaces.findWorkspaceByName(workspace) : undefined;
    return found && { workspace_id: found.id, actor: OPERATOR_ACTOR, address: null };
  };
}

export function addScopeToResource<T extends object>(
  resource: T,
  { workspace, environment }: ScopeWithWorkspaceName,
): Owned<T> {
  return { ...resource, workspace, environment };
}

/** The scope without the workspace's name, for queries and commands. */
export function toScopeWithoutWorkspaceName({ workspace_id, environment }: ScopeWithWorkspaceName): WorkspaceScope {
  return { workspace_id, environment };
}

/** Returns undefined instead of a `not_found` error, for a resource of another scope. */
export async function returnUndefinedIfNotFound<T>(resource: Promise<T>): Promise<T | undefined> {
  try {
    return await resource;
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
    return undefined;
  }
}

function compareNewestFirst(one: RecordWithCreationTime, other: RecordWithCreationTime): number {
  const [left, right] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return left < right ? 1 : left > right ? -1 : 0;
}
