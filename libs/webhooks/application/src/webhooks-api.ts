import type { PageOf } from '@tracking/contracts';
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
  SettleDeadLetters,
  SettledDeadLetters,
  SummarizeDeadLetters,
  TestEndpoint,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
  WebhookReplay,
  WebhookStats,
} from './requests-and-answers.ts';

/**
 * Every refusal is a `DomainError`; what belongs to another scope is `not_found`. A command that changes one of them and
 * expects a version that it is not at is refused with `PreconditionFailed`; repeated, it changes and refuses nothing.
 */
export interface WebhookEndpoints {
  /** Sends nothing. @throws validation_failed, limit_exceeded */
  create(command: CreateEndpoint): Promise<NewWebhookEndpoint>;
  /** Oldest first. */
  list(request: ListEndpoints): Promise<PageOf<WebhookEndpoint>>;
  get(request: Scope & { readonly endpoint_id: string }): Promise<WebhookEndpoint>;
  /** A changed URL has to be verified again. @throws validation_failed */
  change(command: ChangeEndpoint): Promise<WebhookEndpoint>;
  /** Sends nothing more, discards what waits in the background and keeps the log. The second time it is `not_found`. */
  remove(command: EndpointCommand): Promise<{ readonly id: string; readonly deleted: true }>;
  /** Sends the challenge and answers when the endpoint did: `last_verification` tells the outcome. */
  verify(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** What is acknowledged from its answer on is sent there. @throws endpoint_not_verified, Unavailable */
  enable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** What was acknowledged before is still sent there, once it is enabled again. @throws Unavailable */
  disable(command: EndpointCommand): Promise<WebhookEndpoint>;
  /** Makes a secret; the old ones go on signing beside it for as long as is asked. Repeated it answers the same one. */
  rotateSecret(command: RotateSecret): Promise<NewWebhookEndpoint>;
  /** Changes nothing. @throws secret_unreadable */
  revealSecret(command: EndpointCommand): Promise<RevealedSecret>;
  /** One sandbox event, one attempt. @throws validation_failed, endpoint_not_verified */
  test(command: TestEndpoint): Promise<WebhookDelivery>;
}

/** Preconditions as of {@link WebhookEndpoints}. */
export interface WebhookDeliveries {
  list(request: ListDeliveries): Promise<PageOf<WebhookDelivery>>;
  get(request: { readonly scopes: readonly Scope[]; readonly delivery_id: string }): Promise<WebhookDeliveryDetail>;
  /** One attempt as soon as possible; the schedule stays as it is. @throws endpoint_not_enabled */
  retry(command: DeliveryCommand): Promise<WebhookDelivery>;
  /** @throws delivery_succeeded */
  discard(command: DeliveryCommand): Promise<WebhookDelivery>;
}

/** What failed for good, many at once. */
export interface WebhookDeadLetters {
  /** How many, and why: counted up to a bound, and said where there are more. */
  summary(request: SummarizeDeadLetters): Promise<DeadLetterSummary>;
  /** A new schedule and window for each. What cannot be begun is told beside what was. @throws not_found, validation_failed; of the one endpoint asked for endpoint_not_enabled, replay_running */
  replay(command: SettleDeadLetters): Promise<SettledDeadLetters>;
  /** Gives them up; of deleted endpoints too. @throws not_found, validation_failed */
  discard(command: SettleDeadLetters): Promise<SettledDeadLetters>;
}

/** Preconditions as of {@link WebhookEndpoints}. */
export interface WebhookReplays {
  /** Of what there was up to now. @throws validation_failed, endpoint_not_enabled, replay_running, Unavailable */
  create(command: CreateReplay): Promise<WebhookReplay>;
  list(request: ListReplays): Promise<PageOf<WebhookReplay>>;
  get(request: Scope & { readonly replay_id: string }): Promise<WebhookReplay>;
  /** What was taken goes on by its schedule; one that came to its end stays as it is. */
  cancel(command: ReplayCommand): Promise<WebhookReplay>;
  /** Goes on where it was canceled. @throws replay_completed, replay_running, endpoint_not_enabled */
  resume(command: ReplayCommand): Promise<WebhookReplay>;
}

export interface WebhookStatistics {
  /** What became of what was sent to an endpoint, hour by hour. @throws validation_failed */
  get(request: GetStats): Promise<WebhookStats>;
}

/** Records of the topic that could not be taken for events. */
export interface ParkedMessages {
  list(request: { readonly limit: number; readonly after?: readonly string[] }): Promise<PageOf<ParkedMessage>>;
  /** Takes it up again, as if it had just come. Answers whether it could be taken for an event now. */
  retry(request: { readonly id: string }): Promise<{ readonly recorded: boolean }>;
}

/**
 * What others ask of webhooks: each operation has one request and one answer, JSON by their types, and an rpc in
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
