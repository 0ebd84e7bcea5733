import type { OpenAPIObject } from '@nestjs/swagger';
import { EVENT_TYPES, isEndpointEvent } from '@tracking/contracts';
import { eventSchemaName, schemaRef } from '@tracking/http';

const header = (name: string, description: string, schema: object, example: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string', ...schema },
  example,
});

/** Headers of a request with an event of the type. */
function headersFor(type: string) {
  return [
    header(
      'Service-Event-Id',
      'Id of the event: drop what you have seen.',
      {},
      'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
    ),
    header('Service-Event-Type', 'Type of the event.', { const: type }, type),
    header(
      'Service-Signature',
      '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole `whsec_…` string. There may be several `v1`: one that fits suffices. Compare in constant time, and refuse a `t` that is older than five minutes.',
      { pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
      `t=1795426200,v1=${'5f6a2b8637ac4b5c'.repeat(4)}`,
    ),
    header('webhook-id', 'Standard Webhooks: `Service-Event-Id`.', {}, 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11'),
    header('webhook-timestamp', 'Standard Webhooks: when it was signed, in Unix seconds.', {}, '1795426200'),
    header(
      'webhook-signature',
      'Standard Webhooks: `v1,<base64>`, the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`, keyed with the bytes that stand in base64 behind `whsec_`. There may be several, with a space between: one that fits suffices. Check this one or `Service-Signature`.',
      { pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
      `v1,${'X2orhjesS1yX'.repeat(3)}X2orhjc=`,
    ),
    header('traceparent', 'W3C trace context: that of the request which caused the event.', {}, TRACEPARENT),
  ];
}
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Responses of a receiver, and their effect. */
const RECEIVER_RESPONSES = {
  '2XX': { description: 'Delivered. Answer it only once the id of the event is stored.' },
  '410': { description: 'The endpoint is gone: it is disabled, and the delivery a dead letter.' },
  '429': {
    description: 'Too many requests: `Retry-After` holds the whole endpoint back for that time, from 1 s to 1 h.',
  },
  '503': { description: 'As 429.' },
  default: {
    description: 'Failed, redirects too: attempted again, about 13 times within 72 hours, then a dead letter.',
  },
};

const describeRequest = (type: string, summary: string, description: string, schema: object) => ({
  post: {
    operationId: `on_${type.replaceAll('.', '_')}`,
    tags: ['Webhooks'],
    summary,
    description,
    security: [],
    parameters: headersFor(type),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: RECEIVER_RESPONSES,
  },
});

const CHALLENGE_SCHEMA = {
  type: 'object',
  description: 'Asks an endpoint whether it wants what is posted to it.',
  properties: {
    id: { type: 'string' },
    type: { type: 'string', const: 'endpoint.verification' },
    created_at: { type: 'string', format: 'date-time' },
    api_version: { type: 'string' },
    data: { type: 'object', properties: { challenge: { type: 'string' } }, required: ['challenge'] },
  },
  required: ['id', 'type', 'created_at', 'api_version', 'data'],
};
const CHALLENGE_RESPONSE = {
  description:
    'The token within 10 s, as plain text, a JSON string or `{"challenge": "<token>"}`: the URL is verified.',
  content: {
    'text/plain': { schema: { type: 'string' } },
    'application/json': {
      schema: {
        oneOf: [
          { type: 'object', properties: { challenge: { type: 'string' } }, required: ['challenge'] },
          { type: 'string' },
        ],
      },
    },
  },
};

const SHIPMENT_EVENT_DESCRIPTION =
  'Posted to enabled endpoints that name the type, at least once. Between attempts no order is promised: order by `data.shipment_version`.';
const ENDPOINT_EVENT_DESCRIPTION =
  'Posted at least once to the enabled endpoints of the workspace and environment that name the type, but not to the one that it is about. It is not in `listEvents`.';

/** Describes the requests to webhook endpoints: the challenge and every event. */
export function describeWebhooks(document: OpenAPIObject): void {
  const events = EVENT_TYPES.map((type) => [
    type,
    describeRequest(
      type,
      `Receive ${type}`,
      isEndpointEvent(type) ? ENDPOINT_EVENT_DESCRIPTION : SHIPMENT_EVENT_DESCRIPTION,
      schemaRef(eventSchemaName(type)),
    ),
  ]);
  Object.assign(document.components?.schemas ?? {}, { EndpointVerification: CHALLENGE_SCHEMA });
  const challenge = describeRequest(
    'endpoint.verification',
    'Receive the challenge',
    'Posted where `verifyWebhookEndpoint` is asked for.',
    schemaRef('EndpointVerification'),
  );
  const responses = { '2XX': CHALLENGE_RESPONSE, default: { description: 'Not verified; ask for another challenge.' } };
  document.webhooks = Object.fromEntries([
    ...events,
    ['endpoint.verification', { post: { ...challenge.post, responses } }],
  ]) as NonNullable<OpenAPIObject['webhooks']>;
}
