import type {
  ApiVersion,
  PayloadForm,
  DeliveryStatus,
  Environment,
  ExpectedVersions,
  JsonObject,
  JsonValue,
  PageRequest,
  ParkedMessage,
  WorkspaceScope,
  Timestamp,
} from '@tracking/contracts';
import type {
  DeliveryFailureReason,
  DisabledReason,
  EndpointStatus,
  LastDeliveryFailureRecord,
  Replay,
  ReplayFilter,
  CausingRequest,
  EndpointVerificationResult,
} from '@tracking/webhooks-domain';

export type { ParkedMessage, WorkspaceScope };

/** A request that changes something. Created at the edge, so that a repeated request is not carried out twice. */
export interface WebhookCommand extends WorkspaceScope {
  /** UUID of the command. The same id is the same command, however often it is sent. */
  readonly id: string;
  /** Time of the command. */
  readonly at: Timestamp;
  /** Versions of the resource that the command may change; any version if absent. */
  readonly expected_versions?: ExpectedVersions;
  /** The client request that caused the command. Deliveries caused by the command are part of its trace. */
  readonly origin?: CausingRequest;
}
export interface EndpointCommand extends WebhookCommand {
  readonly endpoint_id: string;
}
export interface CreateEndpointCommand extends WebhookCommand {
  /** Fields as the client sent them. The feature checks them and reports all invalid fields together. */
  readonly fields: JsonObject;
}
export interface ChangeEndpointCommand extends EndpointCommand {
  readonly fields: JsonObject;
}
export interface TestEndpointCommand extends EndpointCommand {
  readonly type: string;
}
export interface RotateSecretCommand extends EndpointCommand {
  /** Number of whole seconds for which the old secret stays valid, from 0 to 604,800; 86,400 if absent. */
  readonly expires_in_seconds?: number;
}
export interface WebhookDeliveryCommand extends WebhookCommand {
  readonly delivery_id: string;
}

export interface ListEndpointsRequest extends WorkspaceScope, PageRequest {}

export interface DeliveryFilter {
  readonly endpoint_id?: string;
  readonly event_id?: string;
  readonly event_types?: readonly string[];
  /** Statuses to include; all by default. */
  readonly statuses?: readonly DeliveryStatus[];
  /** Error codes of dead letters to include (`last_error.code`). Excludes other deliveries. */
  readonly reasons?: readonly string[];
  /** Earliest and latest `created_at` of the events, both inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}
/** Request for a page of deliveries, newest first. */
export interface ListDeliveriesRequest extends PageRequest {
  /** Scopes to read: one for clients; operators may read several. */
  readonly scopes: readonly WorkspaceScope[];
  readonly filter: DeliveryFilter;
}

/** Filter for dead letters; all of a scope by default. */
export interface DeadLetterFilter {
  readonly endpoint_id?: string;
  /** Event types to include. */
  readonly event_types?: readonly string[];
  /** Error codes to include (`last_error.code`). */
  readonly reasons?: readonly string[];
  /** Earliest and latest `created_at` of the events, both inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}
export interface SummarizeDeadLettersRequest extends WorkspaceScope {
  readonly filter: DeadLetterFilter;
}
export interface DeadLetterCount {
  readonly count: number;
  /** True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters. */
  readonly is_exact: boolean;
}
/** Counts by reason, largest first. */
export interface DeadLetterSummary extends DeadLetterCount {
  readonly by_reason: readonly (DeadLetterCount & { readonly reason: string })[];
  readonly by_endpoint: readonly (DeadLetterCount & {
    readonly endpoint_id: string;
    /** URL of the endpoint; null if the endpoint is no longer stored. */
    readonly url: string | null;
    readonly status: EndpointStatus | 'deleted';
  })[];
  readonly by_event_type: readonly (DeadLetterCount & { readonly event_type: string })[];
}
/** Command to replay or discard dead letters. `until` is the command's time by default. */
export interface ReplayOrDiscardCommand extends WebhookCommand {
  readonly filter: DeadLetterFilter & {
    /** Ids of the deliveries to include. Other deliveries are excluded. */
    readonly delivery_ids?: readonly string[];
  };
}
export interface DeadLetterReplayResult {
  /** The started replays, one for each endpoint with matching dead letters. */
  readonly replays: readonly WebhookReplay[];
  /** Endpoints with matching dead letters for which no replay was started. */
  readonly refused: readonly { readonly endpoint_id: string; readonly code: string; readonly message: string }[];
}

/** Command to send events to an endpoint again. `until` is the command's time by default. */
export interface CreateReplayCommand extends EndpointCommand {
  readonly filter: Partial<ReplayFilter>;
}
export interface ExistingReplayCommand extends WebhookCommand {
  readonly replay_id: string;
}
/** Request for the replays of one endpoint or of all, newest first. */
export interface ListReplaysRequest extends WorkspaceScope, PageRequest {
  readonly endpoint_id?: string;
}

/** A replay as the API returns it. */
export interface WebhookReplay extends Omit<Replay, 'workspace_id' | 'environment' | 'revision' | 'delivery_ids'> {
  /** Ids of the deliveries to include. Null if the other fields of the filter select the deliveries. */
  readonly delivery_ids: readonly string[] | null;
  /** Increases with every change, including progress. */
  readonly version: number;
}

/** An endpoint as the API returns it. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly event_types: readonly string[];
  readonly description: string | null;
  readonly api_version: ApiVersion;
  readonly payload: PayloadForm;
  readonly environment: Environment;
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  readonly last_verification: EndpointVerificationResult | null;
  /** Custom headers, with masked values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly max_concurrency: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  /** Increases with every change. */
  readonly version: number;
}
export interface CreatedEndpointWithSecret extends WebhookEndpoint {
  /** Signing secret, `whsec_…`. Only the creation of an endpoint, a rotation and `revealSecret` return the secret. */
  readonly secret: string;
}
/** The secrets that currently sign requests to an endpoint. */
export interface ActiveSigningSecrets {
  /** Id of the endpoint. */
  readonly id: string;
  /** The newest secret. */
  readonly secret: string;
  /** Older secrets that are still valid after rotations, newest first; at most four. */
  readonly previous_secrets: readonly { readonly secret: string; readonly expires_at: Timestamp }[];
}

/**
 * Request for an endpoint's hourly statistics, from the hour of `since` to the last hour that begins before `until`.
 */
export interface EndpointStatsRequest extends WorkspaceScope {
  readonly endpoint_id: string;
  /** Start of the period, at most 30 days before `until`; one day before it by default. */
  readonly since?: Timestamp;
  /** End of the period; the current time by default. */
  readonly until?: Timestamp;
}
/** Statistics of the attempts at an endpoint within one hour. */
export interface WebhookHour {
  /** Start of the hour. */
  readonly hour: Timestamp;
  /** Attempts, counted in the hour in which they started. */
  readonly attempts: { readonly succeeded: number; readonly failed: number };
  /**
   * Deliveries that succeeded or became dead letters by an attempt of the hour, or that a person discarded within the
   * hour.
   */
  readonly deliveries: { readonly succeeded: number; readonly dead_lettered: number; readonly discarded: number };
  /**
   * Durations of all attempts, in milliseconds; null without attempts. Percentiles are at most 12.5% too high; `max` is
   * exact.
   */
  readonly latency_ms: {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
    readonly max: number | null;
  };
  /**
   * True if the counts are exact. False while a recount is pending, after a process died or a user discarded
   * deliveries.
   */
  readonly is_exact: boolean;
}
export interface WebhookStats {
  readonly endpoint_id: string;
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** Hours with attempts or discards, oldest first. */
  readonly hours: readonly WebhookHour[];
  /** Deliveries whose schedule has attempts left. */
  readonly waiting: {
    readonly count: number;
    /** True if counting stopped at the limit, so there may be more pending deliveries. */
    readonly is_at_least: boolean;
    /** Time at which the oldest pending delivery was recorded. */
    readonly oldest_at: Timestamp | null;
  };
  readonly last_success_at: Timestamp | null;
  readonly last_error: LastDeliveryFailureRecord | null;
}

/** A delivery as the list operation returns it. */
export interface WebhookDelivery {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: DeliveryStatus;
  readonly sandbox: boolean;
  readonly created_at: Timestamp;
  readonly next_attempt_at: Timestamp | null;
  readonly completed_at: Timestamp | null;
  readonly attempts_count: number;
  readonly last_error: DeliveryFailureReason | null;
  /** Increases with every change, including attempts. */
  readonly version: number;
}
export interface WebhookAttempt {
  /** Number of the attempt, from 1. The first 50 and the latest 50 attempts are kept. */
  readonly number: number;
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: DeliveryFailureReason | null;
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
  readonly manual: boolean;
  /**
   * Present if the receiver had closed the kept-alive connection, so the request was sent again on a new connection.
   */
  readonly resent?: true;
}
export interface DetailedWebhookDelivery extends WebhookDelivery {
  /** Body that every attempt sends. */
  readonly payload: JsonValue;
  readonly attempts: readonly WebhookAttempt[];
}
