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

/** A request that changes something; made at the edge, so that repeating it does not do it twice. */
export interface WebhookCommand extends Scope {
  /** UUID. The same id is the same command, however often it is sent. */
  readonly id: string;
  /** The command's time. */
  readonly at: Timestamp;
  /** Which versions of what it changes it may change; any where absent. */
  readonly expected_versions?: ExpectedVersions;
  /** The request that it was made for: what is sent because of it is in its trace. */
  readonly origin?: RequestOrigin;
}
export interface EndpointCommand extends WebhookCommand {
  readonly endpoint_id: string;
}
export interface CreateEndpoint extends WebhookCommand {
  /** As the client sent them: checked here, where every faulty field is named at once. */
  readonly fields: JsonObject;
}
export interface ChangeEndpoint extends EndpointCommand {
  readonly fields: JsonObject;
}
export interface TestEndpoint extends EndpointCommand {
  readonly type: string;
}
export interface RotateSecret extends EndpointCommand {
  /** How long the old secret stays valid, in whole seconds from 0 to 604,800; 86,400 where absent. */
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
  /** Any of these; all by default. */
  readonly statuses?: readonly DeliveryStatus[];
  /** Dead letters with this code of their `last_error`. */
  readonly reason?: string;
  /** Bounds of the events' `created_at`, inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}
/** Newest first. */
export interface ListDeliveries extends PageRequest {
  /** One for clients; operators may look into several. */
  readonly scopes: readonly Scope[];
  readonly filter: DeliveryFilter;
}

/** Which dead letters: all of a scope where nothing is said. */
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
  /** Otherwise there are at least so many: no more were counted. */
  readonly is_exact: boolean;
}
/** The largest count first. */
export interface DeadLetterSummary extends DeadLetterCount {
  readonly by_reason: readonly (DeadLetterCount & { readonly reason: string })[];
  readonly by_endpoint: readonly (DeadLetterCount & {
    readonly endpoint_id: string;
    /** Null where nothing is known of it any more. */
    readonly url: string | null;
    readonly status: EndpointStatus | 'deleted';
  })[];
  readonly by_event_type: readonly (DeadLetterCount & { readonly event_type: string })[];
}
/** Dead letters to be delivered again, or given up: `until` is the command's time where absent. */
export interface SettleDeadLetters extends WebhookCommand {
  readonly filter: DeadLetterFilter & {
    /** Of these deliveries. */
    readonly delivery_ids?: readonly string[];
  };
}
export interface SettledDeadLetters {
  /** A job for each endpoint that has such. */
  readonly replays: readonly WebhookReplay[];
  /** Endpoints that have such, and of which none was begun. */
  readonly refused: readonly { readonly endpoint_id: string; readonly code: string; readonly message: string }[];
}

/** What of an endpoint's log is to be sent again: as of `ReplayFilter`, of which `until` is the command's time where absent. */
export interface CreateReplay extends EndpointCommand {
  readonly filter: Partial<ReplayFilter>;
}
export interface ReplayCommand extends WebhookCommand {
  readonly replay_id: string;
}
/** Newest first: of one endpoint, or of all. */
export interface ListReplays extends Scope, PageRequest {
  readonly endpoint_id?: string;
}

/** A replay as it is answered. */
export interface WebhookReplay extends Omit<Replay, 'workspace_id' | 'environment' | 'revision' | 'delivery_ids'> {
  /** Only these deliveries; null where what else is said decides. */
  readonly delivery_ids: readonly string[] | null;
  /** Grows with every change, progress among them. */
  readonly version: number;
}

/** An endpoint as it is answered. */
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
/** The secrets that sign what is sent to an endpoint at that moment. */
export interface RevealedSecret {
  /** Of the endpoint. */
  readonly id: string;
  /** The newest. */
  readonly secret: string;
  /** Those that rotations left valid beside it, the newest first; at most four. */
  readonly previous_secrets: readonly { readonly secret: string; readonly expires_at: Timestamp }[];
}

/** Of an endpoint: the hours from the one in which `since` lies, those that begin before `until`. */
export interface GetStats extends Scope {
  readonly endpoint_id: string;
  /** A day before `until` where absent; at most 30 days before it. */
  readonly since?: Timestamp;
  /** Now where absent. */
  readonly until?: Timestamp;
}
/** What became of what was sent to an endpoint within an hour. */
export interface WebhookHour {
  /** Its begin. */
  readonly hour: Timestamp;
  /** By their begin. */
  readonly attempts: { readonly succeeded: number; readonly failed: number };
  /** Succeeded or dead-lettered by an attempt of the hour, or discarded by a person within it. */
  readonly deliveries: { readonly succeeded: number; readonly dead_lettered: number; readonly discarded: number };
  /** Of all attempts, in milliseconds: at most an eighth more than it was, `max` exactly; null without any. */
  readonly latency_ms: {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
    readonly max: number | null;
  };
  /** False where some of it may not be counted: a process died, or a person discarded, and the log was not gone through since. */
  readonly is_exact: boolean;
}
export interface WebhookStats {
  readonly endpoint_id: string;
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** Those in which anything happened, the oldest first. */
  readonly hours: readonly WebhookHour[];
  /** Deliveries with attempts of their schedule to come. */
  readonly waiting: {
    readonly count: number;
    /** Whether there may be more. */
    readonly is_at_least: boolean;
    /** When the oldest of them was recorded. */
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
  /** Grows with every change, attempts among them. */
  readonly version: number;
}
export interface WebhookAttempt {
  /** From 1. Of very many the first fifty and the latest fifty are kept. */
  readonly number: number;
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: DeliveryError | null;
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
  readonly manual: boolean;
  /** The kept-alive connection was found closed, and it was sent once more on a new one; absent where it was not. */
  readonly resent?: true;
}
export interface WebhookDeliveryDetail extends WebhookDelivery {
  /** The body as it was and will be sent. */
  readonly payload: JsonValue;
  readonly attempts: readonly WebhookAttempt[];
}
