export { createOutboundHttp } from './undici-outbound-http.ts';
