import type { OpenAPIObject } from '@nestjs/swagger';
import { EVENT_TYPES, isEndpointEvent, NEWEST_API_VERSION } from '@tracking/contracts';
import { createEventSchemaName, listOpenApiOperations, createSchemaReference } from '@tracking/http';

const EVENT_ID_HEADER_EXAMPLE = 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11';

const createHeaderParameterDocs = (name: string, description: string, schema: object, example: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string', ...schema },
  example,
});

const SAMPLE_TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Headers of every request, by the name of their component. */
const WEBHOOK_REQUEST_HEADERS = Object.fromEntries(
  [
    createHeaderParameterDocs(
      'Service-Event-Id',
      'Id of the event. Ignore an event whose id you have already processed.',
      {},
      EVENT_ID_HEADER_EXAMPLE,
    ),
    createHeaderParameterDocs(
      'Service-Signature',
      '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole `whsec_…` string. The header may contain several `v1`; one valid signature is sufficient. Compare in constant time, and reject a `t` older than five minutes.',
      { pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
      `t=1795426200,v1=${'5f6a2b8637ac4b5c'.repeat(4)}`,
    ),
    createHeaderParameterDocs('webhook-id', 'Standard Webhooks: `Service-Event-Id`.', {}, EVENT_ID_HEADER_EXAMPLE),
    createHeaderParameterDocs(
      'webhook-timestamp',
      'Standard Webhooks: time of signing, in Unix seconds.',
      {},
      '1795426200',
    ),
    createHeaderParameterDocs(
      'webhook-signature',
      'Standard Webhooks: `v1,<base64>`, the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`, keyed with the base64-decoded bytes after `whsec_`. The header may contain several signatures, separated by spaces; one valid signature is sufficient. Verify either this header or `Service-Signature`.',
      { pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
      `v1,${'X2orhjesS1yX'.repeat(3)}X2orhjc=`,
    ),
    createHeaderParameterDocs(
      'traceparent',
      'W3C trace context of the request that caused the event.',
      {},
      SAMPLE_TRACEPARENT,
    ),
    // Requests of clients have headers of the same name.
  ].map((header) => [`Webhook.${header.name}`, header]),
);

/** Returns the headers of a request with an event of this type. */
const describeWebhookHeaders = (type: string): object[] => [
  createHeaderParameterDocs('Service-Event-Type', 'Type of the event.', { const: type }, type),
  ...Object.keys(WEBHOOK_REQUEST_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
];

/** Responses of a receiver and their effects. */
const RECEIVER_RESPONSE_DOCS = {
  '2XX': { description: 'The event is delivered. Respond 2xx only after storing the event id.' },
  '410': { description: 'The endpoint no longer exists. It is disabled, and the delivery becomes a dead letter.' },
  '429': {
    description: 'Too many requests. Nothing is sent to the endpoint for the time in `Retry-After`, from 1 s to 1 h.',
  },
  '503': { description: 'If the response has `Retry-After`, it is handled like a response with status 429.' },
  default: {
    description:
      'The attempt failed; redirects count as failures. It is retried about 13 times within 72 hours, and then the delivery becomes a dead letter.',
  },
};

const describeWebhookInOpenApi = (type: string, summary: string, description: string, schema: object) => ({
  post: {
    operationId: `on_${type.replaceAll('.', '_')}`,
    tags: ['Webhooks'],
    summary,
    description,
    security: [],
    parameters: describeWebhookHeaders(type),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: RECEIVER_RESPONSE_DOCS,
  },
});

const CHALLENGE_SCHEMA = {
  type: 'object',
  description: 'Challenge to verify that the receiver owns the endpoint.',
  properties: {
    id: { type: 'string', example: EVENT_ID_HEADER_EXAMPLE },
    type: { type: 'string', const: 'endpoint.verification' },
    created_at: { type: 'string', format: 'date-time' },
    api_version: { type: 'string', example: NEWEST_API_VERSION },
    data: {
      type: 'object',
      properties: { challenge: { type: 'string', example: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u' } },
      required: ['challenge'],
    },
  },
  required: ['id', 'type', 'created_at', 'api_version', 'data'],
};
const URL_NOT_VERIFIED_RESPONSE = { description: 'The URL is not verified. Request another challenge.' };
const VERIFICATION_RESPONSE_DOCS = {
  description:
    'The receiver returns the token within 10 s, as plain text, a JSON string or `{"challenge": "<token>"}`. The URL is then verified.',
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
  'Sent at least once to enabled endpoints that subscribe to the type. Order is not guaranteed between attempts: order by `data.shipment_version`. An endpoint with `payload: "thin"` receives a `WebhookPayload` without snapshots.';
const ENDPOINT_EVENT_DESCRIPTION =
  'Sent at least once to the enabled endpoints of the workspace and environment that subscribe to the type, except the endpoint that the event is about. `listEvents` does not return the event.';

/** Body of a webhook request in any form, as deliveries show it. */
const WEBHOOK_PAYLOAD_SCHEMA = {
  type: 'object',
  description: 'An event as an endpoint received it, full or thin.',
  properties: {
    id: { type: 'string', description: 'Id of the event.' },
    type: { ...createSchemaReference('EventTypeName'), description: 'Type of the event.' },
    created_at: { type: 'string', format: 'date-time', description: 'Time of the event. UTC with milliseconds.' },
    api_version: { type: 'string', description: 'Version of the event format.' },
    environment: { ...createSchemaReference('Environment'), description: 'Environment of the event.' },
    workspace_id: { type: 'string', description: 'Id of the workspace.' },
    sandbox: { type: 'boolean', description: 'True for a test event; absent for other events.' },
    data: {
      type: 'object',
      description:
        'Data of the event, as in the requests to endpoints. With `payload: "thin"`, it has only ids, versions, `changes`, and `id`, `code`, `occurred_at`, `location` and `source` of a milestone.',
      additionalProperties: true,
    },
  },
  required: ['id', 'type', 'created_at', 'api_version', 'environment', 'workspace_id', 'data'],
};

/** The requests go to the `url` of the endpoint. */
const CALLBACK_URL_EXPRESSION = '{$request.body#/url}';

/** Describes the requests to webhook endpoints: the challenge, and one for each event type. */
export function describeWebhooksInOpenApi(document: OpenAPIObject): void {
  const events = EVENT_TYPES.map((type) => [
    type,
    describeWebhookInOpenApi(
      type,
      `Receive ${type}`,
      isEndpointEvent(type) ? ENDPOINT_EVENT_DESCRIPTION : SHIPMENT_EVENT_DESCRIPTION,
      createSchemaReference(createEventSchemaName(type)),
    ),
  ]);
  Object.assign(document.components?.schemas ?? {}, { WebhookPayload: WEBHOOK_PAYLOAD_SCHEMA });
  Object.assign(document.components?.parameters ?? {}, WEBHOOK_REQUEST_HEADERS);
  const challenge = describeWebhookInOpenApi(
    'endpoint.verification',
    'Receive the challenge',
    'Sent when `verifyWebhookEndpoint` is called.',
    CHALLENGE_SCHEMA,
  );
  const responses = {
    '2XX': VERIFICATION_RESPONSE_DOCS,
    '4XX': URL_NOT_VERIFIED_RESPONSE,
    default: URL_NOT_VERIFIED_RESPONSE,
  };
  const created = listOpenApiOperations(document).find(({ id }) => id === 'createWebhookEndpoint')?.operation;
  if (created === undefined) throw new Error('No handler is declared for the operation createWebhookEndpoint.');
  // Callbacks instead of `webhooks`: openapi-generator writes Python that does not compile for `webhooks`.
  created.callbacks = Object.fromEntries(
    [...events, ['endpoint.verification', { post: { ...challenge.post, responses } }]].map(([name, item]) => [
      name,
      { [CALLBACK_URL_EXPRESSION]: item },
    ]),
  );
}
