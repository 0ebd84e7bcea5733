import type { Milestone, MilestoneSource } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { Overridden } from './events/event-data.ts';
import { computeEndOfDay, toLocalDate } from './local-time.ts';
import type { TimelineEntry } from './state.ts';

/** The fields of a milestone that describe what happened. `reported_at` only decides which report counts. */
export type MilestoneContent = Omit<MilestoneInput, 'reported_at'>;
type Field = keyof MilestoneContent;
/** A milestone as it was last sent. */
export type SentMilestone = MilestoneContent & Pick<Milestone, 'reported_at'>;

export const NO_OVERRIDDEN_VALUES: Overridden = Object.freeze({});

/**
 * For each field, the other fields that belong to the same statement. If a feed changes one of those, this field counts
 * as new too.
 */
const FIELDS_THAT_CHANGE_TOGETHER: Readonly<Record<Field, readonly Field[]>> = {
  code: [],
  occurred_at: ['classifier', 'occurred_at_precision'],
  occurred_at_precision: ['classifier', 'occurred_at'],
  source: ['occurred_at', 'classifier'],
  classifier: ['occurred_at', 'occurred_at_precision'],
  reason_code: [],
  location: [],
  timezone: ['location'],
  external_id: [],
  container_number: [],
  vessel: [],
  voyage: [],
  note: [],
  latitude: ['location', 'longitude'],
  longitude: ['location', 'latitude'],
  terminal: ['location'],
  imo: ['vessel'],
  pieces: [],
  temperature_celsius: [],
};
const MILESTONE_INPUT_FIELDS = Object.keys(FIELDS_THAT_CHANGE_TOGETHER) as readonly Field[];

/**
 * Returns true if the source is a feed. Feeds resend everything with each poll; statements of a person are always
 * intended.
 */
export function isFeedSource(source: MilestoneSource): boolean {
  return source !== 'manual';
}

/** Returns those fields of a milestone that its sender sets. */
export function pickFieldsSetBySender(milestone: MilestoneContent): MilestoneContent {
  return chooseMilestoneContentPerField(() => milestone);
}

export function isSameMilestoneContent(a: MilestoneContent, b: MilestoneContent): boolean {
  return MILESTONE_INPUT_FIELDS.every((field) => a[field] === b[field]);
}

/** Returns the milestone's content as it was last sent, without corrections by a person. */
export function getMilestoneAsLastSent({
  milestone,
  overridden,
}: Pick<TimelineEntry, 'milestone' | 'overridden'>): SentMilestone {
  return { ...pickFieldsSetBySender(milestone), reported_at: milestone.reported_at, ...overridden };
}

/**
 * Returns the values of a feed that the new content overrides, with the time of its report; empty if no feed sent the
 * milestone.
 * @param sent content that was last sent
 */
export function findOverriddenFeedValues(content: MilestoneContent, sent: SentMilestone): Overridden {
  const differing = isFeedSource(sent.source) ? listDifferentMilestoneFields(content, sent) : [];
  if (differing.length === 0) return NO_OVERRIDDEN_VALUES;
  const { reported_at } = sent;
  return { ...Object.fromEntries(differing.map((field) => [field, sent[field]])), reported_at };
}

function listDifferentMilestoneFields(a: MilestoneContent, b: MilestoneContent): readonly Field[] {
  return MILESTONE_INPUT_FIELDS.filter((field) => a[field] !== b[field]);
}

/** Returns the names of the fields of a feed that values of a person override. */
export function listOverriddenFields(overridden: Overridden): readonly string[] {
  return Object.keys(overridden).filter((field) => field !== 'reported_at' && field !== 'occurred_at_precision');
}

/**
 * Returns a milestone's content after a feed sent the milestone again. Values that are new for the feed apply; all
 * other values stay, including corrections by a person.
 */
export function mergeResentFields(entry: TimelineEntry, input: MilestoneContent): MilestoneContent {
  const sent = getMilestoneAsLastSent(entry);
  const differs = (field: Field) => input[field] !== sent[field];
  const isNew = (field: Field) => differs(field) || FIELDS_THAT_CHANGE_TOGETHER[field].some(differs);
  const merged = chooseMilestoneContentPerField((field) => (isNew(field) ? input : entry.milestone));
  if (merged.occurred_at_precision !== 'day' || !isNew('occurred_at') || merged.timezone === input.timezone)
    return merged;
  // A new day of the feed is that day at the place that a person set.
  const occurred_at = computeEndOfDay(toLocalDate(input.occurred_at, input.timezone), merged.timezone);
  return { ...merged, occurred_at };
}

/** Returns true if a feed still sends an estimate or plan for an event that a person has recorded as actual. */
export function isEstimateOfEventRecordedByHand(entry: TimelineEntry, { classifier }: MilestoneContent): boolean {
  const happenedByHand =
    entry.milestone.classifier === 'actual' && getMilestoneAsLastSent(entry).classifier !== 'actual';
  return happenedByHand && classifier !== 'actual';
}

/**
 * Returns true if a person corrected the milestone. It first compares with the shared constant, because it runs for
 * each milestone whenever a feed sends one, and few milestones are overridden.
 */
export function isMilestoneCorrectedByPerson({ overridden }: Pick<TimelineEntry, 'overridden'>): boolean {
  return overridden !== NO_OVERRIDDEN_VALUES && Object.keys(overridden).length > 0;
}

/**
 * Returns the overridden values of a milestone after an event.
 * @param overridden the event's value; undefined if the event does not change them
 */
export function getOverriddenValuesAfterEvent(
  previous: TimelineEntry | undefined,
  overridden: Overridden | undefined = previous?.overridden,
): Overridden {
  return overridden !== undefined && isMilestoneCorrectedByPerson({ overridden }) ? overridden : NO_OVERRIDDEN_VALUES;
}

function chooseMilestoneContentPerField(choose: (field: Field) => MilestoneContent): MilestoneContent {
  return Object.fromEntries(
    MILESTONE_INPUT_FIELDS.map((field) => [field, choose(field)[field]]),
  ) as unknown as MilestoneContent;
}
