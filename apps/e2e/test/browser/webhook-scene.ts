import { eventually } from '@tracking/testing';
import type { SignedInUser } from '../people.ts';
import { EndpointServer } from '../receiver.ts';
import { listAllItems } from '../tenant.ts';

interface WebhookDelivery {
  readonly id: string;
  readonly status: string;
}

/** Webhook endpoints for the pages about webhooks, and the server that receives their deliveries. */
export interface SampleEndpointsAndServer {
  readonly server: EndpointServer;
  /** Ids by their parameter names in page paths. */
  readonly ids: Readonly<Record<string, string>>;
}

/**
 * Creates three endpoints and a replay: one endpoint works, one fails and has dead letters, and one did not pass
 * verification.
 */
export async function createSampleWebhooks({ api }: SignedInUser): Promise<SampleEndpointsAndServer> {
  const server = await EndpointServer.startEndpointServer();
  const well = await server.createEnabledEndpoint(api, '/tms', {
    description: 'Our TMS',
    headers: { 'X-Site': 'RTM' },
  });
  const failing = await server.createEnabledEndpoint(api, '/warehouse', { event_types: ['shipment.created'] });
  failing.behave = () => 503;
  const waiting = await api.post<{ id: string }>('/v1/webhook_endpoints', {
    ...{ url: server.formatEndpointUrl('/nowhere'), event_types: ['*'], description: 'The goods have not arrived yet' },
  });
  await api.post(`/v1/webhook_endpoints/${waiting.data.id}/verify`);
  for (const external_id of ['WH-1', 'WH-2', 'WH-3']) await api.post('/v1/shipments', { external_id });
  const deliveries = (endpoint_id: string, status: string) =>
    listAllItems<WebhookDelivery>(api, '/v1/webhook_deliveries', { endpoint_id, status });
  const patience = { deadlineMs: 60_000 };
  await eventually(async () => {
    expect(await deliveries(failing.id, 'dead_lettered')).toHaveLength(3);
    expect(await deliveries(well.id, 'succeeded')).toHaveLength(3);
  }, patience);
  await api.post(`/v1/webhook_endpoints/${well.id}/replay`, { statuses: ['succeeded'] });
  const [dead] = await deliveries(failing.id, 'dead_lettered');
  return {
    server,
    ids: { well: well.id, failing: failing.id, waiting: waiting.data.id, dead: dead?.id ?? '' },
  };
}
