import type {
  Actor,
  Container,
  Environment,
  JsonValue,
  LastMilestone,
  LegFields,
  Milestone,
  ShipmentFields,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';

/** What every event carries beside its data, from the first day. */
export interface EventMetadata {
  readonly command_id: string;
  /** Place among the events of its command, from 0. The event's id is uuidv5(command_id, command_index). */
  readonly command_index: number;
  /** The command's time; the event's time everywhere. A store's own timestamp is never used. */
  readonly recorded_at: Timestamp;
  readonly actor: Actor;
  readonly request_id: string;
  /** W3C trace context of the request, when it had one. */
  readonly traceparent: string | null;
  /** When time alone next changes something about the shipment as it is after this append. */
  readonly next_check_at: Timestamp | null;
}

/** What the last upsert sent for the fields that estimates move, so that a nightly resend is no change. */
export interface LastSent {
  readonly etd: Timestamp | null;
  readonly eta: Timestamp | null;
  readonly legs: readonly LegFields[] | null;
}

export type Change<T = JsonValue> = { readonly from: T; readonly to: T };
/**
 * Client-visible fields that an event moved. `containers` holds only those that differ, matched by number: new ones stand
 * in `to` alone, removed ones in `from` alone. Never `version`, `updated_at`, `last_milestone` or counts.
 */
export type Changes = Readonly<Record<string, Change>>;

/** The first event: the shipment as created, derived fields included. */
export interface ShipmentCreated {
  readonly type: 'shipment.created.v1';
  readonly data: {
    readonly workspace_id: string;
    readonly environment: Environment;
    readonly shipment: ShipmentRecord;
    readonly sent: LastSent;
  };
}

/** What a client set, whether or not anything visible came of it. Announces nothing; `shipment.changed.v1` does. */
export interface ShipmentUpdated {
  readonly type: 'shipment.updated.v1';
  readonly data: { readonly fields: Partial<ShipmentFields>; readonly sent: LastSent };
}

/** Every client-visible difference of one command, set or derived. Announced as `shipment.updated`. */
export interface ShipmentChanged {
  readonly type: 'shipment.changed.v1';
  readonly data: { readonly changes: Changes };
}

/** What an event about a milestone moves without announcing it. */
export interface LastMilestones {
  readonly last_milestone: LastMilestone | null;
  /** By container number; only those that moved. */
  readonly containers: Readonly<Record<string, LastMilestone | null>>;
}

/** A new milestone on the timeline. Announced as `milestone.recorded` when actual. */
export interface MilestoneRecorded {
  readonly type: 'milestone.recorded.v1';
  readonly data: {
    readonly milestone: Milestone;
    /** Ids of estimates that this one replaces. */
    readonly supersedes: readonly string[];
    readonly last: LastMilestones;
  };
}

/** A milestone sent again under its `external_id` with other content. Announced by `shipment.changed.v1`. */
export interface MilestoneCorrected {
  readonly type: 'milestone.corrected.v1';
  readonly data: {
    readonly milestone: Milestone;
    readonly previous: Milestone;
    readonly supersedes: readonly string[];
    readonly last: LastMilestones;
  };
}

export interface ShipmentException {
  readonly id: string;
  readonly shipment_id: string;
  readonly container_number: string | null;
  readonly type: string;
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
  readonly status: 'open' | 'acknowledged' | 'resolved';
  readonly title: string;
  readonly detail: string | null;
  readonly detected_by: 'system' | 'manual' | 'carrier';
  readonly rule: string | null;
  readonly milestone_id: string | null;
  readonly reason_code: string | null;
  readonly assignee: string | null;
  readonly metrics: Readonly<Record<string, JsonValue>>;
  readonly resolution: { readonly code: string; readonly note: string | null; readonly by: Actor } | null;
  readonly opened_at: Timestamp;
  readonly acknowledged_at: Timestamp | null;
  readonly resolved_at: Timestamp | null;
}

/** Announced as `exception.opened`. */
export interface ExceptionOpened {
  readonly type: 'exception.opened.v1';
  readonly data: { readonly exception: ShipmentException; readonly open_exceptions_count: number };
}

/** Announced as `exception.resolved`. */
export interface ExceptionResolved {
  readonly type: 'exception.resolved.v1';
  readonly data: { readonly exception: ShipmentException; readonly open_exceptions_count: number };
}

export type ShipmentEventBody =
  | ShipmentCreated
  | ShipmentUpdated
  | ShipmentChanged
  | MilestoneRecorded
  | MilestoneCorrected
  | ExceptionOpened
  | ExceptionResolved;

/** An event of a shipment's stream, in its newest version. */
export type ShipmentEvent = ShipmentEventBody & { readonly metadata: EventMetadata; readonly revision: number };

/** The value of `changes.containers`. */
export type ContainersChange = Change<readonly Container[]>;
