export { Email } from './email.ts';
export { IdentityHttpModule } from './identity-http.module.ts';
export { linkAddress } from './link-address.ts';
