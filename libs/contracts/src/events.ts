import type { JsonObject } from './json.ts';
import type { Environment, Timestamp } from './shipment.ts';

/** The standard event types, docs/reference/events.md#types: `["*"]` on an endpoint means these six. */
export const STANDARD_EVENT_TYPES = [
  'shipment.created',
  'shipment.updated',
  'milestone.recorded',
  'exception.opened',
  'exception.resolved',
  'document.approved',
] as const;
/** Sent only to endpoints that name them. */
export const OPT_IN_EVENT_TYPES = [
  'milestone.retracted',
  'document.uploaded',
  'document.rejected',
  'exception.updated',
  'webhook_endpoint.failing',
  'webhook_delivery.dead_lettered',
] as const;
export const EVENT_TYPES = [...STANDARD_EVENT_TYPES, ...OPT_IN_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Published versions of the webhook payload, oldest first. */
export const API_VERSIONS = ['2026-11-01'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** The envelope that receivers get; `data` is a snapshot of the resource at event time. */
export interface EventEnvelope {
  /** `evt_` and the stored event's UUID. */
  readonly id: string;
  readonly type: EventType;
  readonly created_at: Timestamp;
  readonly api_version: ApiVersion;
  readonly environment: Environment;
  readonly workspace_id: string;
  /** Every event's data carries `shipment_id`, `external_id` and `shipment_version`, so that receivers can order them. */
  readonly data: JsonObject;
  /** Present and true on sandbox events only. */
  readonly sandbox?: true;
}

/** A message of the topic `shipment-events`, keyed by shipment id: the envelope without a payload version. */
export type PublishedEvent = Omit<EventEnvelope, 'api_version' | 'sandbox'>;

/** The topic of {@link PublishedEvent}s: what it is called, and how it is made where nothing else is asked for. */
export const SHIPMENT_EVENTS_TOPIC = { name: 'shipment-events', partitions: 4, retentionMs: 7 * 86_400_000 } as const;

/** Headers of its messages: what is known of an event that is no part of it. */
export const EVENT_HEADERS = {
  id: 'event-id',
  type: 'event-type',
  /** Of the stored event in the event store's one order. */
  position: 'position',
  /** Of the request that caused the event. */
  requestId: 'request-id',
  /** W3C trace context of that request, where it had one. */
  traceparent: 'traceparent',
} as const;
