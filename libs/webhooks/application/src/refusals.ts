import { DomainError, type ErrorCode, type FieldError } from '@tracking/contracts';

/** Conflicts that only webhooks know. Each edge maps them to 409. */
type WebhookRefusalCode = 'endpoint_not_verified' | 'endpoint_not_enabled' | 'delivery_succeeded';

function conflict(code: WebhookRefusalCode, message: string): DomainError {
  return new DomainError(code as string as ErrorCode, message);
}

export const noSuchEndpoint = () => new DomainError('not_found', 'There is no such webhook endpoint.');
export const noSuchDelivery = () => new DomainError('not_found', 'There is no such webhook delivery.');
export const noSuchParkedMessage = () => new DomainError('not_found', 'There is no such parked message.');

export function invalid(errors: readonly FieldError[]): DomainError {
  return new DomainError('validation_failed', 'The request has invalid fields.', errors);
}

export function tooManyEndpoints(limit: number): DomainError {
  return new DomainError('limit_exceeded', `A workspace has at most ${limit} webhook endpoints in each environment.`);
}

export const endpointNotVerified = () =>
  conflict('endpoint_not_verified', 'The endpoint’s URL has not answered a challenge yet: verify it first.');

export const endpointNotEnabled = () =>
  conflict('endpoint_not_enabled', 'Deliveries are sent to enabled endpoints only: enable it first.');

export const deliverySucceeded = () => conflict('delivery_succeeded', 'The event was delivered already.');
