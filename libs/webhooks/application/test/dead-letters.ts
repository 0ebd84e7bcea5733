import type { Timestamp } from '@tracking/contracts';
import { createDelivery } from '@tracking/webhooks-domain';
import {
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  PAYLOADS_COLLECTION_SPEC,
  type PayloadDocument,
  createDeliveryId,
  convertToDeliveryDocument,
} from '../src/store/delivery-document.ts';
import { SAMPLE_SCOPE, type WebhooksTestHarness } from './webhooks-test-harness.ts';

export interface DeadLetterFields {
  readonly endpoint_id: string;
  readonly workspace_id?: string;
  readonly event_type?: string;
  readonly reason?: string;
  /** Creation time of the event. */
  readonly at?: Timestamp;
}

/** Creates stored dead letters, already announced, each of its own event. */
export async function storeDeadLetters(
  harness: WebhooksTestHarness,
  count: number,
  {
    endpoint_id,
    event_type = 'shipment.created',
    reason: code = 'timeout',
    at = harness.now(),
    ...more
  }: DeadLetterFields,
): Promise<readonly DeliveryDocument[]> {
  const made = Array.from({ length: count }, () => {
    const event = harness.addAcknowledgedEventToLog({ type: event_type as 'shipment.created', created_at: at });
    const payload_id = `${event.id}.2026-11-01`;
    const about = { event_id: event.id, event_type, event_created_at: at, payload_id, sandbox: false };
    const fields = { id: createDeliveryId(endpoint_id, event), ...SAMPLE_SCOPE, ...more, endpoint_id, ...about };
    const last_error = { code, message: 'It failed.' };
    const ended = { last_error, attempts_count: 12, next_attempt_at: null, completed_at: at, announced_at: at };
    return convertToDeliveryDocument({ ...createDelivery(fields, at), ...ended, status: 'dead_lettered' });
  });
  const payloads = await harness.engine.documentStore.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC);
  const bodies = made.map(({ event_id, payload_id }) => ({
    id: payload_id,
    body: `{"id":"${event_id}"}`,
    created_at: at,
  }));
  await payloads.writeMany(bodies.map((document) => ({ kind: 'insert', document })));
  const deliveries = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  await deliveries.writeMany(made.map((document) => ({ kind: 'insert', document })));
  return made;
}
