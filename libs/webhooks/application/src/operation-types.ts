import type {
  ApiVersion,
  DeliveryStatus,
  Environment,
  ExpectedVersions,
  JsonObject,
  JsonValue,
  PageRequest,
  ParkedMessage,
  Scope,
  Timestamp,
} from '@tracking/contracts';
import type {
  DeliveryError,
  DisabledReason,
  EndpointStatus,
  LastError,
  Replay,
  ReplayFilter,
  RequestOrigin,
  Verification,
} from '@tracking/webhooks-domain';

export type { ParkedMessage, Scope };

/** A request that changes something. Made at the edge, so that a repeat does not do it twice. */
export interface WebhookCommand extends Scope {
  /** UUID. The same id is the same command, however often it is sent. */
  readonly id: string;
  /** The command's time. */
  readonly at: Timestamp;
  /** The versions of the resource that it may change; any if absent. */
  readonly expected_versions?: ExpectedVersions;
  /** The request for which it was made: deliveries because of it are in its trace. */
  readonly origin?: RequestOrigin;
}
export interface EndpointCommand extends WebhookCommand {
  readonly endpoint_id: string;
}
export interface CreateEndpoint extends WebhookCommand {
  /** As the client sent them. They are checked here, and every faulty field is named at once. */
  readonly fields: JsonObject;
}
export interface ChangeEndpoint extends EndpointCommand {
  readonly fields: JsonObject;
}
export interface TestEndpoint extends EndpointCommand {
  readonly type: string;
}
export interface RotateSecret extends EndpointCommand {
  /** How long the old secret stays valid, in whole seconds from 0 to 604,800; 86,400 if absent. */
  readonly expires_in_seconds?: number;
}
export interface DeliveryCommand extends WebhookCommand {
  readonly delivery_id: string;
}

export interface ListEndpoints extends Scope, PageRequest {}

export interface DeliveryFilter {
  readonly endpoint_id?: string;
  readonly event_id?: string;
  readonly event_type?: string;
  /** Any of these statuses; all by default. */
  readonly statuses?: readonly DeliveryStatus[];
  /** Dead letters with this code of their `last_error`. */
  readonly reason?: string;
  /** Bounds of the events' `created_at`, inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}
/** Newest first. */
export interface ListDeliveries extends PageRequest {
  /** One for clients; operators may read several. */
  readonly scopes: readonly Scope[];
  readonly filter: DeliveryFilter;
}

/** Which dead letters: all of a scope by default. */
export interface DeadLetterFilter {
  readonly endpoint_id?: string;
  /** Any of these. */
  readonly event_types?: readonly string[];
  /** Codes of their `last_error`: any of these. */
  readonly reasons?: readonly string[];
  /** Bounds of the events' `created_at`, inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}
export interface SummarizeDeadLetters extends Scope {
  readonly filter: DeadLetterFilter;
}
export interface DeadLetterCount {
  readonly count: number;
  /** False if there are at least this many: no more were counted. */
  readonly is_exact: boolean;
}
/** The largest count first. */
export interface DeadLetterSummary extends DeadLetterCount {
  readonly by_reason: readonly (DeadLetterCount & { readonly reason: string })[];
  readonly by_endpoint: readonly (DeadLetterCount & {
    readonly endpoint_id: string;
    /** Null if the endpoint is no longer stored. */
    readonly url: string | null;
    readonly status: EndpointStatus | 'deleted';
  })[];
  readonly by_event_type: readonly (DeadLetterCount & { readonly event_type: string })[];
}
/** Dead letters to be delivered again, or discarded: `until` is the command's time by default. */
export interface DeadLettersCommand extends WebhookCommand {
  readonly filter: DeadLetterFilter & {
    /** Only these deliveries. */
    readonly delivery_ids?: readonly string[];
  };
}
export interface DeadLettersResult {
  /** A job for each endpoint that has matching dead letters. */
  readonly replays: readonly WebhookReplay[];
  /** Endpoints with matching dead letters for which no job was begun. */
  readonly refused: readonly { readonly endpoint_id: string; readonly code: string; readonly message: string }[];
}

/** Sends events of an endpoint again. `until` is the command's time by default. */
export interface CreateReplay extends EndpointCommand {
  readonly filter: Partial<ReplayFilter>;
}
export interface ReplayCommand extends WebhookCommand {
  readonly replay_id: string;
}
/** Newest first, of one endpoint or of all. */
export interface ListReplays extends Scope, PageRequest {
  readonly endpoint_id?: string;
}

/** A replay as the API returns it. */
export interface WebhookReplay extends Omit<Replay, 'workspace_id' | 'environment' | 'revision' | 'delivery_ids'> {
  /** Only these deliveries; null if the other fields decide. */
  readonly delivery_ids: readonly string[] | null;
  /** Grows with every change, progress among them. */
  readonly version: number;
}

/** An endpoint as the API returns it. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly event_types: readonly string[];
  readonly description: string | null;
  readonly api_version: ApiVersion;
  readonly environment: Environment;
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  readonly last_verification: Verification | null;
  /** Values are masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly max_concurrency: number;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  /** Grows with every change. */
  readonly version: number;
}
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** `whsec_…`; shown here and by `revealSecret`, and never by a read. */
  readonly secret: string;
}
/** The secrets that sign requests to an endpoint at that moment. */
export interface RevealedSecret {
  /** Id of the endpoint. */
  readonly id: string;
  /** The newest secret. */
  readonly secret: string;
  /** Secrets that rotations left valid beside it, the newest first; at most four. */
  readonly previous_secrets: readonly { readonly secret: string; readonly expires_at: Timestamp }[];
}

/** The hours of an endpoint, from the hour of `since` to the last one that begins before `until`. */
export interface GetStats extends Scope {
  readonly endpoint_id: string;
  /** At most 30 days before `until`; one day before it by default. */
  readonly since?: Timestamp;
  /** Now by default. */
  readonly until?: Timestamp;
}
/** Attempts at an endpoint within an hour, and their outcomes. */
export interface WebhookHour {
  /** Begin of the hour. */
  readonly hour: Timestamp;
  /** Counted in the hour of their begin. */
  readonly attempts: { readonly succeeded: number; readonly failed: number };
  /** Succeeded or dead-lettered by an attempt of the hour, or discarded by a person within it. */
  readonly deliveries: { readonly succeeded: number; readonly dead_lettered: number; readonly discarded: number };
  /** Of all attempts, in milliseconds: at most an eighth too long, `max` is exact; null without any. */
  readonly latency_ms: {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
    readonly max: number | null;
  };
  /** False if some attempts or discards may not be counted: since a process died or a person discarded, the log was not read. */
  readonly is_exact: boolean;
}
export interface WebhookStats {
  readonly endpoint_id: string;
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** Hours with attempts or discards, the oldest first. */
  readonly hours: readonly WebhookHour[];
  /** Deliveries whose schedule has attempts to come. */
  readonly waiting: {
    readonly count: number;
    /** True if there may be more. */
    readonly is_at_least: boolean;
    /** When the oldest one was recorded. */
    readonly oldest_at: Timestamp | null;
  };
  readonly last_success_at: Timestamp | null;
  readonly last_error: LastError | null;
}

/** A delivery as it is listed. */
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
  readonly last_error: DeliveryError | null;
  /** Grows with every change, also by an attempt. */
  readonly version: number;
}
export interface WebhookAttempt {
  /** From 1. The first 50 and the latest 50 attempts are kept. */
  readonly number: number;
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: DeliveryError | null;
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
  readonly manual: boolean;
  /** True if the kept-alive connection was closed and the request was sent again on a new one; absent otherwise. */
  readonly resent?: true;
}
export interface WebhookDeliveryDetail extends WebhookDelivery {
  /** The body as it was and will be sent. */
  readonly payload: JsonValue;
  readonly attempts: readonly WebhookAttempt[];
}
