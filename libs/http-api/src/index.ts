export * from './administration/index.ts';
export { createHttpApi } from './create-http-api.ts';
export { describeRoutes } from './docs/describe-routes.ts';
export type { HttpApiDependencies, HttpApiSettings } from './dependencies.ts';
export { IdempotencyClaims, type IdempotencyOptions } from './idempotency/idempotency-claims.ts';
export { linkAddress } from './identity/link-address.ts';
export { currentRequest } from './server/request.ts';
export { readShipmentFields } from './shipments/read-shipment-fields.ts';
