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

/** Fields that both clients and estimates move; those that were set. */
export type ScheduleFields = Partial<Pick<ShipmentFields, 'etd' | 'eta' | 'legs'>>;

/** Ports as the client gave them itself. One that it left out is that of its legs, where it has any. */
export type GivenPorts = Pick<ShipmentFields, 'origin_port' | 'destination_port'>;

/** What the last upsert that named them sent for the fields that estimates move, so that a nightly resend is no change. */
export interface LastSent {
  readonly etd: Timestamp | null;
  readonly eta: Timestamp | null;
  readonly legs: readonly LegFields[];
}

export type Change<T> = { readonly from: T; readonly to: T };
/** A container that differs: its number and the fields that moved; whole in the list where the other one lacks it. */
export type ContainerChange = Pick<Container, 'number'> & Partial<Container>;
/** What clients see of a shipment and events announce: not the counts and what moves with every event. */
export type AnnouncedFields = Omit<
  ShipmentRecord,
  | 'id'
  | 'containers'
  | 'last_milestone'
  | 'open_exceptions_count'
  | 'documents_count'
  | 'created_at'
  | 'updated_at'
  | 'version'
>;
/**
 * Client-visible fields that an event moved. `containers` holds only those that differ, matched by number: new ones stand
 * in `to` alone, removed ones in `from` alone, both whole; the others with the fields that moved. Their order is that of
 * `container_numbers`. `milestone` is there when an actual milestone was corrected; it is no field of the shipment.
 */
export type Changes = { readonly [Field in keyof AnnouncedFields]?: Change<AnnouncedFields[Field]> } & {
  readonly containers?: Change<readonly ContainerChange[]>;
  readonly milestone?: Change<Milestone>;
};

/** The `last_milestone`s that an event moves; they are answered, but never announced. */
export interface LastMilestones {
  /** The shipment's; absent when it stays. */
  readonly shipment?: LastMilestone | null;
  /** Those of containers, by number; only the ones that move. */
  readonly containers: readonly { readonly last: LastMilestone | null; readonly numbers: readonly string[] }[];
}

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

/** What must be remembered of an upsert beside what it changed visibly. Announces nothing; `shipment.changed.v1` does. */
export interface ShipmentUpdated {
  readonly type: 'shipment.updated.v1';
  readonly data: {
    /** What the client set of the fields that estimates move too: estimates of before no longer count for them. */
    readonly fields: ScheduleFields;
    readonly sent: LastSent;
    readonly last: LastMilestones;
  };
}

/**
 * Which ports the client gave itself, where that is not to be told from the shipment: those of its legs follow the legs.
 * Announces nothing.
 */
export interface ShipmentPortsGiven {
  readonly type: 'shipment.ports_given.v1';
  readonly data: GivenPorts;
}

/** The client cancelled the shipment. Announces nothing: what comes of it stands in the `shipment.changed.v1` behind it. */
export interface ShipmentCancelled {
  readonly type: 'shipment.cancelled.v1';
  readonly data: Readonly<Record<string, never>>;
}

/** The client took its cancellation back. Announces nothing, as above. */
export interface ShipmentReopened {
  readonly type: 'shipment.reopened.v1';
  readonly data: Readonly<Record<string, never>>;
}

/** Every client-visible difference of one command, set or derived. Announced as `shipment.updated`. */
export interface ShipmentChanged {
  readonly type: 'shipment.changed.v1';
  readonly data: { readonly changes: Changes };
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

/**
 * A milestone sent again under its `external_id` with other content: its revision grows. Announced as `milestone.recorded`
 * when it made an actual one of an estimate; otherwise a correction of an actual one stands in the changes of the
 * `shipment.changed.v1` that follows. Where the revision stays it only took the `external_id` under which it came again.
 */
export interface MilestoneCorrected {
  readonly type: 'milestone.corrected.v1';
  readonly data: {
    readonly milestone: Milestone;
    readonly previous: Milestone;
    readonly supersedes: readonly string[];
    /** Ids of estimates that the previous content had replaced and the new one no longer does. */
    readonly restores: readonly string[];
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
  | ShipmentPortsGiven
  | ShipmentCancelled
  | ShipmentReopened
  | ShipmentChanged
  | MilestoneRecorded
  | MilestoneCorrected
  | ExceptionOpened
  | ExceptionResolved;

/** An event of a shipment's stream, in its newest version. */
export type ShipmentEvent = ShipmentEventBody & { readonly metadata: EventMetadata; readonly revision: number };
export type ShipmentEventType = ShipmentEventBody['type'];
