import { randomUUID } from 'node:crypto';
import type { Actor, Scope, Timestamp } from '@tracking/contracts';
import type { CheckRules } from '@tracking/shipments-domain';

/** Has the rules of a shipment checked, on nobody's request. */
export function checkOf(shipment: Scope & { readonly id: string }, at: Timestamp, actor: Actor): CheckRules {
  const { id: shipment_id, workspace_id, environment } = shipment;
  return {
    type: 'CheckRules',
    id: randomUUID(),
    at,
    shipment_id,
    workspace_id,
    environment,
    actor,
    request_id: `req_${randomUUID().replaceAll('-', '')}`,
    traceparent: null,
    strict: false,
  };
}
