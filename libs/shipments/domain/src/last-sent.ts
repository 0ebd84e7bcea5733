import type { MilestoneSource } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { Overridden } from './events/event-data.ts';
import type { TimelineEntry } from './state.ts';

type Field = keyof MilestoneInput;

export const NOT_OVERRIDDEN: Overridden = Object.freeze({});

/** Where a field counts as new for a feed because another one is: together they say one thing. */
const SAID_WITH: Readonly<Record<Field, readonly Field[]>> = {
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
const FIELDS = Object.keys(SAID_WITH) as readonly Field[];

/** Feeds resend all they know at every poll; what a person says is meant each time. */
export function isFeed(source: MilestoneSource): boolean {
  return source !== 'manual';
}

/** What a milestone says that its sender chose. */
export function contentOf(milestone: MilestoneInput): MilestoneInput {
  return fieldsFrom(() => milestone);
}

export function isSameContent(a: MilestoneInput, b: MilestoneInput): boolean {
  return FIELDS.every((field) => a[field] === b[field]);
}

/** What was last sent of a milestone, whatever a person made of it since. */
export function lastSent({ milestone, overridden }: Pick<TimelineEntry, 'milestone' | 'overridden'>): MilestoneInput {
  return { ...contentOf(milestone), ...overridden };
}

/**
 * What of a feed's last word is overridden by a milestone that says this now; nothing where no feed sent it.
 * @param sent what was last sent
 */
export function overriddenBy(content: MilestoneInput, sent: MilestoneInput): Overridden {
  const differing = isFeed(sent.source) ? FIELDS.filter((field) => content[field] !== sent[field]) : [];
  return differing.length === 0 ? NOT_OVERRIDDEN : Object.fromEntries(differing.map((field) => [field, sent[field]]));
}

/**
 * What a milestone says after a feed sent it again: what is new for the feed counts, and all else stays as it is, corrected
 * by hand or not.
 */
export function withNews(entry: TimelineEntry, input: MilestoneInput): MilestoneInput {
  const sent = lastSent(entry);
  const differs = (field: Field) => input[field] !== sent[field];
  return fieldsFrom((field) => (differs(field) || SAID_WITH[field].some(differs) ? input : entry.milestone));
}

/** Whether a feed goes on estimating what a person said has happened: that is no news of it. */
export function isEstimatedStill(entry: TimelineEntry, { classifier }: MilestoneInput): boolean {
  const happenedByHand = entry.milestone.classifier === 'actual' && lastSent(entry).classifier !== 'actual';
  return happenedByHand && classifier !== 'actual';
}

/** Of nearly all milestones nothing is: this is asked of each at every word of a feed. */
export function isOverridden({ overridden }: Pick<TimelineEntry, 'overridden'>): boolean {
  return overridden !== NOT_OVERRIDDEN && Object.keys(overridden).length > 0;
}

/**
 * The overridden fields of a milestone after an event.
 * @param overridden of the event; undefined if the event does not change them
 */
export function overriddenAfter(
  previous: TimelineEntry | undefined,
  overridden: Overridden | undefined = previous?.overridden,
): Overridden {
  return overridden !== undefined && isOverridden({ overridden }) ? overridden : NOT_OVERRIDDEN;
}

function fieldsFrom(choose: (field: Field) => MilestoneInput): MilestoneInput {
  return Object.fromEntries(FIELDS.map((field) => [field, choose(field)[field]])) as unknown as MilestoneInput;
}
