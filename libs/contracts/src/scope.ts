import type { Environment } from './shipment.ts';

/** Whose data it is: nothing of one workspace and environment is ever answered to another. */
export interface Scope {
  readonly workspace_id: string;
  readonly environment: Environment;
}

/** Whether something is of the scope. */
export function isInScope(owned: Scope, { workspace_id, environment }: Scope): boolean {
  return owned.workspace_id === workspace_id && owned.environment === environment;
}
