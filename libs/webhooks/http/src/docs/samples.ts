import { NEWEST_API_VERSION, eventSamples, sandboxData } from '@tracking/contracts';
import type { FeatureDocs } from '@tracking/http';

const AT = '2026-11-23T09:30:00.000Z';
const samples = eventSamples(AT, { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' });
const EVENT_ID = 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11';
const EVENT = {
  id: EVENT_ID,
  type: 'milestone.recorded',
  created_at: AT,
  api_version: NEWEST_API_VERSION,
  environment: 'live',
  workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
  data: sandboxData('milestone.recorded', samples),
};

/** Examples of schemas, by name. */
export const SAMPLES: NonNullable<FeatureDocs['samples']> = {
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
    payload: EVENT,
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
  EndpointVerification: {
    id: EVENT_ID,
    type: 'endpoint.verification',
    created_at: AT,
    api_version: NEWEST_API_VERSION,
    data: { challenge: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u' },
  },
};

/** Example values of fields, by name. */
export const VALUES: NonNullable<FeatureDocs['values']> = {
  body: 'ok',
  challenge: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u',
  description: 'Our TMS',
  endpoint_id: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd',
  headers: { 'content-type': 'text/plain' },
  url: 'https://tms.example.com/webhooks',
};

/** Noun and example id of a single resource, by the collection in its path. */
export const RESOURCES = {
  webhook_endpoints: ['webhook endpoint', 'whe_5f3c2k7qv3n5xw6yz2aabbccdd'],
  webhook_deliveries: ['webhook delivery', 'dlv_9c1e7qv3n5xw6yz2aabbccddee'],
  webhook_replays: ['webhook replay', 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc'],
} as const satisfies FeatureDocs['resources'];
