export { IdentityHttpModule } from './identity-http.module.ts';
export { linkAddress } from './invitations.controller.ts';
export { resetPassword, RevokesApiKeys } from './password-reset.ts';
