import {
  EVENT_TYPES,
  MILESTONE_CATALOG,
  MILESTONE_RESULTS_BY_RULE,
  NEWEST_API_VERSION,
  createEventSamples,
  createSandboxEventData,
} from '@tracking/contracts';
import type { EventType } from '@tracking/contracts';
import { createEventSchemaName } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';

const SAMPLE_TIME = '2026-11-23T09:30:00.000Z';
const SAMPLE_EVENTS = createEventSamples(SAMPLE_TIME, {
  appUrl: 'https://app.example.com',
  baseUrl: 'https://api.example.com',
});
const { shipment } = SAMPLE_EVENTS;
const SAMPLE_MILESTONE = SAMPLE_EVENTS.milestone('recorded');
const SAMPLE_MILESTONE_CATALOG_ENTRY = MILESTONE_CATALOG.find(({ code }) => code === SAMPLE_MILESTONE.code);
const EVENT_ID = 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11';

/** Examples of OpenAPI schemas, by schema name. */
export const OPENAPI_SCHEMA_EXAMPLES_BY_NAME: NonNullable<FeatureDocs['samples']> = {
  Shipment: shipment,
  Container: shipment.containers[0],
  Milestone: SAMPLE_MILESTONE,
  MilestoneCode: SAMPLE_MILESTONE_CATALOG_ENTRY,
  ShipmentException: SAMPLE_EVENTS.exception('open'),
  ...Object.fromEntries(EVENT_TYPES.map((type) => [createEventSchemaName(type), createSampleEvent(type)])),
  ExplainedMilestone: {
    milestone_id: SAMPLE_MILESTONE.id,
    code: SAMPLE_MILESTONE.code,
    classifier: 'actual',
    result: MILESTONE_RESULTS_BY_RULE.status_of_code,
    rule: 'status_of_code',
    counts_as: 'in_transit',
    sets: ['status', 'atd'],
    containers: [],
  },
  ShipmentPatch: { eta: '2026-12-21T06:00:00Z', booking_number: null, metadata: { cost_centre: '4711' } },
  MilestoneFields: { code: SAMPLE_MILESTONE.code, occurred_at: '2026-11-21T09:30:00+08:00', location: 'CNSHA' },
  MilestoneChanges: { occurred_at: '2026-11-21T11:30:00+08:00', note: 'Confirmed by the carrier.' },
  BulkMilestone: {
    master_bill: 'MAEU912345678',
    code: SAMPLE_MILESTONE.code,
    occurred_at: '2026-11-21T09:30:00+08:00',
    milestone_external_id: 'EVT-9981',
  },
};

/** Example values of fields, by field name. */
export const EXAMPLE_FIELD_VALUES: NonNullable<FeatureDocs['values']> = {
  because: 'The ETA is 30 hours later than the original ETA.',
  changes: { eta: { from: '2026-12-13T18:00:00.000Z', to: '2026-12-14T15:30:00.000Z' } },
  container_number: shipment.containers[0]?.number,
  event_id: EVENT_ID,
  exception_id: SAMPLE_EVENTS.exception('open').id,
  external_id: shipment.external_id,
  fields: ['eta'],
  label: SAMPLE_MILESTONE.label,
  location: SAMPLE_MILESTONE.location,
  metrics: {},
  milestone_id: SAMPLE_MILESTONE.id,
  milestone_ids: [SAMPLE_MILESTONE.id],
  note: 'Repaired at the depot.',
  number: shipment.containers[0]?.number,
  shipment_id: shipment.id,
};

function createSampleEvent(type: EventType): object {
  const scope = { environment: 'live', workspace_id: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd' };
  const data = createSandboxEventData(type, SAMPLE_EVENTS);
  return { id: EVENT_ID, type, created_at: SAMPLE_TIME, api_version: NEWEST_API_VERSION, ...scope, data };
}

/** Noun and example id of a single resource, by the name of its collection in a path. */
export const RESOURCE_NOUNS_AND_EXAMPLE_IDS = {
  shipments: ['shipment', 'shp_4h2k7qv3n5xw6yz2aabbccddee'],
  exceptions: ['exception', 'exc_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m'],
  events: ['event', EVENT_ID],
} as const satisfies FeatureDocs['resources'];

export const PATH_PARAMETER_SAMPLES = {
  milestone_id: ['Id of the milestone, `mst_…`.', 'mst_4h2k7qv3n5xw6yz2aabbccddeeq5wn7txr3k2m'],
  number: ['Number of a container of the shipment, in any common notation.', 'CSQU3054383'],
} as const satisfies FeatureDocs['pathParameters'];
