import {
  API_VERSIONS,
  EVENT_HEADERS,
  type JsonObject,
  type PublishedEvent,
  traceOf,
  type PayloadVersions,
} from '@tracking/contracts';
import type { Message } from '@tracking/ports';
import type { LogPlace, RequestOrigin } from '@tracking/webhooks-domain';

/** An event, and what its message says beside it. */
export interface ConsumedEvent extends PublishedEvent {
  /** Undefined where a publisher of an earlier version did not say. */
  readonly place: LogPlace | undefined;
  /** Undefined where nothing is known of it. */
  readonly origin: RequestOrigin | undefined;
}

/**
 * @throws Error as {@link parseEvent}; for a form that only a newer version of this process knows; and where it cannot be made
 * in every older one, to which an endpoint may be pinned
 */
export function consumedEvent(
  { value, headers }: Pick<Message, 'value' | 'headers'>,
  versions: PayloadVersions,
): ConsumedEvent {
  const place = headers[EVENT_HEADERS.position];
  const event = parseEvent(value);
  if (versions.find(event.api_version) === undefined) throw new Error('its api_version is not known here');
  requireOlderForms(event, versions);
  return { ...event, place: place === '' ? undefined : place, origin: originIn(headers) };
}

function requireOlderForms(event: PublishedEvent, versions: PayloadVersions): void {
  try {
    versions.dataIn(event, versions.oldest);
  } catch (error) {
    throw new Error(`it cannot be made in an older version: ${String(error)}`, { cause: error });
  }
}

/** Where a message says that its event came from; undefined where it says nothing of it. */
export function originIn(headers: Message['headers']): RequestOrigin | undefined {
  const { [EVENT_HEADERS.requestId]: request_id, [EVENT_HEADERS.traceparent]: traceparent } = headers;
  const origin = {
    ...(request_id !== undefined && { request_id }),
    ...(traceparent !== undefined && traceOf(traceparent) !== undefined && { traceparent }),
  };
  return Object.keys(origin).length === 0 ? undefined : origin;
}

/**
 * The event in a message of the topic. Types are not checked against the known ones: a newer publisher may know more.
 * @throws Error that says what is wrong, without the content
 */
function parseEvent(text: string): PublishedEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the message is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new Error('the message is not an object');
  const event = value as Partial<Record<keyof PublishedEvent, unknown>>;
  for (const name of ['id', 'type', 'created_at', 'environment', 'workspace_id'] as const) {
    if (typeof event[name] !== 'string' || event[name] === '') throw new Error(`${name} is missing`);
  }
  if (Number.isNaN(Date.parse(String(event.created_at)))) throw new Error('created_at is not a timestamp');
  if (typeof event.data !== 'object' || event.data === null) throw new Error('data is missing');
  // Publishers did not say it before there was a second one.
  return { api_version: API_VERSIONS[0], ...event } as PublishedEvent & { readonly data: JsonObject };
}
