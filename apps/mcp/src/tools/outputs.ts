import * as z from 'zod';
import { nextCursor } from './tool.ts';

const nullableTextOutput = z.string().nullable();
const timestampOutput = z.string().nullable();
const precisionOutput = z.string().describe('time, or day if the time is the end of a whole local day at the place');

/** Fields of a shipment in a list. The objects are loose because the API may add fields. */
export const shipmentSummaryOutput = z.looseObject({
  id: z.string(),
  external_id: nullableTextOutput.describe("the owner's reference"),
  status: z.string(),
  mode: nullableTextOutput,
  carrier_scac: nullableTextOutput,
  origin_port: nullableTextOutput,
  destination_port: nullableTextOutput,
  etd: timestampOutput.describe('estimated departure'),
  etd_precision: precisionOutput,
  eta: timestampOutput.describe('estimated arrival'),
  eta_precision: precisionOutput,
  atd: timestampOutput.describe('actual departure'),
  ata: timestampOutput.describe('actual arrival'),
  original_eta: timestampOutput,
  house_bill: nullableTextOutput,
  master_bill: nullableTextOutput,
  booking_number: nullableTextOutput,
  container_numbers: z.array(z.string()),
  last_milestone: z.looseObject({}).nullable(),
  open_exceptions_count: z.number(),
  updated_at: z.string(),
  url: z.string().describe('page of the web application'),
});

export const shipmentDetailOutput = shipmentSummaryOutput.extend({
  containers: z.array(z.looseObject({ number: z.string(), status: z.string() })),
  legs: z.array(z.looseObject({})),
  next_cursor: nextCursor,
});

const explainedTimeOutput = z.looseObject({
  value: timestampOutput,
  rule: z.string(),
  milestone_id: nullableTextOutput,
});
const explainedStatusOutput = z.looseObject({ value: z.string(), rule: z.string(), milestone_id: nullableTextOutput });

export const explanationOutput = z.looseObject({
  shipment_id: z.string(),
  status: explainedStatusOutput,
  etd: explainedTimeOutput,
  eta: explainedTimeOutput,
  atd: explainedTimeOutput,
  ata: explainedTimeOutput,
  exceptions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
  containers: z.array(z.looseObject({ number: z.string(), status: explainedStatusOutput })),
  milestones: z.array(z.looseObject({ milestone_id: z.string(), result: z.string(), rule: z.string() })),
  next_cursor: nextCursor,
});

export const milestoneOutput = z.looseObject({
  id: z.string(),
  shipment_id: z.string(),
  code: z.string(),
  label: z.string(),
  classifier: z.string().describe('actual, estimated or planned'),
  occurred_at: z.string(),
  occurred_at_precision: precisionOutput,
  location: nullableTextOutput,
  container_number: nullableTextOutput,
  source: z.string(),
  recorded_at: z.string(),
});

export const etaChangeOutput = z.looseObject({
  eta: timestampOutput,
  eta_precision: precisionOutput,
  previous_eta: timestampOutput,
  slip_hours: z.number().nullable().describe('hours later than the previous ETA; negative if earlier'),
  reported_at: z.string(),
  source: z.string(),
  reason_code: nullableTextOutput,
});

export const exceptionOutput = z.looseObject({
  id: z.string(),
  shipment_id: z.string(),
  container_number: nullableTextOutput,
  type: z.string(),
  severity: z.string(),
  status: z.string(),
  title: z.string(),
  detail: nullableTextOutput,
  assignee: nullableTextOutput,
  opened_at: z.string(),
  acknowledged_at: timestampOutput,
  resolved_at: timestampOutput,
});

export const placeOutput = z.looseObject({ code: z.string(), name: nullableTextOutput, country: z.string() });

export const milestoneCodeOutput = z.looseObject({
  code: z.string(),
  label: z.string(),
  description: z.string(),
  modes: z.array(z.string()),
  status: nullableTextOutput.describe('status that the milestone gives the shipment'),
});

export const accessOutput = z.looseObject({
  workspace: z.looseObject({ id: z.string(), name: z.string() }),
  environment: z.string(),
  role: z.string(),
  permissions: z.array(z.string()),
});

const webhookErrorOutput = z.looseObject({ code: z.string(), message: z.string() }).nullable();

export const webhookEndpointOutput = z.looseObject({
  id: z.string(),
  url: z.string(),
  description: nullableTextOutput,
  event_types: z.array(z.string()),
  status: z.string(),
});

export const webhookDeliveryOutput = z.looseObject({
  id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.string(),
  attempts_count: z.number(),
  next_attempt_at: timestampOutput,
  completed_at: timestampOutput,
  last_error: webhookErrorOutput,
});

export const webhookDeliveryDetailOutput = webhookDeliveryOutput.extend({
  payload: z.looseObject({}).nullable().describe('the event; null if it is no longer stored'),
  attempts: z.array(z.looseObject({ number: z.number(), at: z.string(), status_code: z.number().nullable() })),
  next_cursor: nextCursor,
});

const countFields = { count: z.number(), is_exact: z.boolean() };

export const deadLetterSummaryOutput = z.looseObject({
  ...countFields,
  by_reason: z.array(z.looseObject({ ...countFields, reason: z.string() })),
  by_endpoint: z.array(z.looseObject({ ...countFields, endpoint_id: z.string() })),
  by_event_type: z.array(z.looseObject({ ...countFields, event_type: z.string() })),
});

export const replaysOutput = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), endpoint_id: z.string(), status: z.string() })),
  refused: z.array(z.looseObject({ endpoint_id: z.string(), code: z.string(), message: z.string() })),
});
