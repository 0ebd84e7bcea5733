export { createAdministrationApi } from './create-administration-api.ts';
export type { AdministrationDependencies } from './dependencies.ts';
export { requireToken, listenOnSocket } from './serving.ts';
