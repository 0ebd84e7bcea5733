export { createOutboundHttp, type OutboundHttpOptions } from './undici-outbound-http.ts';
export { NameNotResolved, type Lookup } from './connector.ts';
