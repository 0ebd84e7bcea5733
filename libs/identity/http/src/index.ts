export { IdentityHttpModule } from './identity-http.module.ts';
export { createLinkUrl } from './invitations.controller.ts';
export { resetPassword, RevokesApiKeys } from './password-reset.ts';
