import type { EventEnvelope, JsonValue } from '@tracking/contracts';
import type { ReceivedDelivery } from '@tracking/receiver';
import type { Forwarded } from './forwarder.ts';

const GONE = 410;

/** What is printed of a delivery that nobody else gets. */
export function receivedLine({ event, verdict, repeated, receivedAt }: ReceivedDelivery): string {
  const at = receivedAt.toISOString();
  // Anybody could have sent it: nothing is known of what is in it.
  if (verdict !== 'valid') return `${at}  refused  (signature ${verdict})`;
  return `${at}  ${what(event)}  (signature valid${repeated ? ', repeated' : ''})`;
}

/** What is printed of one that was handed on. */
export function forwardedLine(
  { event, repeated, receivedAt }: ReceivedDelivery,
  forwarded: Forwarded,
  url: string,
): string {
  return `${receivedAt.toISOString()}  ${what(event)}  → ${outcome(event, forwarded, url)}${repeated ? '  (repeated)' : ''}`;
}

function outcome(
  { sandbox }: EventEnvelope,
  { status_code: status, duration_ms, error }: Forwarded,
  url: string,
): string {
  if (status === null) return `no answer from ${url} after ${duration_ms} ms: ${error}`;
  const answered = `${status} in ${duration_ms} ms`;
  if (status >= 200 && status < 300) return answered;
  // A sandbox event disables nothing.
  if (status === GONE && !sandbox)
    return `${answered}: for the service you are gone, it sends nothing more; start listen again`;
  return `${answered}: failed${status >= 300 && status < 400 ? ', redirects are not followed' : ''}`;
}

function what(event: EventEnvelope): string {
  return `${event.type.padEnd(20)}  ${event.id}  ${about(event)}`;
}

/** What tells one event from the next at a glance. */
function about({ data }: EventEnvelope): string {
  const { shipment_id, external_id, milestone, exception, changes } = data as Readonly<
    Record<string, Readonly<Record<string, JsonValue>> | string | null | undefined>
  >;
  const of = (value: typeof milestone, name: string) => (typeof value === 'object' ? value?.[name] : undefined);
  const told = of(milestone, 'code') ?? of(exception, 'type') ?? Object.keys(changes ?? {}).join(', ');
  return [external_id ?? shipment_id, told].filter((part) => part !== undefined && part !== '').join(' ');
}
