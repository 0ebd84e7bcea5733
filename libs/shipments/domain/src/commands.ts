import type {
  Actor,
  Classifier,
  Environment,
  MilestoneSource,
  Milestone,
  ShipmentFields,
  ShipmentRecord,
  Timestamp,
  Warning,
} from '@tracking/contracts';

/** What every command carries; made at the edge, once per request. */
export interface CommandContext {
  /** UUID. The same id is the same command, however often it is sent. */
  readonly id: string;
  /** The command's time. */
  readonly at: Timestamp;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly actor: Actor;
  readonly request_id: string;
  readonly traceparent: string | null;
  /** `Prefer: handling=strict`: what would only warn about a wrong check digit is refused. */
  readonly strict: boolean;
}

/** Creates a shipment, or changes the one with this `external_id`. */
export interface UpsertShipment extends CommandContext {
  readonly type: 'UpsertShipment';
  /** `shp_<token>`, derived from (workspace, environment, external_id), or from the command id without one. */
  readonly shipment_id: string;
  /** Absent fields keep their value, null clears. Of the right types, and in the form that `checkShipmentFields` answers. */
  readonly fields: Partial<ShipmentFields>;
}

/** A milestone as it was sent, of the right types; what is absent is null. */
export interface MilestoneInput {
  readonly code: string;
  /** In UTC, normalised: times are compared as strings. */
  readonly occurred_at: Timestamp;
  readonly source: MilestoneSource;
  readonly classifier: Classifier;
  readonly reason_code: string | null;
  readonly location: string | null;
  readonly timezone: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
}

export interface RecordMilestone extends CommandContext {
  readonly type: 'RecordMilestone';
  readonly shipment_id: string;
  readonly milestone: MilestoneInput;
}

/** Cancels a shipment, whatever its milestones say; possible before it is delivered. */
export interface CancelShipment extends CommandContext {
  readonly type: 'CancelShipment';
  readonly shipment_id: string;
}

/** Takes the client's cancellation back. */
export interface ReopenShipment extends CommandContext {
  readonly type: 'ReopenShipment';
  readonly shipment_id: string;
}

export type ShipmentCommand = UpsertShipment | RecordMilestone | CancelShipment | ReopenShipment;

export interface UpsertShipmentAnswer {
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export interface CancellationAnswer {
  /** `unchanged`: it was so already. */
  readonly outcome: 'cancelled' | 'reopened' | 'unchanged';
  readonly shipment: ShipmentRecord;
  readonly warnings: readonly Warning[];
}
export interface RecordMilestoneAnswer {
  /** `existing`: a duplicate, nothing recorded; it may have taken the `external_id`. */
  readonly outcome: 'recorded' | 'corrected' | 'existing';
  readonly milestone: Milestone;
  readonly warnings: readonly Warning[];
}
