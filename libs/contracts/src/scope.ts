import type { Environment } from './shipment.ts';

/** Whose data it is: nothing of one workspace and environment is ever answered to another. */
export interface Scope {
  readonly workspace_id: string;
  readonly environment: Environment;
}
