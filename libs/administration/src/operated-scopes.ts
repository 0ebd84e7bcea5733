import { DomainError, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment, PageOf, Scope } from '@tracking/contracts';
import { QueryOneOf, QueryText, RequestError } from '@tracking/http';
import type { AdministrationDependencies } from './dependencies.ts';
import { workspaceNamed } from './workspace-named.ts';

export const IN_WORKSPACE = { description: 'Name of the workspace; all of them without one.' };
export const IN_ENVIRONMENT = { description: 'One environment; both without one.' };

/** Where an operator looks: into one workspace or all of them, one environment or both. */
export class WhereDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}
export interface Where {
  readonly workspace?: string | undefined;
  readonly environment?: Environment | undefined;
}

export interface NamedScope extends Scope {
  /** Name of the workspace. */
  readonly workspace: string;
}

/** Whose something is. */
interface Whose {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly environment: Environment;
}
export type Operated<T extends object> = T & Whose;

export function operated<T extends object>(it: T, { workspace, environment }: NamedScope): Operated<T> {
  return { ...it, workspace, environment };
}

/** For commands and requests of webhooks. */
export function inScope({ workspace_id, environment }: NamedScope): Scope {
  return { workspace_id, environment };
}

/** @throws RequestError `not_found` naming a workspace that is not there */
export async function scopesOf(
  identity: Pick<AdministrationDependencies['identity'], 'workspaces'>,
  { workspace, environment }: Where,
): Promise<readonly NamedScope[]> {
  const named =
    workspace === undefined ? await identity.workspaces.list() : [await workspaceNamed(identity, workspace)];
  const environments = environment === undefined ? ENVIRONMENTS : [environment];
  return named.flatMap(({ id, name }) =>
    environments.map((each) => ({ workspace_id: id, workspace: name, environment: each })),
  );
}

export function namesOf(scopes: readonly NamedScope[]): readonly string[] {
  return [...new Set(scopes.map(({ workspace }) => workspace))];
}

export function lookedAt(scopes: readonly NamedScope[]): string {
  const names = namesOf(scopes);
  return `${names.length === 1 ? 'workspace' : 'the workspaces'} ${names.join(', ')}`;
}

/** Undefined where what is asked for is not of that scope. */
export async function unlessElsewhere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
    return undefined;
  }
}

/**
 * Of whichever scope it is: an id tells of no workspace.
 * @param what it is called
 * @throws RequestError `not_found`
 */
export async function inOneOf<T extends object>(
  scopes: readonly NamedScope[],
  what: string,
  ask: (scope: NamedScope) => Promise<T>,
): Promise<{ readonly scope: NamedScope; readonly found: T }> {
  for (const scope of scopes) {
    const found = await unlessElsewhere(ask(scope));
    if (found !== undefined) return { scope, found };
  }
  throw new RequestError('not_found', `No such ${what} in ${lookedAt(scopes)}.`);
}

interface Listed {
  readonly created_at: string;
  readonly id: string;
}

/** The newest of all scopes, asked one after the other: together they could be too many at once. */
export async function newestOf<T extends Listed>(
  scopes: readonly NamedScope[],
  limit: number,
  list: (scope: NamedScope) => Promise<PageOf<T>>,
): Promise<PageOf<Operated<T>>> {
  let items: readonly Operated<T>[] = [];
  let isMore = false;
  for (const scope of scopes) {
    const found = await list(scope);
    const all = [...items, ...found.items.map((each) => operated(each, scope))].sort(newestFirst);
    items = all.slice(0, limit);
    isMore ||= found.next !== null || all.length > limit;
  }
  const last = items.at(-1);
  return { items, next: isMore && last ? [last.created_at, last.id] : null };
}

function newestFirst(one: Listed, other: Listed): number {
  const [left, right] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return left < right ? 1 : left > right ? -1 : 0;
}
