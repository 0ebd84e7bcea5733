import { hash, randomBytes } from 'node:crypto';
import type { Origin } from '@tracking/webhooks-domain';

/** Of W3C trace context: version, trace id, parent's span id, flags. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const NOT_SAMPLED = '00';

/** An event, or a delivery of one. */
export interface Traced {
  readonly event_id: string;
  readonly origin?: Origin | undefined;
}

export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** `traceparent` of one attempt: in the trace of the request that caused the event, each attempt a span of its own. */
export function attemptTraceparent(traced: Traced): string {
  const [traceId, flags] = traceOf(traced);
  return `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}`;
}

/** What every log line about an event or a delivery carries, so that a request can be followed to its end. */
export function traceFields(traced: Traced): { readonly request_id?: string; readonly trace_id: string } {
  const request_id = traced.origin?.request_id;
  const [trace_id] = traceOf(traced);
  return { ...(request_id !== undefined && { request_id }), trace_id };
}

/** Without one of a request it is made of the event's id: the same at every attempt, in every process. */
function traceOf({ event_id, origin }: Traced): readonly [traceId: string, flags: string] {
  const [, traceId, flags] = TRACEPARENT.exec(origin?.traceparent ?? '') ?? [];
  if (traceId !== undefined && flags !== undefined) return [traceId, flags];
  return [hash('sha256', event_id).slice(0, 32), NOT_SAMPLED];
}
