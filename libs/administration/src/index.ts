export { createAdministrationApi } from './create-administration-api.ts';
export type { AdministrationDependencies } from './dependencies.ts';
export { guarded, listenOnSocket } from './serving.ts';
