import type { AnswerOf } from '@tracking/client';
import { DOCUMENT_LABELS } from '../labels.ts';

export type Explanation = AnswerOf<'explainShipment'>;
export type ExplainedMilestone = Explanation['milestones'][number];
export type ExplainedException = Explanation['exceptions'][number];
type StatusRule = Explanation['status']['rule'];
type TimeRule = Explanation['eta']['rule'];
type MilestoneRule = ExplainedMilestone['rule'];
export type MilestoneResult = ExplainedMilestone['result'];
export type ResolvedBy = ExplainedException['resolved_by'][number];

export const STATUS_RULE_LABELS: Readonly<Record<StatusRule, string>> = {
  no_milestone: 'Nothing that counts has happened yet',
  highest_rank: 'The furthest that its milestones tell',
  not_all_delivered: 'Some containers are delivered, others are not',
  lowest_of_delivered: 'All containers are delivered: it is as far as the last of them',
  cancelled_by_client: 'It was cancelled by hand',
  cancelled_by_milestone: 'A milestone cancelled it',
  earlier_rules: 'Decided by rules of an earlier release, until the next write',
};

export const TIME_RULE_LABELS: Readonly<Record<TimeRule, string>> = {
  unknown: 'Nobody says it',
  set_by_client: 'Set on the shipment',
  newest_estimate: 'The newest estimate; of several containers the latest',
  of_leg: 'That of the first or last leg',
  actual_time_known: 'It has happened: the estimate stays as it was',
  at_port: 'The earliest at the shipment’s port',
  earliest: 'The earliest departure, or the earliest arrival after the last one',
  earlier_rules: 'Decided by rules of an earlier release, until the next write',
};

export const RESULT_LABELS: Readonly<Record<MilestoneResult, string>> = {
  counted: 'Counts',
  demoted: 'Counts for less',
  superseded: 'Overtaken',
  ignored: 'Counts for nothing',
};

export const MILESTONE_RULE_LABELS: Readonly<Record<MilestoneRule, string>> = {
  status_of_code: 'as its code says',
  status_of_mode: 'as its code means in this mode',
  leaves_status: 'leaves the status alone; exceptions and times may count it',
  newest_estimate: 'the estimate that sets a time',
  arrival_on_the_way: 'it arrived at a stop on the way',
  departed_again: 'it departed again later',
  rail_departed_again: 'a later train took it on',
  part_load: 'a part load: others’ goods share the container',
  unavailable_again: 'it was unavailable again later',
  cancellation_taken_back: 'the booking was confirmed again later',
  newer_estimate: 'a newer estimate took its place',
  later_estimate: 'another container is expected later',
  destination_estimated: 'the arrival at the destination itself is estimated',
  set_by_client: 'the time was set on the shipment since',
  sailing_on: 'the ship left the destination: the goods did not',
  delivered_before: 'it cancels what is delivered',
  actual_time_known: 'it estimates what has happened',
  estimates_nothing: 'an estimate of it sets no time',
  estimated_elsewhere: 'its place is no port of the shipment',
  planned: 'plans are kept, and set nothing',
  container_not_on_shipment: 'its container was taken off the shipment',
  retracted: 'it was retracted',
};

/** Turns `legs[1].eta` into "ETA of leg 2". */
export function fieldLabel(field: string): string {
  const [, leg, name = field] = /^legs\[(\d+)\]\.(.+)$/.exec(field) ?? [];
  const label = FIELD_LABELS[name] ?? name.replaceAll('_', ' ');
  return leg === undefined ? label : `${label} of leg ${Number(leg) + 1}`;
}

const FIELD_LABELS: Readonly<Partial<Record<string, string>>> = {
  ...{ status: 'Status', etd: 'ETD', eta: 'ETA', atd: 'ATD', ata: 'ATA' },
  ...{ last_free_day: 'last free day', empty_return_by: 'day of empty return' },
};

/** Labels of milestone codes. Unknown codes are shown as they are. */
export type CodeLabels = ReadonlyMap<string, string>;

/** Explains what resolves an exception. */
export function resolvedByLabel({ by, codes, fields, document_types }: ResolvedBy, labels: CodeLabels): string {
  const milestones = joinWithOr(codes.map((code) => labels.get(code) ?? code));
  const types = document_types.map((type) => DOCUMENT_LABELS[type]).join(' and ');
  const sentences: Readonly<Record<ResolvedBy['by'], string>> = {
    milestone: `a milestone: ${milestones}`,
    correction: 'the correction or retraction of the milestone behind it',
    field_changed: `another ${joinWithOr(fields.map(fieldLabel))}`,
    news: 'any news: a milestone, or another ETA',
    cancellation_taken_back: 'the shipment is reopened',
    container_taken_off: 'its container is taken off the shipment',
    document_uploaded: `a document is uploaded: ${types}`,
    document_approved: `a document is approved: ${types}`,
  };
  return sentences[by];
}

function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}
