import type { Milestone } from '@tracking/client';
import { CLASSIFIER_LABELS, SOURCE_LABELS, reasonLabel } from '../milestone-labels.ts';

/** What may be corrected of a milestone, as people call it. */
export const FIELD_LABELS = {
  code: 'What happened',
  classifier: 'Kind',
  occurred_at: 'When',
  location: 'Where',
  container_number: 'Container',
  reason_code: 'Reason',
  vessel: 'Vessel',
  voyage: 'Voyage',
  note: 'Note',
  external_id: 'Your reference',
  timezone: 'Time zone',
} as const satisfies Partial<Record<keyof Milestone, string>>;
export type MilestoneField = keyof typeof FIELD_LABELS;
type Said = Pick<Milestone, MilestoneField>;

const FIELDS = Object.keys(FIELD_LABELS) as MilestoneField[];

/** In which of its fields it differs. */
export function differences(from: Said, to: Said): MilestoneField[] {
  return FIELDS.filter((field) => from[field] !== to[field]);
}

/** What a field says, for people; times are shown by whoever shows it. */
export function sayingOf(milestone: Said & Pick<Milestone, 'label'>, field: MilestoneField): string {
  const value = milestone[field];
  if (value === null) return '—';
  if (field === 'code') return milestone.label;
  if (field === 'classifier') return CLASSIFIER_LABELS[milestone.classifier];
  if (field === 'reason_code' && milestone.reason_code !== null) return reasonLabel(milestone.reason_code);
  return value;
}

export function sourceOf({ source }: Pick<Milestone, 'source'>): string {
  return SOURCE_LABELS[source];
}

export function isSameRevision(one: Milestone, other: Milestone): boolean {
  return one.revision === other.revision;
}
