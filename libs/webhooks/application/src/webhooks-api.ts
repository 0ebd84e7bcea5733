import { DomainError, type FieldError, type ItemPage, requireMatchingVersion } from '@tracking/contracts';
import type { ShardOwnerOperations } from './ownership/owner-messages.ts';
import type {
  ChangeEndpointCommand,
  CreateEndpointCommand,
  CreateReplayCommand,
  DeadLetterSummary,
  WebhookDeliveryCommand,
  EndpointCommand,
  EndpointStatsRequest,
  ListDeliveriesRequest,
  ListEndpointsRequest,
  ListReplaysRequest,
  CreatedEndpointWithSecret,
  ParkedMessage,
  ExistingReplayCommand,
  ActiveSigningSecrets,
  RotateSecretCommand,
  WorkspaceScope,
  ReplayOrDiscardCommand,
  DeadLetterReplayResult,
  SummarizeDeadLettersRequest,
  TestEndpointCommand,
  WebhookCommand,
  WebhookDelivery,
  DetailedWebhookDelivery,
  WebhookEndpoint,
  WebhookReplay,
  WebhookStats,
} from './operation-types.ts';

/**
 * Operations on endpoints. Every refusal is a `DomainError`; a resource of another scope is `not_found`. If the
 * resource is not at an expected version, a command throws `PreconditionFailedError`. A repeated command changes
 * nothing and is not refused.
 */
export interface WebhookEndpointOperations {
  /** Creates an endpoint, without sending anything to it. @throws validation_failed, limit_exceeded */
  create(command: CreateEndpointCommand): Promise<CreatedEndpointWithSecret>;
  /** Lists endpoints, newest first. */
  list(request: ListEndpointsRequest): Promise<ItemPage<WebhookEndpoint>>;
  get(request: WorkspaceScope & { readonly endpoint_id: string }): Promise<WebhookEndpoint>;
  /**
   * Changes an endpoint. A changed URL has to be verified again. If its scheme, host or port changes, stored headers
   * are dropped. @throws validation_failed
   */
  change(command: ChangeEndpointCommand): Promise<WebhookEndpoint>;
  /**
   * Deletes an endpoint: nothing more is sent, pending deliveries are discarded in the background, and the log is kept.
   * @throws not_found if already deleted
   */
  remove(command: EndpointCommand): Promise<{ readonly id: string; readonly deleted: true }>;
  /** Sends the challenge and waits for the answer. `last_verification` holds the result. */
  verify(command: EndpointCommand): Promise<WebhookEndpoint>;
  /**
   * Enables an endpoint. Events acknowledged after this resolves are sent to it. @throws endpoint_not_verified,
   * UnavailableError
   */
  enable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /**
   * Disables an endpoint. Events acknowledged before this call are sent once the endpoint is enabled again. @throws
   * UnavailableError
   */
  disable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /**
   * Creates a new secret. The old secrets also sign for the requested time. Idempotent: a repeated command returns the
   * same secret.
   */
  rotateSecret(command: RotateSecretCommand): Promise<CreatedEndpointWithSecret>;
  /** Returns the valid secrets. Changes nothing. @throws secret_unreadable */
  revealSecret(command: EndpointCommand): Promise<ActiveSigningSecrets>;
  /** Sends one sandbox event, with one attempt. @throws validation_failed, endpoint_not_verified */
  test(command: TestEndpointCommand): Promise<WebhookDelivery>;
}

/** Operations on deliveries. Preconditions apply as in {@link WebhookEndpointOperations}. */
export interface WebhookDeliveryOperations {
  list(request: ListDeliveriesRequest): Promise<ItemPage<WebhookDelivery>>;
  get(request: {
    readonly scopes: readonly WorkspaceScope[];
    readonly delivery_id: string;
  }): Promise<DetailedWebhookDelivery>;
  /** Requests one attempt as soon as possible. The schedule stays unchanged. @throws endpoint_not_enabled */
  retry(command: WebhookDeliveryCommand): Promise<WebhookDelivery>;
  /** @throws delivery_succeeded */
  discard(command: WebhookDeliveryCommand): Promise<WebhookDelivery>;
}

/** Operations on many dead letters at once. */
export interface WebhookDeadLetters {
  /** Counts dead letters by reason, endpoint and event type, up to a limit. */
  summary(request: SummarizeDeadLettersRequest): Promise<DeadLetterSummary>;
  /**
   * Replays dead letters: each gets a new schedule and retry window. Also returns the endpoints for which no replay was
   * started.
   * @throws not_found, validation_failed; for a filter by one endpoint endpoint_not_enabled, replay_running
   */
  replay(command: ReplayOrDiscardCommand): Promise<DeadLetterReplayResult>;
  /** Discards dead letters, including those of deleted endpoints. @throws not_found, validation_failed */
  discard(command: ReplayOrDiscardCommand): Promise<DeadLetterReplayResult>;
}

/** Operations on replays. Preconditions apply as in {@link WebhookEndpointOperations}. */
export interface WebhookReplayOperations {
  /**
   * Replays events up to the current time.
   * @throws validation_failed, endpoint_not_enabled, replay_running, UnavailableError
   */
  create(command: CreateReplayCommand): Promise<WebhookReplay>;
  list(request: ListReplaysRequest): Promise<ItemPage<WebhookReplay>>;
  get(request: WorkspaceScope & { readonly replay_id: string }): Promise<WebhookReplay>;
  /**
   * Cancels a replay. Deliveries that the replay has already taken continue on their schedule. A replay that has ended
   * stays unchanged.
   */
  cancel(command: ExistingReplayCommand): Promise<WebhookReplay>;
  /** Resumes a canceled replay where it stopped. @throws replay_completed, replay_running, endpoint_not_enabled */
  resume(command: ExistingReplayCommand): Promise<WebhookReplay>;
}

export interface WebhookStatisticsOperations {
  /** Returns an endpoint's statistics, hour by hour. @throws validation_failed */
  get(request: EndpointStatsRequest): Promise<WebhookStats>;
}

/** Operations on parked messages: messages of the topic that are not valid events. */
export interface ParkedInvalidMessageOperations {
  list(request: { readonly limit: number; readonly after?: readonly string[] }): Promise<ItemPage<ParkedMessage>>;
  /** Consumes the message again, as if it were new. `recorded` is true if the message is now a valid event. */
  retry(request: { readonly id: string }): Promise<{ readonly recorded: boolean }>;
}

/**
 * All operations of webhooks. Each has one request and one response, whose types contain only JSON values, and an rpc
 * in webhooks.proto.
 */
export interface WebhookOperations {
  readonly endpoints: WebhookEndpointOperations;
  readonly deliveries: WebhookDeliveryOperations;
  readonly deadLetters: WebhookDeadLetters;
  readonly replays: WebhookReplayOperations;
  readonly stats: WebhookStatisticsOperations;
  readonly parked: ParkedInvalidMessageOperations;
  readonly owners: ShardOwnerOperations;
}

export const endpointNotFoundError = () => new DomainError('not_found', 'This webhook endpoint does not exist.');
export const deliveryNotFoundError = () => new DomainError('not_found', 'This webhook delivery does not exist.');
export const replayNotFoundError = () => new DomainError('not_found', 'This webhook replay does not exist.');
export const parkedMessageNotFoundError = () => new DomainError('not_found', 'This parked message does not exist.');

export function validationError(errors: readonly FieldError[]): DomainError {
  return new DomainError('validation_failed', 'The request has invalid fields.', errors);
}

export function createTooManyEndpointsError(limit: number): DomainError {
  return new DomainError(
    'limit_exceeded',
    `A workspace can have at most ${limit} webhook endpoints in each environment.`,
  );
}

export const endpointNotVerifiedError = () =>
  new DomainError('endpoint_not_verified', 'The endpoint’s URL is not verified. Verify the endpoint first.');

export const endpointNotEnabledError = () =>
  new DomainError('endpoint_not_enabled', 'The endpoint is not enabled. Enable it first.');

export const deliveryEndpointDeletedError = () =>
  new DomainError('endpoint_not_enabled', 'The endpoint was deleted. Its deliveries are no longer attempted.');

export const createEndpointDeletedError = () =>
  new DomainError('not_found', 'The endpoint was deleted. Its dead letters can be discarded, but not delivered again.');

export const createReplayRunningError = () =>
  new DomainError('replay_running', 'A replay of this endpoint is already running. Wait for its end or cancel it.');

export const createReplayCompletedError = () => new DomainError('replay_completed', 'The replay is already completed.');

export const secretUnreadableError = () =>
  new DomainError(
    'secret_unreadable',
    'The endpoint’s signing secret or headers were stored under a key that is lost. Rotate the secret, and set the headers again.',
  );

export const deliverySucceededError = () => new DomainError('delivery_succeeded', 'The event was already delivered.');

/** A stored document with a revision that commands change. */
interface DocumentWithRevision {
  readonly revision: number;
  /** Id of the last command that changed the document; absent if no command did. */
  readonly changed_by?: string;
}

/**
 * Returns true if the command already changed the document. If not, checks that the document is at a version that the
 * command expects.
 * @throws PreconditionFailedError
 */
export function isRepeatedCommand(
  { revision, changed_by }: DocumentWithRevision,
  { id, expected_versions }: WebhookCommand,
): boolean {
  if (changed_by === id) return true;
  requireMatchingVersion(revision, expected_versions);
  return false;
}
