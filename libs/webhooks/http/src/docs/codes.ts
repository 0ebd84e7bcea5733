import { entry } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';

/** Error codes of webhooks. */
export const ERRORS = {
  endpoint_not_verified: entry(
    'The URL of the webhook endpoint has not answered a challenge yet.',
    'POST /v1/webhook_endpoints/whe_…/enable',
    'The endpoint’s URL has not answered a challenge yet: verify it first.',
    'POST …/verify, and have the receiver answer with the token. last_verification tells why that failed.',
  ),
  endpoint_not_enabled: entry(
    'Deliveries are sent to enabled webhook endpoints only.',
    'POST /v1/webhook_deliveries/dlv_…/retry',
    'Deliveries are sent to enabled endpoints only: enable it first.',
    'POST …/enable, then try again. What waited is sent by itself then. A deleted endpoint cannot be enabled: make another one.',
  ),
  secret_unreadable: entry(
    'A secret was stored or made under a SECRETS_KEY that is lost.',
    'POST /v1/webhook_endpoints/whe_…/test',
    'The endpoint’s signing secret or headers were stored under a key that is lost: rotate the secret, and set the headers again.',
    'Rotate the secret and set the headers again, or make another key. Who runs the service can bring the lost SECRETS_KEY back instead.',
  ),
  delivery_succeeded: entry(
    'The delivery succeeded already, and what was delivered is not given up.',
    'POST /v1/webhook_deliveries/dlv_…/discard',
    'The event was delivered already.',
    'Nothing.',
  ),
  replay_running: entry(
    'A replay runs for this endpoint: one does at a time.',
    'POST /v1/webhook_endpoints/whe_…/replay while another runs',
    'A replay runs for this endpoint already: wait for its end, or cancel it.',
    'Read it at GET /v1/webhook_replays; wait for its end, or cancel it and ask again.',
  ),
  replay_completed: entry(
    'The replay came to its end, so that there is nothing to go on with.',
    'POST /v1/webhook_replays/rpl_…/resume',
    'The replay came to its end: there is nothing left to go on with.',
    'Make another replay where something is to be sent again.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes with which operations refuse by rules of their own. */
export const REFUSALS = {
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
