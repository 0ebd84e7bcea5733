export { IdentityHttpModule } from './identity-http.module.ts';
export { createOneTimeLinkUrl } from './invitations.controller.ts';
export { resetPassword, RevokeApiKeysProperty } from './password-reset.ts';
