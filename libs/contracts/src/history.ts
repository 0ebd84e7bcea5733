import type { DocumentType } from './documents.ts';
import type { Actor, Classifier, MilestoneSource, ShipmentStatus, TimePrecision, Timestamp } from './shipment.ts';

/** Types of entries in a shipment's history. */
export const HISTORY_ENTRY_TYPES = [
  'shipment.created',
  'shipment.updated',
  'shipment.cancelled',
  'shipment.reopened',
  'milestone.recorded',
  'milestone.corrected',
  'milestone.retracted',
  'exception.opened',
  'exception.updated',
  'exception.resolved',
  'document.requested',
  'document.uploaded',
  'document.approved',
  'document.rejected',
  'document.expired',
  'document.deleted',
] as const;
export type HistoryType = (typeof HISTORY_ENTRY_TYPES)[number];

/**
 * Values of each changed field before and after the change. `milestone`, `exception` and `document` are whole
 * resources, or null.
 */
export type HistoryChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** An entry in a shipment's history. */
export interface HistoryEntry {
  /** Id of the public event that announced the change; if there is none, the id of the entry itself. */
  readonly id: string;
  readonly type: HistoryType;
  readonly at: Timestamp;
  readonly actor: Actor & { readonly name: string | null };
  readonly changes: HistoryChanges;
  /** Version of the shipment right after the change. */
  readonly version: number;
}

/** Source of an ETA: the source of the milestone that set it, or `client` if a client set it on the shipment. */
export type EtaSource = MilestoneSource | 'client';

/** Origin of a shipment's ETA: the milestone or client that set it. */
export interface EtaOrigin {
  readonly source: EtaSource;
  /** Id of the milestone that set the ETA; null if a client set it, or if the estimate is no longer kept. */
  readonly milestone_id: string | null;
  /** Reason code of the milestone that set the ETA; null if there is none. */
  readonly reason_code: string | null;
}

/** A change of a shipment's `eta`. */
export interface EtaChange extends EtaOrigin {
  readonly eta: Timestamp | null;
  readonly eta_precision: TimePrecision;
  readonly previous_eta: Timestamp | null;
  /**
   * Hours by which the ETA moved, rounded to hundredths; by local days if one of the two ETAs is a day. Negative if the
   * new ETA is earlier; null if one of the two ETAs is unknown.
   */
  readonly slip_hours: number | null;
  readonly reported_at: Timestamp;
}

/**
 * Effects of a milestone. `counted`: it has the effect of its code. `demoted`: it counts as a lower status than its
 * code. `superseded`: another milestone replaces it. `ignored`: it has no effect.
 */
export const MILESTONE_EFFECT_KINDS = ['counted', 'demoted', 'superseded', 'ignored'] as const;
export type MilestoneResult = (typeof MILESTONE_EFFECT_KINDS)[number];

/**
 * Rules that decide the effect of a milestone, each with its result: docs/reference/shipments.md#explanation. Rules are
 * never renamed.
 */
export const MILESTONE_RESULTS_BY_RULE = {
  status_of_code: 'counted',
  status_of_mode: 'counted',
  leaves_status: 'counted',
  arrival_on_the_way: 'demoted',
  departed_again: 'demoted',
  rail_departed_again: 'demoted',
  not_at_destination: 'demoted',
  part_load: 'demoted',
  unavailable_again: 'superseded',
  available_again: 'superseded',
  return_started: 'demoted',
  cancellation_taken_back: 'superseded',
  delivered_before: 'ignored',
  sailing_on: 'ignored',
  already_discharged: 'ignored',
  late_repeat: 'ignored',
  previous_trip: 'ignored',
  next_trip: 'ignored',
  container_not_used: 'ignored',
  newer_report: 'superseded',
  newest_estimate: 'counted',
  newer_estimate: 'superseded',
  later_estimate: 'superseded',
  destination_estimated: 'superseded',
  set_by_client: 'superseded',
  actual_time_known: 'ignored',
  estimates_nothing: 'ignored',
  estimated_elsewhere: 'ignored',
  planned: 'ignored',
  container_not_on_shipment: 'ignored',
  retracted: 'ignored',
} as const satisfies Readonly<Record<string, MilestoneResult>>;
export type MilestoneRule = keyof typeof MILESTONE_RESULTS_BY_RULE;

export const STATUS_RULE_NAMES = [
  'no_milestone',
  'highest_rank',
  'not_all_delivered',
  'lowest_of_delivered',
  'cancelled_by_client',
  'cancelled_by_milestone',
  'earlier_rules',
] as const;
export type StatusRule = (typeof STATUS_RULE_NAMES)[number];

export const RULES_DECIDING_SHIPMENT_TIMES = [
  'unknown',
  'set_by_client',
  'newest_estimate',
  'of_leg',
  'actual_time_known',
  'at_port',
  'earliest',
  'earlier_rules',
] as const;
export type TimeRule = (typeof RULES_DECIDING_SHIPMENT_TIMES)[number];

/** The effect of a milestone, and the rule that decides it. */
export interface MilestoneEffect {
  readonly result: MilestoneResult;
  readonly rule: MilestoneRule;
  /** The status that the milestone sets or confirms; null if it does not affect the status. */
  readonly counts_as: ShipmentStatus | null;
}

export interface MilestoneWithExplainedEffect extends MilestoneEffect {
  readonly milestone_id: string;
  readonly code: string;
  readonly classifier: Classifier;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  /** The container to which the milestone applies; null if it applies to all containers. */
  readonly container_number: string | null;
  /** Fields of the shipment whose values come from the milestone, such as `status`, `ata`, `legs[1].eta`. */
  readonly sets: readonly string[];
  /** Containers on which the milestone has a different effect, each with that effect. */
  readonly containers: readonly (MilestoneEffect & { readonly container_number: string })[];
}

/** A status, with the rule that decides it. */
export interface ExplainedStatus {
  readonly value: ShipmentStatus;
  readonly rule: StatusRule;
  /** Id of the milestone that set the status; null if no milestone did. */
  readonly milestone_id: string | null;
}

/** A time, with the rule that decides it. */
export interface ExplainedTime {
  readonly value: Timestamp | null;
  readonly rule: TimeRule;
  /** Id of the milestone that set the time; null if no milestone did. */
  readonly milestone_id: string | null;
}

/** Kinds of changes that resolve an exception. One such change is enough. */
export const RESOLUTION_TRIGGERS = [
  'milestone',
  'correction',
  'field_changed',
  'news',
  'cancellation_taken_back',
  'container_taken_off',
  'document_uploaded',
  'document_approved',
] as const;
export interface ExceptionResolutionConditions {
  readonly by: (typeof RESOLUTION_TRIGGERS)[number];
  /**
   * Milestone codes, for `milestone`: recording any one of them resolves the exception. The milestone must name the
   * exception's container, or no container.
   */
  readonly codes: readonly string[];
  /** Earliest date of a milestone that resolves the exception, for `milestone`; null if every date is accepted. */
  readonly occurred_from: Timestamp | null;
  /** Ids of milestones, for `correction`: correcting or retracting any one of them resolves the exception. */
  readonly milestone_ids: readonly string[];
  /** Required document types. The exception resolves when each type has a document. */
  readonly document_types: readonly DocumentType[];
  /**
   * Fields of the shipment or of the exception's container, for `field_changed`. A change of these fields can resolve
   * the exception.
   */
  readonly fields: readonly string[];
}

/**
 * Statuses of an explained exception. `expected`: the exception will open as time passes. `suppressed`: a person
 * resolved it, and its condition still exists.
 */
export const EXPLAINED_EXCEPTION_STATUSES = ['open', 'acknowledged', 'expected', 'suppressed'] as const;

/**
 * Explanation of an exception that is open, that will open, or that a person resolved while its condition still exists.
 */
export interface ExplainedException {
  /** Id of the exception; null until it opens. */
  readonly exception_id: string | null;
  readonly type: string;
  readonly container_number: string | null;
  readonly status: (typeof EXPLAINED_EXCEPTION_STATUSES)[number];
  /** The rule that opened the exception, or will open it; null if a person opened it. */
  readonly rule: string | null;
  /** The reason for the exception, as a text for people. */
  readonly because: string | null;
  /** The milestone that caused the exception. */
  readonly milestone_id: string | null;
  /** Time when the exception will open; null if it is open or opens with the next write. */
  readonly opens_at: Timestamp | null;
  /** Changes that resolve or prevent the exception. Empty if only a person can resolve it. */
  readonly resolved_by: readonly ExceptionResolutionConditions[];
}

/** Explanation of a shipment's status, times and exceptions. */
export interface ShipmentExplanation {
  readonly shipment_id: string;
  /** Version of the shipment that the explanation describes. */
  readonly version: number;
  readonly status: ExplainedStatus;
  readonly etd: ExplainedTime;
  readonly eta: ExplainedTime;
  readonly atd: ExplainedTime;
  readonly ata: ExplainedTime;
  readonly containers: readonly { readonly number: string; readonly status: ExplainedStatus }[];
  /** All milestones of the shipment, in timeline order. */
  readonly milestones: readonly MilestoneWithExplainedEffect[];
  readonly exceptions: readonly ExplainedException[];
}
