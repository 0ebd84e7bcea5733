import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment, Scope } from '@tracking/contracts';
import { QueryOneOf, QueryText } from '../validation/fields.ts';
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
