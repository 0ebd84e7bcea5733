import { createEventSamples, NEWEST_API_VERSION, createSandboxEventData } from '@tracking/contracts';
import { createErrorCodeDocs, type FeatureDocs } from '@tracking/http';
import { describeWebhooksInOpenApi } from './webhook-requests.ts';
import { renderWebhookDocsPage } from './webhooks-page.ts';

/** Error codes of webhooks. */
const WEBHOOK_ERROR_DOCS = {
  endpoint_not_verified: createErrorCodeDocs(
    'The URL of the webhook endpoint is not verified.',
    'POST /v1/webhook_endpoints/whe_…/enable',
    'The endpoint’s URL is not verified. Verify the endpoint first.',
    'Call POST …/verify, and have the receiver answer with the token. last_verification shows why a verification failed.',
  ),
  endpoint_not_enabled: createErrorCodeDocs(
    'The webhook endpoint is not enabled.',
    'POST /v1/webhook_deliveries/dlv_…/retry',
    'The endpoint is not enabled. Enable it first.',
    'Call POST …/enable, then try again. Pending deliveries are then sent automatically. A deleted endpoint cannot be enabled: create another one.',
  ),
  secret_unreadable: createErrorCodeDocs(
    'A secret was stored or created under a SECRETS_KEY that is lost.',
    'POST /v1/webhook_endpoints/whe_…/test',
    'The endpoint’s signing secret or headers were stored under a key that is lost. Rotate the secret, and set the headers again.',
    'For a webhook endpoint, rotate its secret and set its headers again. For an API key, create another API key. Alternatively, the operator of the service can restore the lost SECRETS_KEY.',
  ),
  delivery_succeeded: createErrorCodeDocs(
    'The delivery already succeeded, so it cannot be discarded.',
    'POST /v1/webhook_deliveries/dlv_…/discard',
    'The event was already delivered.',
    'Nothing.',
  ),
  replay_running: createErrorCodeDocs(
    'A replay of this endpoint is already running. An endpoint can have only one running replay.',
    'POST /v1/webhook_endpoints/whe_…/replay while another replay is running',
    'A replay of this endpoint is already running. Wait for its end or cancel it.',
    'Find the running replay with GET /v1/webhook_replays. Wait for its end or cancel it, and try again.',
  ),
  replay_completed: createErrorCodeDocs(
    'The replay is already completed, so it cannot be resumed.',
    'POST /v1/webhook_replays/rpl_…/resume',
    'The replay is already completed.',
    'To send deliveries again, create another replay.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of warnings: the write was carried out. */
const WEBHOOK_WARNING_DOCS = {
  header_dropped: {
    ...createErrorCodeDocs(
      "A custom header was dropped. The request has no value for the header, and no value is stored for the URL's scheme, host and port. Changing the scheme, host or port of the URL deletes stored values.",
      '{"url": "https://new.example.com/webhooks"} in a PATCH of an endpoint with headers',
      "The header was dropped: the request has no value for the header, and no value is stored for the URL's scheme, host and port.",
      'Set the header again with its value. To keep a header, send its value in the request that changes the URL.',
    ),
    param: 'headers.authorization',
  },
} as const satisfies FeatureDocs['warnings'];

/** Error codes of operations that have rules of their own. */
const WEBHOOK_OPERATION_ERROR_CODES = {
  createWebhookEndpoint: ['limit_exceeded'],
  verifyWebhookEndpoint: ['secret_unreadable'],
  enableWebhookEndpoint: ['endpoint_not_verified', 'secret_unreadable'],
  testWebhookEndpoint: ['endpoint_not_verified', 'secret_unreadable'],
  revealWebhookSecret: ['secret_unreadable'],
  retryWebhookDelivery: ['endpoint_not_enabled', 'endpoint_not_verified', 'secret_unreadable'],
  discardWebhookDelivery: ['delivery_succeeded'],
  replayWebhookDeadLetters: ['limit_exceeded', 'endpoint_not_enabled', 'replay_running'],
  discardWebhookDeadLetters: ['limit_exceeded'],
  createWebhookReplay: ['limit_exceeded', 'endpoint_not_enabled', 'replay_running'],
  resumeWebhookReplay: ['endpoint_not_enabled', 'replay_running', 'replay_completed'],
} as const satisfies FeatureDocs['refusals'];

const EXAMPLE_TIME = '2026-11-23T09:30:00.000Z';
const SAMPLE_EVENTS = createEventSamples(EXAMPLE_TIME, {
  appUrl: 'https://app.example.com',
  baseUrl: 'https://api.example.com',
});
const EXAMPLE_EVENT_ID = 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11';
const EXAMPLE_EVENT = {
  id: EXAMPLE_EVENT_ID,
  type: 'milestone.recorded',
  created_at: EXAMPLE_TIME,
  api_version: NEWEST_API_VERSION,
  environment: 'live',
  workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
  data: createSandboxEventData('milestone.recorded', SAMPLE_EVENTS),
};

/** Example resources, by schema name. */
const EXAMPLE_RESOURCES = {
  WebhookEndpoint: {
    event_types: ['*'],
    disabled_reason: null,
    last_verification: null,
    headers: {},
    max_concurrency: 16,
  },
  WebhookDelivery: {
    event_type: 'milestone.recorded',
    status: 'retrying',
    completed_at: null,
    last_error: { code: 'unexpected_status', message: 'The endpoint answered 500.' },
    payload: EXAMPLE_EVENT,
  },
  WebhookDeadLetters: { event_types: ['milestone.recorded'], reasons: ['timeout', 'connection_refused'] },
  WebhookReplayFilter: { since: '2026-11-21T09:30:00Z', statuses: ['dead_lettered', 'missed'] },
  WebhookReplay: {
    since: '2026-11-21T09:30:00.000Z',
    event_types: null,
    reasons: null,
    delivery_ids: null,
    matched: 180,
    done: 120,
    failed: 2,
  },
  WebhookAttempt: { number: 1, duration_ms: 84, status_code: 500, manual: false },
  WebhookEndpointFields: { url: 'https://tms.example.com/webhooks', event_types: ['*'], description: 'Our TMS' },
  WebhookEndpointChanges: { event_types: ['milestone.recorded', 'exception.opened'], max_concurrency: 4 },
};

/** Example values, by field name. */
const EXAMPLE_VALUES_BY_FIELD = {
  body: 'ok',
  challenge: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u',
  description: 'Our TMS',
  endpoint_id: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd',
  headers: { 'content-type': 'text/plain' },
  url: 'https://tms.example.com/webhooks',
};

/** Noun and example id of a resource, by the collection in its path. */
const RESOURCE_NOUNS_AND_EXAMPLE_IDS = {
  webhook_endpoints: ['webhook endpoint', 'whe_5f3c2k7qv3n5xw6yz2aabbccdd'],
  webhook_deliveries: ['webhook delivery', 'dlv_9c1e7qv3n5xw6yz2aabbccddee'],
  webhook_replays: ['webhook replay', 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc'],
} as const satisfies FeatureDocs['resources'];

/** The webhook part of the API documentation. */
export const WEBHOOK_DOCS: FeatureDocs = {
  errors: WEBHOOK_ERROR_DOCS,
  warnings: WEBHOOK_WARNING_DOCS,
  refusals: WEBHOOK_OPERATION_ERROR_CODES,
  resources: RESOURCE_NOUNS_AND_EXAMPLE_IDS,
  samples: EXAMPLE_RESOURCES,
  values: EXAMPLE_VALUES_BY_FIELD,
  describe: describeWebhooksInOpenApi,
  pages: { webhooks: renderWebhookDocsPage },
};
