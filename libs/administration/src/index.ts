export { listenOnSocket } from './administration-socket.ts';
export { guarded } from './guarded.ts';
export { createAdministrationApi } from './create-administration-api.ts';
export type { AdministrationDependencies } from './dependencies.ts';
