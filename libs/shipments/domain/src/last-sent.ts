import type { MilestoneSource } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { Overridden } from './events/event-data.ts';
import type { TimelineEntry } from './state.ts';

type Field = keyof MilestoneInput;

export const NO_OVERRIDES: Overridden = Object.freeze({});

/** Fields of the same statement, by field. If a feed changes one of them, the field itself counts as new too. */
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
 * Returns true if the source is a feed. Feeds resend everything with each poll; statements of a person are always
 * intended.
 */
export function isFeed(source: MilestoneSource): boolean {
  return source !== 'manual';
}

/** Returns those fields of a milestone that its sender sets. */
export function pickContent(milestone: MilestoneInput): MilestoneInput {
  return pickFields(() => milestone);
}

export function isSameContent(a: MilestoneInput, b: MilestoneInput): boolean {
  return INPUT_FIELDS.every((field) => a[field] === b[field]);
}

/** Returns the milestone's content as it was last sent, without corrections by a person. */
export function restoreLastSentContent({
  milestone,
  overridden,
}: Pick<TimelineEntry, 'milestone' | 'overridden'>): MilestoneInput {
  return { ...pickContent(milestone), ...overridden };
}

/**
 * Returns the values of a feed that the new content overrides; empty if no feed sent the milestone.
 * @param sent content that was last sent
 */
export function findOverridden(content: MilestoneInput, sent: MilestoneInput): Overridden {
  const differing = isFeed(sent.source) ? INPUT_FIELDS.filter((field) => content[field] !== sent[field]) : [];
  return differing.length === 0 ? NO_OVERRIDES : Object.fromEntries(differing.map((field) => [field, sent[field]]));
}

/**
 * Returns a milestone's content after a feed sent the milestone again. Values that are new for the feed apply; all
 * other values stay, including corrections by a person.
 */
export function mergeResentFields(entry: TimelineEntry, input: MilestoneInput): MilestoneInput {
  const sent = restoreLastSentContent(entry);
  const differs = (field: Field) => input[field] !== sent[field];
  return pickFields((field) => (differs(field) || STATEMENT_FIELDS[field].some(differs) ? input : entry.milestone));
}

/** Returns true if a feed still sends an estimate or plan for an event that a person has recorded as actual. */
export function isStillEstimated(entry: TimelineEntry, { classifier }: MilestoneInput): boolean {
  const happenedByHand =
    entry.milestone.classifier === 'actual' && restoreLastSentContent(entry).classifier !== 'actual';
  return happenedByHand && classifier !== 'actual';
}

/**
 * Returns true if a person corrected the milestone. It first compares with the shared constant, because it runs for
 * each milestone whenever a feed sends one, and few milestones are overridden.
 */
export function isOverridden({ overridden }: Pick<TimelineEntry, 'overridden'>): boolean {
  return overridden !== NO_OVERRIDES && Object.keys(overridden).length > 0;
}

/**
 * Returns the overridden values of a milestone after an event.
 * @param overridden the event's value; undefined if the event does not change them
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
