import type { MilestoneSource } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { Overridden } from './events/event-data.ts';
import type { TimelineEntry } from './state.ts';

type Field = keyof MilestoneInput;

export const NO_OVERRIDES: Overridden = Object.freeze({});

/** Further fields of the same statement, by field. If a feed changes one of them, the field counts as new too. */
const STATEMENT_FIELDS: Readonly<Record<Field, readonly Field[]>> = {
  code: [],
  occurred_at: ['classifier'],
  source: ['occurred_at', 'classifier'],
  classifier: ['occurred_at'],
  reason_code: [],
  location: [],
  timezone: ['location'],
  external_id: [],
  container_number: [],
  vessel: [],
  voyage: [],
  note: [],
};
const INPUT_FIELDS = Object.keys(STATEMENT_FIELDS) as readonly Field[];

/**
 * Reports whether the source is a feed. Feeds resend everything at each poll; each statement of a person is intended.
 */
export function isFeed(source: MilestoneSource): boolean {
  return source !== 'manual';
}

/** Returns the fields of a milestone that its sender sets. */
export function pickContent(milestone: MilestoneInput): MilestoneInput {
  return pickFields(() => milestone);
}

export function isSameContent(a: MilestoneInput, b: MilestoneInput): boolean {
  return INPUT_FIELDS.every((field) => a[field] === b[field]);
}

/** Returns the content that was last sent, without corrections by a person. */
export function restoreLastSentContent({
  milestone,
  overridden,
}: Pick<TimelineEntry, 'milestone' | 'overridden'>): MilestoneInput {
  return { ...pickContent(milestone), ...overridden };
}

/**
 * Returns the values of a feed that the content overrides; none if no feed sent the milestone.
 * @param sent the content that was last sent
 */
export function findOverridden(content: MilestoneInput, sent: MilestoneInput): Overridden {
  const differing = isFeed(sent.source) ? INPUT_FIELDS.filter((field) => content[field] !== sent[field]) : [];
  return differing.length === 0 ? NO_OVERRIDES : Object.fromEntries(differing.map((field) => [field, sent[field]]));
}

/**
 * Returns the content of a milestone after a feed sent it again. Values that are new for the feed count; all others
 * stay, including corrections by a person.
 */
export function mergeResentFields(entry: TimelineEntry, input: MilestoneInput): MilestoneInput {
  const sent = restoreLastSentContent(entry);
  const differs = (field: Field) => input[field] !== sent[field];
  return pickFields((field) => (differs(field) || STATEMENT_FIELDS[field].some(differs) ? input : entry.milestone));
}

/** Reports whether a feed still sends an estimate or plan of an event that a person has recorded as actual. */
export function isStillEstimated(entry: TimelineEntry, { classifier }: MilestoneInput): boolean {
  const happenedByHand =
    entry.milestone.classifier === 'actual' && restoreLastSentContent(entry).classifier !== 'actual';
  return happenedByHand && classifier !== 'actual';
}

/**
 * Reports whether a person corrected the milestone. Compares with the shared constant first, because this runs for each
 * milestone whenever a feed sends one, and few are overridden.
 */
export function isOverridden({ overridden }: Pick<TimelineEntry, 'overridden'>): boolean {
  return overridden !== NO_OVERRIDES && Object.keys(overridden).length > 0;
}

/**
 * Returns the overridden fields of a milestone after an event.
 * @param overridden the event's value; undefined if the event does not change it
 */
export function applyOverridden(
  previous: TimelineEntry | undefined,
  overridden: Overridden | undefined = previous?.overridden,
): Overridden {
  return overridden !== undefined && isOverridden({ overridden }) ? overridden : NO_OVERRIDES;
}

function pickFields(choose: (field: Field) => MilestoneInput): MilestoneInput {
  return Object.fromEntries(INPUT_FIELDS.map((field) => [field, choose(field)[field]])) as unknown as MilestoneInput;
}
