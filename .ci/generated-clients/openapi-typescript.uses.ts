// Uses of the types that openapi-typescript generates: see .ci/generated-clients.mjs.
import type { components, operations } from './openapi-typescript';

type Schemas = components['schemas'];
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Is extends true>(): Is | undefined => undefined;
/** A union of events narrows by `type`. */
export function told(event: Schemas['Event']): string | null {
  switch (event.type) {
    case 'shipment.updated':
      return JSON.stringify(event.data.changes['eta']?.to);
    case 'milestone.recorded':
      // @ts-expect-error it holds the milestone alone
      void event.data.shipment;
      return event.data.milestone.code;
    case 'exception.opened':
      return event.data.exception.severity;
    case 'document.rejected':
      return event.data.document.rejection_reason;
    default:
      return event.data.external_id;
  }
}

// Enumerations are unions of their values.
holds<Same<Schemas['Severity'], 'low' | 'medium' | 'high' | 'critical'>>();
holds<Same<Schemas['Shipment']['mode'], Schemas['Mode'] | null>>();
holds<Same<Schemas['Warning']['code'], Schemas['WarningCode']>>();
holds<Same<Schemas['FieldError']['code'], Schemas['FieldErrorCode']>>();
holds<Same<Schemas['Milestone']['reason_code'], Schemas['ReasonCode'] | null>>();
export const code: Schemas['MilestoneFields']['code'] = 'vessel_departed';
// @ts-expect-error no code of the catalog
export const foreign: Schemas['MilestoneFields']['code'] = 'VD';

// Filters that take several values are lists of them.
export const query: operations['listShipments']['parameters']['query'] = {
  status: ['in_transit', 'arrived'],
  limit: 10,
};
// @ts-expect-error no status
export const misspelt: operations['listShipments']['parameters']['query'] = { status: ['sailing'] };

// All errors have one type.
type Failure = operations['cancelShipment']['responses'][409]['content']['application/json'];
holds<Same<Failure, Schemas['ErrorResponse']>>();
holds<Same<Failure['error']['code'], Schemas['ErrorCode']>>();

// Headers of requests and responses have types.
type Writing = NonNullable<operations['upsertShipment']['parameters']['header']>;
holds<Same<NonNullable<Writing['Prefer']>, 'handling=strict' | 'handling=lenient'>>();
holds<Same<NonNullable<Writing['Idempotency-Key']>, string>>();
holds<Same<operations['listShipments']['responses'][429]['headers']['Retry-After'], number>>();
holds<Same<operations['upsertShipment']['responses'][201]['headers']['Consistency-Token'], string>>();
holds<Same<operations['getShipment']['responses'][429]['headers']['X-RateLimit-Remaining'], number>>();
holds<Same<operations['getShipment']['responses'][200]['headers']['ETag'], string>>();

// Bodies that are posted to receivers.
type Posted = Extract<Schemas['Event'], { type: 'exception.opened' }>;
holds<Same<Posted, Schemas['ExceptionOpenedEvent']>>();
