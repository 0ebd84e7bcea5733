import type { JsonObject, Warning } from '@tracking/contracts';
import { reportChange, scopeOf } from '@tracking/http';
import type { WebhookEndpoint, WebhookEndpoints } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';

/**
 * Makes a change of an endpoint and reports it to the audit trail. A concurrent change between the read and the write
 * would be part of the report.
 */
export async function reportedChange<T extends object>(
  endpoints: WebhookEndpoints,
  { request }: FastifyReply,
  endpoint_id: string,
  change: () => Promise<T>,
): Promise<{ readonly before: WebhookEndpoint; readonly after: T }> {
  const before = await endpoints.get({ ...scopeOf(request), endpoint_id });
  const after = await change();
  reportChange(request, { before, after: 'deleted' in after ? null : after });
  return { before, after };
}

/** Returns a warning for each header that the change of the URL removed although the request did not. */
export function droppedHeaders(
  before: WebhookEndpoint,
  { headers }: JsonObject,
  after: WebhookEndpoint,
): readonly Warning[] {
  const sent = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value as unknown]));
  const message = 'The stored value is not sent to another scheme, host or port. The header was removed.';
  return Object.entries(before.headers)
    .filter(([name, mask]) => headers === undefined || sent.get(name) === mask)
    .filter(([name]) => !Object.hasOwn(after.headers, name))
    .map(([name]) => ({ code: 'header_dropped', param: `headers.${name}`, message }));
}
