import type { Identity } from '@tracking/identity';
import type { Logger } from '@tracking/ports';
import type { ReadModels } from '@tracking/read-models';

export interface AdministrationDependencies {
  readonly identity: Pick<Identity, 'workspaces' | 'keys'>;
  readonly readModels: Pick<ReadModels, 'list' | 'rebuild' | 'parked' | 'retryParked'>;
  readonly logger: Logger;
}

/** Injects {@link AdministrationDependencies}. */
export const ADMINISTRATION = Symbol('administration dependencies');
