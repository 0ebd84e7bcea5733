import { hash, randomUUID } from 'node:crypto';
import { type TraceContext, parseTraceparent } from '@tracking/contracts';
import type { CausingRequest } from '@tracking/webhooks-domain';

const TRACE_FLAGS_NOT_SAMPLED = '00';

/** An event, or the delivery of an event. */
interface TracedEvent {
  readonly event_id: string;
  readonly origin?: CausingRequest | undefined;
}

/** Returns the `traceparent` of one attempt: in the trace of the request that caused the event, with a new span id. */
export function createAttemptTraceparent(traced: TracedEvent): string {
  const { id, flags } = deriveTraceContextOfEvent(traced);
  return `00-${id}-${createSpanId()}-${flags}`;
}

/**
 * Returns 64 random bits, taken from a UUID: Node generates the random bytes of many UUIDs at once, which is faster
 * than separate random bytes.
 */
function createSpanId(): string {
  const uuid = randomUUID();
  return uuid.slice(24) + uuid.slice(0, 4);
}

/**
 * Returns the fields of every log line about an event or delivery, so that a client request can be traced to its
 * deliveries.
 */
export function toTraceLogFields(traced: TracedEvent): { readonly request_id?: string; readonly trace_id: string } {
  const request_id = traced.origin?.request_id;
  const { id: trace_id } = deriveTraceContextOfEvent(traced);
  return { ...(request_id !== undefined && { request_id }), trace_id };
}

/**
 * Returns the trace of the request, or a trace derived from the event's id: the same for every attempt, in every
 * process.
 */
function deriveTraceContextOfEvent({ event_id, origin }: TracedEvent): TraceContext {
  return (
    parseTraceparent(origin?.traceparent) ?? {
      id: hash('sha256', event_id).slice(0, 32),
      flags: TRACE_FLAGS_NOT_SAMPLED,
    }
  );
}
