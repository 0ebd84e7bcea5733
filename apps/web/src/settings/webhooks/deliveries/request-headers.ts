import type { WebhookDelivery, WebhookEndpoint } from '@tracking/client';

/** What a delivery is sent with. Those that differ at each attempt, and those that are secret, are told in words. */
export function requestHeaders(
  { event_id, event_type }: Pick<WebhookDelivery, 'event_id' | 'event_type'>,
  endpoint: Pick<WebhookEndpoint, 'headers'> | undefined,
): Readonly<Record<string, string>> {
  const own = Object.keys(endpoint?.headers ?? {}).map((name) => [name, '(yours, kept secret)']);
  return {
    'Content-Type': 'application/json',
    'Service-Event-Id': event_id,
    'Service-Event-Type': event_type,
    'Service-Signature': 't=…,v1=… (anew for each attempt)',
    'webhook-id': event_id,
    'webhook-timestamp': '(when it was attempted)',
    'webhook-signature': 'v1,… (anew for each attempt)',
    traceparent: '(of the request that caused the event)',
    ...(Object.fromEntries(own) as Record<string, string>),
  };
}
