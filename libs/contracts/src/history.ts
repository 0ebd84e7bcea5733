import type { DocumentType } from './documents.ts';
import type { Actor, Classifier, MilestoneSource, ShipmentStatus, Timestamp } from './shipment.ts';

/** What an entry of a shipment's history tells of. */
export const HISTORY_TYPES = [
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
export type HistoryType = (typeof HISTORY_TYPES)[number];

/** By field, what it was and what it is since; `milestone`, `exception` and `document` are whole, null where there is none. */
export type HistoryChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** Something that happened to a shipment. */
export interface HistoryEntry {
  /** Of the public event, where it was announced. */
  readonly id: string;
  readonly type: HistoryType;
  readonly at: Timestamp;
  readonly actor: Actor & { readonly name: string | null };
  readonly changes: HistoryChanges;
  /** Of the shipment right after. */
  readonly version: number;
}

/** Where an estimated arrival comes from: a milestone's source, or `client` for what was set on the shipment. */
export type EtaSource = MilestoneSource | 'client';

/** What set an estimated arrival. */
export interface EtaSetBy {
  readonly source: EtaSource;
  /** Null where a client set it. */
  readonly milestone_id: string | null;
  /** Of the milestone. */
  readonly reason_code: string | null;
}

/** A change of a shipment's `eta`. */
export interface EtaChange extends EtaSetBy {
  readonly eta: Timestamp | null;
  readonly previous_eta: Timestamp | null;
  /** By how many hours it moved, to the hundredth; negative when it is earlier, null without one of the two. */
  readonly slip_hours: number | null;
  readonly reported_at: Timestamp;
}

/** What a milestone does: it counts, counts for less than its code says, is overtaken by another, or counts for nothing. */
export const MILESTONE_RESULTS = ['counted', 'demoted', 'superseded', 'ignored'] as const;
export type MilestoneResult = (typeof MILESTONE_RESULTS)[number];

/** Every rule about what a milestone counts as, and what comes of it: docs/reference/shipments.md#explanation. Never renamed. */
export const MILESTONE_RULES = {
  status_of_code: 'counted',
  status_of_mode: 'counted',
  leaves_status: 'counted',
  arrival_on_the_way: 'demoted',
  departed_again: 'demoted',
  rail_departed_again: 'demoted',
  part_load: 'demoted',
  unavailable_again: 'superseded',
  cancellation_taken_back: 'superseded',
  delivered_before: 'ignored',
  sailing_on: 'ignored',
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
export type MilestoneRule = keyof typeof MILESTONE_RULES;

export const STATUS_RULES = [
  'no_milestone',
  'highest_rank',
  'not_all_delivered',
  'lowest_of_delivered',
  'cancelled_by_client',
  'cancelled_by_milestone',
  'earlier_rules',
] as const;
export type StatusRule = (typeof STATUS_RULES)[number];

export const TIME_RULES = [
  'unknown',
  'set_by_client',
  'newest_estimate',
  'of_leg',
  'actual_time_known',
  'at_port',
  'earliest',
  'earlier_rules',
] as const;
export type TimeRule = (typeof TIME_RULES)[number];

/** What a milestone counts as, and why. */
export interface MilestoneEffect {
  readonly result: MilestoneResult;
  readonly rule: MilestoneRule;
  /** The status that it counts as; null where it leaves the status alone. */
  readonly counts_as: ShipmentStatus | null;
}

export interface ExplainedMilestone extends MilestoneEffect {
  readonly milestone_id: string;
  readonly code: string;
  readonly classifier: Classifier;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  /** The container that it names; null for all. */
  readonly container_number: string | null;
  /** Fields of the shipment that have their value from it: `status`, `ata`, `legs[1].eta`. */
  readonly sets: readonly string[];
  /** Containers for which it is something else than what stands above, each with that. */
  readonly containers: readonly (MilestoneEffect & { readonly container_number: string })[];
}

/** A status, and how it came. */
export interface ExplainedStatus {
  readonly value: ShipmentStatus;
  readonly rule: StatusRule;
  /** That set it. */
  readonly milestone_id: string | null;
}

/** A time, and how it came. */
export interface ExplainedTime {
  readonly value: Timestamp | null;
  readonly rule: TimeRule;
  /** That set it. */
  readonly milestone_id: string | null;
}

/** By what an exception resolves by itself; each alone is enough. */
export const RESOLVED_BY = [
  'milestone',
  'correction',
  'field_changed',
  'news',
  'cancellation_taken_back',
  'container_taken_off',
  'document_uploaded',
  'document_approved',
] as const;
export interface ResolvedBy {
  /** A milestone of one of the codes, the correction or retraction of one that is there, another value of a field, … */
  readonly by: (typeof RESOLVED_BY)[number];
  /** Of `milestone`: for the container of the exception, or for none. */
  readonly codes: readonly string[];
  /** Of `milestone`: not dated before it; null where that does not matter. */
  readonly occurred_from: Timestamp | null;
  /** Of `correction`. */
  readonly milestone_ids: readonly string[];
  /** Of documents: one of each of these types. */
  readonly document_types: readonly DocumentType[];
  /** Of `field_changed`: of the shipment, or of the container of the exception. */
  readonly fields: readonly string[];
}

/** `expected`: time will open it; `suppressed`: a person resolved it, and what was wrong has not ended since. */
export const EXPLAINED_EXCEPTION_STATUSES = ['open', 'acknowledged', 'expected', 'suppressed'] as const;

/** An exception that is not resolved, one that will open, or one that would if no person had resolved it. */
export interface ExplainedException {
  /** Null until it opens. */
  readonly exception_id: string | null;
  readonly type: string;
  readonly container_number: string | null;
  readonly status: (typeof EXPLAINED_EXCEPTION_STATUSES)[number];
  /** The rule that opened it, or will; null where a person did. */
  readonly rule: string | null;
  /** Why, for people. */
  readonly because: string | null;
  /** That showed it. */
  readonly milestone_id: string | null;
  /** When it will open; null for one that has, and for one that opens with the next write. */
  readonly opens_at: Timestamp | null;
  /** What resolves it, or keeps it from opening. Empty where only a person does. */
  readonly resolved_by: readonly ResolvedBy[];
}

/** Why a shipment is what it is. */
export interface ShipmentExplanation {
  readonly shipment_id: string;
  /** Of the shipment that is explained. */
  readonly version: number;
  readonly status: ExplainedStatus;
  readonly etd: ExplainedTime;
  readonly eta: ExplainedTime;
  readonly atd: ExplainedTime;
  readonly ata: ExplainedTime;
  readonly containers: readonly { readonly number: string; readonly status: ExplainedStatus }[];
  /** All of them, in the order of their list. */
  readonly milestones: readonly ExplainedMilestone[];
  readonly exceptions: readonly ExplainedException[];
}
