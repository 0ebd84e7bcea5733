import type { Workspace } from '@tracking/contracts';
import { RequestError } from '@tracking/http';
import type { AdministrationDependencies } from './dependencies.ts';

/** @throws RequestError `not_found` naming it */
export async function workspaceNamed(
  { workspaces }: Pick<AdministrationDependencies['identity'], 'workspaces'>,
  name: string,
): Promise<Workspace> {
  const workspace = await workspaces.find(name);
  if (!workspace) throw new RequestError('not_found', `There is no workspace ${name}.`);
  return workspace;
}
