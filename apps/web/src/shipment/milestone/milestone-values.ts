import type { BodyOf, Milestone, MilestoneFields } from '@tracking/client';
import type { Classifier, Reason, Source } from '../milestone-labels.ts';
import { wallClockOf, instantOf } from '../../values/zones.ts';

/** What a form of a milestone holds: everything as its inputs do, empty where nothing is said. */
export interface MilestoneValues {
  readonly code: string;
  readonly classifier: Classifier;
  /** By the clocks of the zone that was chosen. */
  readonly occurred_at: string;
  readonly location: string;
  readonly container_number: string | null;
  readonly source: Source;
  readonly reason_code: Reason | null;
  readonly vessel: string;
  readonly voyage: string;
  readonly note: string;
  readonly external_id: string;
}
export type MilestoneChanges = BodyOf<'correctMilestone'>;

/** All but what its time is. */
const SAID = [
  ...(['code', 'classifier', 'location', 'container_number', 'reason_code'] as const),
  ...(['vessel', 'voyage', 'note', 'external_id'] as const),
] as const;

export function blankMilestone(now: string, zone: string): MilestoneValues {
  const texts = { code: '', location: '', vessel: '', voyage: '', note: '', external_id: '' };
  const choices = { classifier: 'actual', source: 'manual', container_number: null, reason_code: null } as const;
  return { ...texts, ...choices, occurred_at: wallClockOf(now, zone) };
}

export function valuesOf(milestone: Milestone, zone: string): MilestoneValues {
  const { code, classifier, container_number, source, reason_code } = milestone;
  const text = (value: string | null) => value ?? '';
  return {
    ...{ code, classifier, container_number, source, reason_code },
    occurred_at: wallClockOf(milestone.occurred_at, zone),
    location: text(milestone.location),
    vessel: text(milestone.vessel),
    voyage: text(milestone.voyage),
    note: text(milestone.note),
    external_id: text(milestone.external_id),
  };
}

/** What is sent to record it. */
export function bodyOf(values: MilestoneValues, zone: string): MilestoneFields {
  const said = Object.entries({ ...values, occurred_at: instantIfAny(values.occurred_at, zone) });
  return Object.fromEntries(
    said.filter(([, value]) => value !== '' && value !== null).map(([name, value]) => [name, trimmed(value)]),
  ) as unknown as MilestoneFields;
}

/** What is sent to correct it: what differs, null where it was cleared. The seconds of a time that nobody touched stay. */
export function changesOf(before: Milestone, values: MilestoneValues, zone: string): MilestoneChanges {
  const changed = SAID.map((name) => [name, trimmed(values[name]) || null] as const).filter(
    ([name, value]) => value !== before[name],
  );
  const isSameTime = values.occurred_at === wallClockOf(before.occurred_at, zone);
  const occurred_at = isSameTime ? undefined : instantIfAny(values.occurred_at, zone);
  return { ...Object.fromEntries(changed), ...(occurred_at !== undefined && { occurred_at }) } as MilestoneChanges;
}

function trimmed(value: string | null): string | null {
  return typeof value === 'string' ? value.trim() : value;
}

/** What is no time goes as it is: the service says what is wrong with it. */
function instantIfAny(wallClock: string, zone: string): string {
  return instantOf(wallClock, zone) ?? wallClock;
}
