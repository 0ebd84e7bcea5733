import { hostileReceiverBehaviours, startReceiver } from '@tracking/testing';
import type { RawBehaviour, ReceivedRequest, HttpTestReceiver } from '@tracking/testing';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

/** Starts a client's receiver. It responds to challenges with their token, and to other requests as configured. */
export async function startClientReceiver(
  behaviour: RawBehaviour = hostileReceiverBehaviours.answers(204, ''),
): Promise<ClientWebhookTestReceiver> {
  let present = behaviour;
  let challenged: RawBehaviour = (socket, request) =>
    hostileReceiverBehaviours.answers(200, readVerificationChallenge(request))(socket, request);
  const receiver = await startReceiver((socket, request) =>
    (isChallengeRequest(request) ? challenged : present)(socket, request),
  );
  return {
    origin: receiver.origin,
    port: receiver.port,
    requests: receiver.requests,
    dropConnections: () => receiver.dropConnections(),
    close: () => receiver.close(),
    url: `${receiver.origin}/webhooks`,
    setReceiverBehaviour: (next) => (present = next),
    behaveAlways: (next) => (present = challenged = next),
    deliveries: () => receiver.requests.filter((request) => !isChallengeRequest(request)),
  };
}

export interface ClientWebhookTestReceiver extends Omit<HttpTestReceiver, 'connections' | 'openConnections'> {
  readonly url: string;
  /** Changes the behaviour for all further requests, including challenges. */
  behaveAlways(behaviour: RawBehaviour): void;
  /** Returns all received requests except challenges. */
  deliveries(): readonly ReceivedRequest[];
}

/** Creates, verifies and enables a webhook endpoint through the API. */
export async function createEnabledEndpoint(
  api: Api,
  key: string,
  url: string,
  fields: object = {},
): Promise<ApiResponse['body']> {
  const created = await api.call('POST', '/v1/webhook_endpoints', {
    key,
    json: { url, event_types: ['*'], ...fields },
  });
  const path = `/v1/webhook_endpoints/${String(created.body['id'])}`;
  await api.call('POST', `${path}/verify`, { key });
  const enabled = await api.call('POST', `${path}/enable`, { key });
  if (enabled.status !== 200) throw new Error(`${enabled.status} ${enabled.text}`);
  return { ...created.body, ...enabled.body };
}

function isChallengeRequest({ headers }: ReceivedRequest): boolean {
  return headers['service-event-type'] === 'endpoint.verification';
}

function readVerificationChallenge({ body }: ReceivedRequest): string {
  return (JSON.parse(body.toString()) as { data: { challenge: string } }).data.challenge;
}
