import type { JsonObject, PublishedEvent } from '@tracking/contracts';

/**
 * The event in a message of the topic. Types are not checked against the known ones: a newer publisher may know more.
 * @throws Error that says what is wrong, without the content
 */
export function parseEvent(text: string): PublishedEvent {
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
  return event as PublishedEvent & { readonly data: JsonObject };
}
