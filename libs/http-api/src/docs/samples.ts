import {
  DEFAULT_EXCEPTION_SETTINGS,
  ERROR_CODES,
  EVENT_TYPES,
  MILESTONE_CATALOG,
  MILESTONE_RULES,
  NEWEST_API_VERSION,
  eventSamples,
  sandboxData,
} from '@tracking/contracts';
import type { ErrorCode, EventType, FieldError } from '@tracking/contracts';
import type { ErrorAnswer } from '../errors/error-answer.ts';
import { statusOf } from '../errors/error-status.ts';
import { problemDetails } from '../errors/problem-details.ts';
import { eventSchemaName } from './event-schemas.ts';
import { ERROR_ENTRIES } from './codes/entries.ts';

const AT = '2026-11-23T09:30:00.000Z';
const samples = eventSamples(AT, { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' });
const { shipment } = samples;
const milestone = samples.milestone('recorded');
const REQUEST_ID = 'req_5f6a2b8637ac4b5c9d535a0c4f1d2b11';
const FIELD = { param: 'legs[0].etd', code: 'invalid_timestamp', message: 'Has no offset: end it with Z for UTC.' };
const ofCatalog = MILESTONE_CATALOG.find(({ code }) => code === milestone.code);
const EVENT_ID = 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11';

/** Whole examples of schemas, by name: the invented resources of sandbox events, and requests that set few fields. */
export const SAMPLES: Readonly<Record<string, object | undefined>> = {
  Shipment: shipment,
  Container: shipment.containers[0],
  Milestone: milestone,
  MilestoneCode: ofCatalog,
  Exception: samples.exception('open'),
  Document: samples.document('uploaded'),
  ...Object.fromEntries(EVENT_TYPES.map((type) => [eventSchemaName(type), sampleEvent(type)])),
  ExceptionSettingsByType: DEFAULT_EXCEPTION_SETTINGS,
  ExplainedMilestone: {
    milestone_id: milestone.id,
    code: milestone.code,
    classifier: 'actual',
    result: MILESTONE_RULES.status_of_code,
    rule: 'status_of_code',
    counts_as: 'in_transit',
    sets: ['status', 'atd'],
    containers: [],
  },
  FieldError: FIELD,
  DocumentUpload: {
    ...samples.document('uploaded'),
    status: 'pending_upload',
    uploaded_at: null,
    download_url: null,
    upload: {
      method: 'PUT',
      url: 'https://api.example.com/v1/documents/doc_sandbox2sandbox2sandbox2aa1/content?token=0aB1cD2eF3gH4iJ5kL6mN7oP',
      headers: { 'content-type': 'application/pdf' },
      expires_at: '2026-11-23T09:45:00.000Z',
    },
  },
  SignIn: { email: 'jo@example.com', password: 'correct horse battery' },
  CredentialsHolder: { service_account: null },
  SignedIn: { service_account: null },
  ApiKeyFields: { name: 'Nightly import', environment: 'test' },
  ApiKey: { name: 'Nightly import', expires_at: null, last_used_at: null, revoked_at: null },
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
    payload: sampleEvent('milestone.recorded'),
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
  ShipmentPatch: { eta: '2026-12-21T06:00:00Z', booking_number: null, metadata: { cost_centre: '4711' } },
  MilestoneFields: { code: milestone.code, occurred_at: '2026-11-21T09:30:00+08:00', location: 'CNSHA' },
  MilestoneChanges: { occurred_at: '2026-11-21T11:30:00+08:00', note: 'Confirmed by the carrier.' },
  BulkMilestone: {
    master_bill: 'MAEU912345678',
    code: milestone.code,
    occurred_at: '2026-11-21T09:30:00+08:00',
    milestone_external_id: 'EVT-9981',
  },
  WebhookEndpointFields: { url: 'https://tms.example.com/webhooks', event_types: ['*'], description: 'Our TMS' },
  WebhookEndpointChanges: { event_types: ['milestone.recorded', 'exception.opened'], max_concurrency: 4 },
  WorkspaceSettingsChanges: { exceptions: { eta_slip: { after_hours: 12 }, no_update: { enabled: false } } },
  EndpointVerification: {
    id: EVENT_ID,
    type: 'endpoint.verification',
    created_at: AT,
    api_version: NEWEST_API_VERSION,
    data: { challenge: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u' },
  },
};

function sampleEvent(type: EventType): object {
  const scope = { environment: 'live', workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd' };
  const data = sandboxData(type, samples);
  return { id: EVENT_ID, type, created_at: AT, api_version: NEWEST_API_VERSION, ...scope, data };
}

/** Values of fields by name, where neither their schema nor a sample has one. */
export const VALUES: Readonly<Record<string, unknown>> = {
  address: '203.0.113.7',
  body: 'ok',
  because: 'The ETA is 30 hours past the original one.',
  changes: { eta: { from: '2026-12-13T18:00:00.000Z', to: '2026-12-14T15:30:00.000Z' } },
  container_number: shipment.containers[0]?.number,
  challenge: '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u',
  current_password: 'correct horse battery',
  detail: ERROR_ENTRIES.not_found.message,
  description: 'Our TMS',
  email: 'jo@example.com',
  file: 'The bytes of bill-of-lading.pdf',
  endpoint_id: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd',
  event_id: EVENT_ID,
  exception_id: samples.exception('open').id,
  external_id: shipment.external_id,
  fields: ['eta'],
  headers: { 'content-type': 'text/plain' },
  id: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
  label: milestone.label,
  location: milestone.location,
  message: 'The receiver answered 500.',
  metrics: {},
  milestone_id: milestone.id,
  milestone_ids: [milestone.id],
  name: 'Acme Electronics Ltd',
  new_password: 'staple battery horse',
  next_cursor: null,
  note: 'Repaired at the depot.',
  replaces_document_id: 'doc_sandbox2sandbox2sandbox2aa0',
  number: shipment.containers[0]?.number,
  param: null,
  password: 'correct horse battery',
  request_id: REQUEST_ID,
  rotated_to: null,
  service_account_id: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd',
  shipment_id: shipment.id,
  url: 'https://tms.example.com/webhooks',
  warnings: [],
  workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd',
};

/** The answer with an error, as an example of its code. */
export function errorExample(code: ErrorCode): object {
  const { message, details } = sampleError(code);
  const param = details[0]?.param ?? null;
  const error = { type: ERROR_CODES[code], code, message, param, details, request_id: REQUEST_ID };
  return { summary: ERROR_ENTRIES[code].means, value: { error } };
}

/** The same as problem details. */
export function problemExample(code: ErrorCode): object {
  const value = problemDetails(sampleError(code), REQUEST_ID, 'https://api.example.com/docs');
  return { summary: ERROR_ENTRIES[code].means, value };
}

function sampleError(code: ErrorCode): ErrorAnswer {
  const details = code === 'validation_failed' ? [FIELD] : [];
  const [field] = details;
  const message = field ? `${field.param}: ${field.message}` : ERROR_ENTRIES[code].message;
  return {
    status: statusOf(code),
    code,
    message,
    details: details as readonly FieldError[],
    headers: {},
    unexpected: false,
  };
}
