import { DomainError, type FieldError, requireVersion } from '@tracking/contracts';
import type { WebhookCommand } from './requests-and-answers.ts';

export const noSuchEndpoint = () => new DomainError('not_found', 'There is no such webhook endpoint.');
export const noSuchDelivery = () => new DomainError('not_found', 'There is no such webhook delivery.');
export const noSuchReplay = () => new DomainError('not_found', 'There is no such webhook replay.');
export const noSuchParkedMessage = () => new DomainError('not_found', 'There is no such parked message.');

export function invalid(errors: readonly FieldError[]): DomainError {
  return new DomainError('validation_failed', 'The request has invalid fields.', errors);
}

export function tooManyEndpoints(limit: number): DomainError {
  return new DomainError('limit_exceeded', `A workspace has at most ${limit} webhook endpoints in each environment.`);
}

export const endpointNotVerified = () =>
  new DomainError('endpoint_not_verified', 'The endpoint’s URL has not answered a challenge yet: verify it first.');

export const endpointNotEnabled = () =>
  new DomainError('endpoint_not_enabled', 'Deliveries are sent to enabled endpoints only: enable it first.');

export const endpointOfDeliveryDeleted = () =>
  new DomainError('endpoint_not_enabled', 'The endpoint was deleted: its deliveries are no longer attempted.');

export const endpointDeleted = () =>
  new DomainError('not_found', 'The endpoint was deleted: its dead letters can be discarded, not delivered again.');

export const replayRunning = () =>
  new DomainError('replay_running', 'A replay runs for this endpoint already: wait for its end, or cancel it.');

export const replayCompleted = () =>
  new DomainError('replay_completed', 'The replay came to its end: there is nothing left to go on with.');

export const secretUnreadable = () =>
  new DomainError(
    'secret_unreadable',
    'The endpoint’s signing secret or headers were stored under a key that is lost: rotate the secret, and set the headers again.',
  );

export const deliverySucceeded = () => new DomainError('delivery_succeeded', 'The event was delivered already.');

/** A document that commands change, by its revision. */
interface Changed {
  readonly revision: number;
  /** Id of the last command that changed it; absent where none did. */
  readonly changed_by?: string;
}

/**
 * Whether the command has changed the document already, so that it is answered as it is. Else the document must be at a
 * version that the command expects.
 * @throws PreconditionFailed
 */
export function isRepeated({ revision, changed_by }: Changed, { id, expected_versions }: WebhookCommand): boolean {
  if (changed_by === id) return true;
  requireVersion(revision, expected_versions);
  return false;
}
