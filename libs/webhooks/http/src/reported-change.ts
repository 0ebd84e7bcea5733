import type { JsonObject, Warning } from '@tracking/contracts';
import { reportChangeForAudit, getRequestScope } from '@tracking/http';
import type { WebhookEndpoint, WebhookEndpointOperations } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';

/**
 * Makes a change of an endpoint and reports it to the audit trail. A concurrent change between the read and the write
 * would be part of the report.
 */
export async function changeEndpointAndAudit<T extends object>(
  endpoints: WebhookEndpointOperations,
  { request }: FastifyReply,
  endpoint_id: string,
  change: () => Promise<T>,
): Promise<{ readonly before: WebhookEndpoint; readonly after: T }> {
  const before = await endpoints.get({ ...getRequestScope(request), endpoint_id });
  const after = await change();
  reportChangeForAudit(request, { before, after: 'deleted' in after ? null : after });
  return { before, after };
}

/**
 * Returns a warning for each header that the endpoint lacks although the request keeps it. The request keeps a header if
 * it contains the mask of its value, or if it does not contain `headers`.
 * @param before null for a new endpoint
 */
export function listWarningsOfDroppedEndpointHeaders(
  before: WebhookEndpoint | null,
  { headers }: JsonObject,
  after: WebhookEndpoint,
): readonly Warning[] {
  const message =
    "The header was dropped: the request has no value for the header, and no value is stored for the URL's scheme, host and port.";
  return Object.keys(headers ?? before?.headers ?? {})
    .map((name) => name.toLowerCase())
    .filter((name) => !Object.hasOwn(after.headers, name))
    .map((name) => ({ code: 'header_dropped', param: `headers.${name}`, message }));
}
