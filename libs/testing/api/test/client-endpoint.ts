import { receivers, startReceiver } from '@tracking/testing';
import type { RawBehaviour, ReceivedRequest, RawReceiver } from '@tracking/testing';
import type { Api } from './start-api.ts';
import type { Answer } from './described-answers.ts';

/** A client's receiver: answers challenges with their token, everything else as it is told. */
export async function startClientReceiver(
  behaviour: RawBehaviour = receivers.answers(204, ''),
): Promise<ClientReceiver> {
  let present = behaviour;
  let challenged: RawBehaviour = (socket, request) => receivers.answers(200, tokenOf(request))(socket, request);
  const receiver = await startReceiver((socket, request) =>
    (isChallenge(request) ? challenged : present)(socket, request),
  );
  return {
    origin: receiver.origin,
    port: receiver.port,
    requests: receiver.requests,
    dropConnections: () => receiver.dropConnections(),
    close: () => receiver.close(),
    url: `${receiver.origin}/webhooks`,
    behave: (next) => (present = next),
    behaveAlways: (next) => (present = challenged = next),
    deliveries: () => receiver.requests.filter((request) => !isChallenge(request)),
  };
}

export interface ClientReceiver extends Omit<RawReceiver, 'connections' | 'openConnections'> {
  readonly url: string;
  /** From now on, to challenges too. */
  behaveAlways(behaviour: RawBehaviour): void;
  /** Whatever came but challenges. */
  deliveries(): readonly ReceivedRequest[];
}

/** Makes an endpoint over the API, verifies and enables it. */
export async function enabledEndpoint(
  api: Api,
  key: string,
  url: string,
  fields: object = {},
): Promise<Answer['body']> {
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

function isChallenge({ headers }: ReceivedRequest): boolean {
  return headers['service-event-type'] === 'endpoint.verification';
}

function tokenOf({ body }: ReceivedRequest): string {
  return (JSON.parse(body.toString()) as { data: { challenge: string } }).data.challenge;
}
