export { createAdministrationHttpApi } from './create-administration-api.ts';
export type { AdministrationDependencies } from './dependencies.ts';
export { createTokenProtectedHandler, serveOnAdministrationSocket } from './serving.ts';
