import type { AnswerOf } from '@tracking/client';
import { DOCUMENT_TYPE_LABELS } from '../labels.ts';

export type Explanation = AnswerOf<'explainShipment'>;
export type ExplainedMilestone = Explanation['milestones'][number];
export type ExplainedException = Explanation['exceptions'][number];
type StatusRule = Explanation['status']['rule'];
type TimeRule = Explanation['eta']['rule'];
type MilestoneRule = ExplainedMilestone['rule'];
export type MilestoneResult = ExplainedMilestone['result'];
export type ResolvedBy = ExplainedException['resolved_by'][number];

export const STATUS_RULE_LABELS: Readonly<Record<StatusRule, string>> = {
  no_milestone: 'No milestone that sets the status yet',
  highest_rank: 'Most advanced status of all milestones',
  not_all_delivered: 'Not all containers are delivered',
  lowest_of_delivered: 'All containers are delivered: the least advanced one decides',
  cancelled_by_client: 'Cancelled by a user or system',
  cancelled_by_milestone: 'Cancelled by a milestone',
  earlier_rules: 'Derived by rules of an earlier release, until the next update',
};

export const TIME_RULE_LABELS: Readonly<Record<TimeRule, string>> = {
  unknown: 'Not reported',
  set_by_client: 'Set on the shipment',
  newest_estimate: 'Newest estimate; with several containers, the latest of them',
  of_leg: 'Taken from the first or last leg',
  actual_time_known: 'Actual time is known, so the estimate no longer changes',
  at_port: 'Earliest milestone at the port of the shipment',
  earliest: 'Earliest departure, or earliest arrival after the last departure',
  earlier_rules: 'Derived by rules of an earlier release, until the next update',
};

export const MILESTONE_STATUS_EFFECT_LABELS: Readonly<Record<MilestoneResult, string>> = {
  counted: 'Counted',
  demoted: 'Demoted',
  superseded: 'Superseded',
  ignored: 'Ignored',
};

export const MILESTONE_RULE_LABELS: Readonly<Record<MilestoneRule, string>> = {
  status_of_code: 'status of the milestone code',
  status_of_mode: 'status of the milestone code in this mode',
  leaves_status: 'does not affect the status, but may affect exceptions and times',
  newest_estimate: 'newest estimate, which sets a time',
  arrival_on_the_way: 'arrival at an intermediate stop',
  not_at_destination: 'not at the destination',
  departed_again: 'departed again later',
  rail_departed_again: 'departed again later by rail',
  part_load: 'part load: the container is shared with other shipments',
  unavailable_again: 'became unavailable later',
  available_again: 'became available for pickup later',
  return_started: 'the return to the shipper started',
  cancellation_taken_back: 'booking was confirmed again later',
  newer_report: 'replaced by a later report of the same visit',
  newer_estimate: 'replaced by a newer estimate',
  later_estimate: 'another container has a later estimate',
  destination_estimated: 'the arrival at the destination has its own estimate',
  set_by_client: 'the time was set on the shipment later',
  sailing_on: 'the vessel left the destination without the goods',
  already_discharged: 'the vessel sailed on after it discharged the container',
  late_repeat: 'late repetition of the departure',
  previous_trip: 'belongs to a previous trip of the container',
  next_trip: 'belongs to the next trip of the container',
  container_not_used: 'the empty container was returned without having been used',
  delivered_before: 'cannot cancel a delivered shipment',
  actual_time_known: 'the actual time is already known',
  estimates_nothing: 'estimates of this code set no time',
  estimated_elsewhere: 'the place is not a port of the shipment',
  planned: 'planned milestones set no values',
  container_not_on_shipment: 'the container was removed from the shipment',
  retracted: 'the milestone was retracted',
};

/** Returns the label of a field by its path, such as "ETA of leg 2" for `legs[1].eta`. */
export function getFieldPathLabel(field: string): string {
  const [, leg, name = field] = /^legs\[(\d+)\]\.(.+)$/.exec(field) ?? [];
  const label = FIELD_LABELS[name] ?? name.replaceAll('_', ' ');
  return leg === undefined ? label : `${label} of leg ${Number(leg) + 1}`;
}

const FIELD_LABELS: Readonly<Partial<Record<string, string>>> = {
  ...{ status: 'Status', etd: 'ETD', eta: 'ETA', atd: 'ATD', ata: 'ATA' },
  ...{ last_free_day: 'last free day', empty_return_by: 'empty return date' },
};

/** Labels of milestone codes, by code. An unknown code is shown as it is. */
export type CodeLabels = ReadonlyMap<string, string>;

/** Describes the event that resolves an exception, such as "approval of a document". */
export function describeResolvingEvent({ by, codes, fields, document_types }: ResolvedBy, labels: CodeLabels): string {
  const milestones = joinWithOr(codes.map((code) => labels.get(code) ?? code));
  const types = document_types.map((type) => DOCUMENT_TYPE_LABELS[type]).join(' and ');
  const sentences: Readonly<Record<ResolvedBy['by'], string>> = {
    milestone: `a milestone: ${milestones}`,
    correction: 'correction or retraction of the milestone that caused the exception',
    field_changed: `change of ${joinWithOr(fields.map(getFieldPathLabel))}`,
    news: 'any new milestone or changed ETA',
    cancellation_taken_back: 'reopening of the shipment',
    container_taken_off: 'removal of the container from the shipment',
    document_uploaded: `upload of a document: ${types}`,
    document_approved: `approval of a document: ${types}`,
  };
  return sentences[by];
}

function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
