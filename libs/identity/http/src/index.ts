export { IdentityHttpModule } from './identity-http.module.ts';
export { linkAddress } from './invitations.controller.ts';
