import type { Lease } from '@tracking/ports';
import { DEFAULT_RETRY_POLICY, INITIAL_ENDPOINT_STATE, createDelivery } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import { toPendingDelivery } from '../scheduling/pending-window.ts';
import { convertToDeliveryDocument } from '../store/delivery-document.ts';
import { DeliveryWorker, type DeliveryWorkerDependencies } from './delivery-worker.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const TIMING = { time: NEVER_SET_PROCESS_CLOCK, policy: DEFAULT_RETRY_POLICY };

test('makes no attempt at an endpoint that is no longer stored', async () => {
  const at = '2026-01-01T00:00:00.000Z';
  const about = { workspace_id: 'wsp_1', environment: 'live', endpoint_id: 'whe_1', payload_id: 'p' } as const;
  const event = { event_id: 'evt_1', event_type: 'shipment.created', event_created_at: at, sandbox: false };
  const delivery = convertToDeliveryDocument(createDelivery({ ...about, ...event, id: 'dlv_1' }, at));
  const endpoint = {
    ...INITIAL_ENDPOINT_STATE,
    id: 'whe_1',
    status: 'enabled',
    revision: 1,
  } as unknown as EndpointDocument;
  const owned = new OwnedEndpoint(endpoint, { isLeaseHeld: () => true } as Lease, true, TIMING);
  const worker = new DeliveryWorker({
    clients: {
      getCachedEndpointClientIfFresh: () => undefined,
      readEndpointAndCacheClient: () => Promise.resolve(undefined),
    },
    engines: { retryUntilDone: (_what: string, work: () => Promise<unknown>) => work() },
  } as unknown as DeliveryWorkerDependencies);
  expect(await worker.attemptDelivery(owned, toPendingDelivery(delivery, 0), () => undefined)).toBeUndefined();
});
