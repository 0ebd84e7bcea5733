export { IdentityHttpModule } from './identity-http.module.ts';
export { createLinkUrl } from './invitations.controller.ts';
export { resetPassword, RevokeApiKeysField } from './password-reset.ts';
