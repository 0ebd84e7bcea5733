import * as z from 'zod';
import { nextCursorOutputSchema } from './tool.ts';

const nullableTextOutputSchema = z.string().nullable();
const nullableTimestampOutputSchema = z.string().nullable();
const precisionOutputSchema = z
  .string()
  .describe('time, or day if the time is the end of a whole local day at the place');

/** Fields of a shipment in a list. The objects are loose because the API may add fields. */
export const shipmentSummaryOutputSchema = z.looseObject({
  id: z.string(),
  external_id: nullableTextOutputSchema.describe("the owner's reference"),
  status: z.string(),
  mode: nullableTextOutputSchema,
  carrier_scac: nullableTextOutputSchema,
  origin_port: nullableTextOutputSchema,
  destination_port: nullableTextOutputSchema,
  etd: nullableTimestampOutputSchema.describe('estimated departure'),
  etd_precision: precisionOutputSchema,
  eta: nullableTimestampOutputSchema.describe('estimated arrival'),
  eta_precision: precisionOutputSchema,
  atd: nullableTimestampOutputSchema.describe('actual departure'),
  ata: nullableTimestampOutputSchema.describe('actual arrival'),
  original_eta: nullableTimestampOutputSchema,
  house_bill: nullableTextOutputSchema,
  master_bill: nullableTextOutputSchema,
  booking_number: nullableTextOutputSchema,
  container_numbers: z.array(z.string()),
  last_milestone: z.looseObject({}).nullable(),
  open_exceptions_count: z.number(),
  updated_at: z.string(),
  url: z.string().describe('page of the web application'),
});

export const shipmentDetailOutputSchema = shipmentSummaryOutputSchema.extend({
  containers: z.array(z.looseObject({ number: z.string(), status: z.string() })),
  legs: z.array(z.looseObject({})),
  next_cursor: nextCursorOutputSchema,
});

const explainedTimeOutputSchema = z.looseObject({
  value: nullableTimestampOutputSchema,
  rule: z.string(),
  milestone_id: nullableTextOutputSchema,
});
const explainedStatusOutputSchema = z.looseObject({
  value: z.string(),
  rule: z.string(),
  milestone_id: nullableTextOutputSchema,
});

export const explanationOutputSchema = z.looseObject({
  shipment_id: z.string(),
  status: explainedStatusOutputSchema,
  etd: explainedTimeOutputSchema,
  eta: explainedTimeOutputSchema,
  atd: explainedTimeOutputSchema,
  ata: explainedTimeOutputSchema,
  exceptions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
  containers: z.array(z.looseObject({ number: z.string(), status: explainedStatusOutputSchema })),
  milestones: z.array(z.looseObject({ milestone_id: z.string(), result: z.string(), rule: z.string() })),
  next_cursor: nextCursorOutputSchema,
});

export const milestoneOutputSchema = z.looseObject({
  id: z.string(),
  shipment_id: z.string(),
  code: z.string(),
  label: z.string(),
  classifier: z.string().describe('actual, estimated or planned'),
  occurred_at: z.string(),
  occurred_at_precision: precisionOutputSchema,
  location: nullableTextOutputSchema,
  container_number: nullableTextOutputSchema,
  source: z.string(),
  recorded_at: z.string(),
});

export const etaChangeOutputSchema = z.looseObject({
  eta: nullableTimestampOutputSchema,
  eta_precision: precisionOutputSchema,
  previous_eta: nullableTimestampOutputSchema,
  slip_hours: z.number().nullable().describe('hours later than the previous ETA; negative if earlier'),
  reported_at: z.string(),
  source: z.string(),
  reason_code: nullableTextOutputSchema,
});

export const exceptionOutputSchema = z.looseObject({
  id: z.string(),
  shipment_id: z.string(),
  container_number: nullableTextOutputSchema,
  type: z.string(),
  severity: z.string(),
  status: z.string(),
  title: z.string(),
  detail: nullableTextOutputSchema,
  assignee: nullableTextOutputSchema,
  opened_at: z.string(),
  acknowledged_at: nullableTimestampOutputSchema,
  resolved_at: nullableTimestampOutputSchema,
});

export const placeOutputSchema = z.looseObject({
  code: z.string(),
  name: nullableTextOutputSchema,
  country: z.string(),
});

export const milestoneCodeOutputSchema = z.looseObject({
  code: z.string(),
  label: z.string(),
  description: z.string(),
  modes: z.array(z.string()),
  status: nullableTextOutputSchema.describe('status that the milestone gives the shipment'),
});

export const apiKeyAccessOutputSchema = z.looseObject({
  workspace: z.looseObject({ id: z.string(), name: z.string() }),
  environment: z.string(),
  role: z.string(),
  permissions: z.array(z.string()),
});

const webhookErrorOutputSchema = z.looseObject({ code: z.string(), message: z.string() }).nullable();

export const webhookEndpointOutputSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  description: nullableTextOutputSchema,
  event_types: z.array(z.string()),
  status: z.string(),
});

export const webhookDeliveryOutputSchema = z.looseObject({
  id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.string(),
  attempts_count: z.number(),
  next_attempt_at: nullableTimestampOutputSchema,
  completed_at: nullableTimestampOutputSchema,
  last_error: webhookErrorOutputSchema,
});

export const webhookDeliveryDetailOutputSchema = webhookDeliveryOutputSchema.extend({
  payload: z.looseObject({}).nullable().describe('the event; null if it is no longer stored'),
  attempts: z.array(z.looseObject({ number: z.number(), at: z.string(), status_code: z.number().nullable() })),
  next_cursor: nextCursorOutputSchema,
});

const deadLetterCountFieldSchemas = { count: z.number(), is_exact: z.boolean() };

export const deadLetterSummaryOutputSchema = z.looseObject({
  ...deadLetterCountFieldSchemas,
  by_reason: z.array(z.looseObject({ ...deadLetterCountFieldSchemas, reason: z.string() })),
  by_endpoint: z.array(z.looseObject({ ...deadLetterCountFieldSchemas, endpoint_id: z.string() })),
  by_event_type: z.array(z.looseObject({ ...deadLetterCountFieldSchemas, event_type: z.string() })),
});

export const replaysOutputSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), endpoint_id: z.string(), status: z.string() })),
  refused: z.array(z.looseObject({ endpoint_id: z.string(), code: z.string(), message: z.string() })),
});
