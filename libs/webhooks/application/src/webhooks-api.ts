import { DomainError, type FieldError, type ItemPage, requireVersion } from '@tracking/contracts';
import type {
  ChangeEndpoint,
  CreateEndpoint,
  CreateReplay,
  DeadLetterSummary,
  DeliveryCommand,
  EndpointCommand,
  GetStats,
  ListDeliveries,
  ListEndpoints,
  ListReplays,
  NewWebhookEndpoint,
  ParkedMessage,
  ReplayCommand,
  RevealedSecret,
  RotateSecret,
  Scope,
  DeadLettersCommand,
  DeadLettersResult,
  SummarizeDeadLetters,
  TestEndpoint,
  WebhookCommand,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
  WebhookReplay,
  WebhookStats,
} from './operation-types.ts';

/**
 * Every refusal is a `DomainError`; a resource of another scope is `not_found`. A command whose expected version differs from
 * the present one is refused with `PreconditionFailed`. A repeated command changes nothing and is not refused.
 */
export interface WebhookEndpoints {
  /** Sends nothing. @throws validation_failed, limit_exceeded */
  create(command: CreateEndpoint): Promise<NewWebhookEndpoint>;
  /** Oldest first. */
  list(request: ListEndpoints): Promise<ItemPage<WebhookEndpoint>>;
  get(request: Scope & { readonly endpoint_id: string }): Promise<WebhookEndpoint>;
  /** A changed URL has to be verified again. @throws validation_failed */
  change(command: ChangeEndpoint): Promise<WebhookEndpoint>;
  /** Sends nothing more, discards waiting deliveries in the background and keeps the log. A second time: `not_found`. */
  remove(command: EndpointCommand): Promise<{ readonly id: string; readonly deleted: true }>;
  /** Sends the challenge and waits for the answer: `last_verification` holds the result. */
  verify(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** Events acknowledged after it resolves are sent there. @throws endpoint_not_verified, Unavailable */
  enable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** Events acknowledged before are still sent there, once it is enabled again. @throws Unavailable */
  disable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** Makes a secret; the old ones sign beside it for the requested time. Idempotent: a repeat returns the same one. */
  rotateSecret(command: RotateSecret): Promise<NewWebhookEndpoint>;
  /** Changes nothing. @throws secret_unreadable */
  revealSecret(command: EndpointCommand): Promise<RevealedSecret>;
  /** One sandbox event, one attempt. @throws validation_failed, endpoint_not_verified */
  test(command: TestEndpoint): Promise<WebhookDelivery>;
}

/** Preconditions as of {@link WebhookEndpoints}. */
export interface WebhookDeliveries {
  list(request: ListDeliveries): Promise<ItemPage<WebhookDelivery>>;
  get(request: { readonly scopes: readonly Scope[]; readonly delivery_id: string }): Promise<WebhookDeliveryDetail>;
  /** One attempt as soon as possible; the schedule stays as it is. @throws endpoint_not_enabled */
  retry(command: DeliveryCommand): Promise<WebhookDelivery>;
  /** @throws delivery_succeeded */
  discard(command: DeliveryCommand): Promise<WebhookDelivery>;
}

/** Deliveries that became dead letters, many at once. */
export interface WebhookDeadLetters {
  /** How many there are, and why, counted up to a bound. */
  summary(request: SummarizeDeadLetters): Promise<DeadLetterSummary>;
  /**
   * A new schedule and window for each. Returns the endpoints of which no replay was begun, too.
   * @throws not_found, validation_failed; for a filter by one endpoint endpoint_not_enabled, replay_running
   */
  replay(command: DeadLettersCommand): Promise<DeadLettersResult>;
  /** Discards them, those of deleted endpoints too. @throws not_found, validation_failed */
  discard(command: DeadLettersCommand): Promise<DeadLettersResult>;
}

/** Preconditions as of {@link WebhookEndpoints}. */
export interface WebhookReplays {
  /** Replays events up to now. @throws validation_failed, endpoint_not_enabled, replay_running, Unavailable */
  create(command: CreateReplay): Promise<WebhookReplay>;
  list(request: ListReplays): Promise<ItemPage<WebhookReplay>>;
  get(request: Scope & { readonly replay_id: string }): Promise<WebhookReplay>;
  /** Deliveries that were taken continue by their schedule; a replay that has ended stays as it is. */
  cancel(command: ReplayCommand): Promise<WebhookReplay>;
  /** Continues where it was canceled. @throws replay_completed, replay_running, endpoint_not_enabled */
  resume(command: ReplayCommand): Promise<WebhookReplay>;
}

export interface WebhookStatistics {
  /** Attempts at an endpoint and their outcomes, hour by hour. @throws validation_failed */
  get(request: GetStats): Promise<WebhookStats>;
}

/** Messages of the topic that are no events. */
export interface ParkedMessages {
  list(request: { readonly limit: number; readonly after?: readonly string[] }): Promise<ItemPage<ParkedMessage>>;
  /** Consumes it again, as if it had just come. `recorded` is true if it is an event now. */
  retry(request: { readonly id: string }): Promise<{ readonly recorded: boolean }>;
}

/**
 * The operations of webhooks. Each has one request and one answer, which are JSON by their types, and an rpc in
 * webhooks.proto.
 */
export interface WebhookOperations {
  readonly endpoints: WebhookEndpoints;
  readonly deliveries: WebhookDeliveries;
  readonly deadLetters: WebhookDeadLetters;
  readonly replays: WebhookReplays;
  readonly stats: WebhookStatistics;
  readonly parked: ParkedMessages;
}

export const noSuchEndpoint = () => new DomainError('not_found', 'There is no such webhook endpoint.');
export const noSuchDelivery = () => new DomainError('not_found', 'There is no such webhook delivery.');
export const noSuchReplay = () => new DomainError('not_found', 'There is no such webhook replay.');
export const noSuchParkedMessage = () => new DomainError('not_found', 'There is no such parked message.');

export function validationFailed(errors: readonly FieldError[]): DomainError {
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
interface RevisedDocument {
  readonly revision: number;
  /** Id of the last command that changed it; absent if none did. */
  readonly changed_by?: string;
}

/**
 * Returns true if the command has changed the document already, which is then returned as it is. Otherwise the document must
 * be at a version that the command expects.
 * @throws PreconditionFailed
 */
export function isRepeatedCommand(
  { revision, changed_by }: RevisedDocument,
  { id, expected_versions }: WebhookCommand,
): boolean {
  if (changed_by === id) return true;
  requireVersion(revision, expected_versions);
  return false;
}
