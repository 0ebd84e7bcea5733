import type { Milestone, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import type { Overridden } from './events/event-data.ts';
import { isFeed, isOverridden, restoreLastSentContent, applyOverridden } from './last-sent.ts';
import { toComparablePlace } from './references.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';

/** Changes that an event makes to the timeline. */
export interface MilestoneChanges {
  /** The new or changed milestone. */
  readonly milestone: Milestone;
  readonly isNew: boolean;
  /** Ids of estimates whose `superseded_at` is set to `at`. */
  readonly superseded: readonly string[];
  /** Ids of estimates whose `superseded_at` is set to null. */
  readonly restored: readonly string[];
  readonly at: Timestamp;
  /** Values that a feed last sent and that values of a person override; absent if the event does not change them. */
  readonly overridden?: Overridden;
}

/** Inserts a milestone or moves a changed one, and marks the estimates that it replaces. Modifies the list. */
export function putMilestone(timeline: TimelineEntry[], changes: MilestoneChanges, revision: number): void {
  const { milestone, superseded, restored, at, overridden } = changes;
  const place = changes.isNew ? -1 : timeline.findIndex((entry) => entry.milestone.id === milestone.id);
  const previous = timeline[place];
  if (place >= 0) timeline.splice(place, 1);
  setSupersededAt(timeline, superseded, at);
  setSupersededAt(timeline, restored, null);
  const becameActual = milestone.classifier === 'actual' && previous?.milestone.classifier !== 'actual';
  const isStatedBefore =
    previous !== undefined &&
    isSameStatement(previous.milestone, milestone) &&
    !isCurrentAgain(previous.milestone, milestone);
  insertEntry(timeline, {
    milestone,
    recorded: previous === undefined || becameActual ? revision : previous.recorded,
    written: isStatedBefore ? previous.written : revision,
    overridden: applyOverridden(previous, overridden),
  });
}

/** Returns true if a superseded estimate becomes the current one. */
function isCurrentAgain(previous: Milestone, { superseded_at }: Milestone): boolean {
  return previous.superseded_at !== null && superseded_at === null;
}

function setSupersededAt(timeline: TimelineEntry[], ids: readonly string[], superseded_at: Timestamp | null): void {
  for (const id of ids) {
    const place = timeline.findIndex((entry) => entry.milestone.id === id);
    const entry = timeline[place];
    if (entry !== undefined) timeline[place] = { ...entry, milestone: { ...entry.milestone, superseded_at } };
  }
}

/**
 * Inserts an entry in timeline order. Tries the end of the list first, because nearly all milestones arrive in order.
 */
function insertEntry(timeline: TimelineEntry[], entry: TimelineEntry): void {
  const isLater = (other: Milestone) => compareMilestones(other, entry.milestone) > 0;
  const last = timeline.at(-1);
  const place = last !== undefined && isLater(last.milestone) ? findFirstIndex(timeline, isLater) : timeline.length;
  timeline.splice(place, 0, entry);
}

/**
 * Returns the index of the first entry of a sorted list for which `isLate` is true; the length of the list if there is
 * none.
 */
export function findFirstIndex(entries: readonly TimelineEntry[], isLate: (milestone: Milestone) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry === undefined || isLate(entry.milestone)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A recorded milestone that a posted milestone repeats. */
export interface RepeatedMilestone {
  readonly entry: TimelineEntry;
  /**
   * Kind of the repetition. `external_id`: the posted milestone may correct the recorded one. `content`: there is
   * nothing to correct. `overridden`: a feed repeats its last values, which a person has corrected or retracted since.
   */
  readonly by: 'external_id' | 'content' | 'overridden';
}

/**
 * Finds the recorded milestone that a posted one repeats: the milestone with the same `external_id`, otherwise a
 * milestone with the same code, time, container, location and source, unless both have an `external_id`. An actual
 * milestone does not repeat an estimate of the same time, and a person's milestone does not repeat a retracted one. A
 * feed also repeats what it last sent. That match comes first if only people sent the milestone with the `external_id`,
 * because they may have replaced the feed's milestone with it.
 */
export function findDuplicate(
  timeline: readonly TimelineEntry[],
  input: MilestoneInput,
): RepeatedMilestone | undefined {
  const byId = findByExternalId(timeline, input);
  if (byId !== undefined) {
    const isOfPeople = !isFeed(restoreLastSentContent(byId).source);
    return (isOfPeople ? findOverridden(timeline, input) : undefined) ?? { entry: byId, by: 'external_id' };
  }
  const byContent = findByContent(timeline, input);
  return byContent === undefined ? findOverridden(timeline, input) : { entry: byContent, by: 'content' };
}

function findOverridden(timeline: readonly TimelineEntry[], input: MilestoneInput): RepeatedMilestone | undefined {
  if (!isFeed(input.source)) return undefined;
  const entry = timeline.find((each) => isRepeatOfLastSent(each, input));
  return entry && { entry, by: 'overridden' };
}

/**
 * Finds a milestone by `external_id`. A milestone that has the id now takes precedence over a milestone that a feed
 * sent with it.
 */
function findByExternalId(
  timeline: readonly TimelineEntry[],
  { external_id, source }: MilestoneInput,
): TimelineEntry | undefined {
  if (external_id === null) return undefined;
  let formerly: TimelineEntry | undefined;
  for (const entry of timeline) {
    if (entry.milestone.retracted_at !== null) continue;
    if (entry.milestone.external_id === external_id) return entry;
    if (formerly === undefined && entry.overridden.external_id === external_id) formerly = entry;
  }
  return isFeed(source) ? formerly : undefined;
}

/** Finds a milestone by its content. A current milestone takes precedence over a superseded one. */
function findByContent(timeline: readonly TimelineEntry[], input: MilestoneInput): TimelineEntry | undefined {
  const { occurred_at } = input;
  let superseded: TimelineEntry | undefined;
  for (let place = findFirstIndex(timeline, (milestone) => milestone.occurred_at >= occurred_at); ; place++) {
    const entry = timeline[place];
    if (entry?.milestone.occurred_at !== occurred_at) return superseded;
    if (!isContentRepeatedBy(entry.milestone, input)) continue;
    if (entry.milestone.superseded_at === null) return entry;
    superseded ??= entry;
  }
}

function isContentRepeatedBy(milestone: Milestone, input: MilestoneInput): boolean {
  return (
    milestone.retracted_at === null &&
    (milestone.external_id === null || input.external_id === null) &&
    isSameStatement(milestone, input)
  );
}

/** Returns true if a feed repeats what it last sent for a milestone that a person has retracted or corrected since. */
export function isRepeatOfLastSent(entry: TimelineEntry, input: MilestoneInput): boolean {
  const { retracted_at } = entry.milestone;
  if (retracted_at === null && !isOverridden(entry)) return false;
  const sent = restoreLastSentContent(entry);
  const hasOtherId = sent.external_id !== null && input.external_id !== null && sent.external_id !== input.external_id;
  return !hasOtherId && isSameStatement(sent, input);
}

/**
 * Returns ids of the current estimates that a new estimate replaces: those with its code, container, location and
 * source.
 */
export function findSupersededIds(timeline: readonly TimelineEntry[], milestone: Milestone): readonly string[] {
  if (!isCurrentEstimate(milestone)) return [];
  return timeline
    .map((entry) => entry.milestone)
    .filter((other) => other.id !== milestone.id && isCurrentEstimate(other) && isSameSeries(other, milestone))
    .map(({ id }) => id);
}

/**
 * Returns the id of the estimate that becomes current again because its replacement is retracted or no longer belongs
 * to the series.
 */
export function findRestoredId(
  timeline: readonly TimelineEntry[],
  previous: Milestone,
  milestone: Milestone,
): readonly string[] {
  const stays = isEstimateOfSeries(milestone, previous);
  if (stays || previous.classifier !== 'estimated' || previous.superseded_at !== null) return [];
  let newest: TimelineEntry | undefined;
  for (const entry of timeline) {
    if (entry.milestone.id === previous.id || !isEstimateOfSeries(entry.milestone, previous)) continue;
    if (newest === undefined || entry.written > newest.written) newest = entry;
  }
  return newest === undefined ? [] : [newest.milestone.id];
}

function isEstimateOfSeries(milestone: Milestone, series: Series): boolean {
  return milestone.classifier === 'estimated' && milestone.retracted_at === null && isSameSeries(milestone, series);
}

/** Returns true if the milestone is a current estimate. */
function isCurrentEstimate({ classifier, superseded_at, retracted_at }: Milestone): boolean {
  return classifier === 'estimated' && superseded_at === null && retracted_at === null;
}

type Series = Pick<Milestone, 'code' | 'container_number' | 'location' | 'source'>;
type Statement = Series & Pick<Milestone, 'classifier' | 'occurred_at'>;

/**
 * Returns true if both milestones state the same event at the same time. Other fields, such as the note, do not matter.
 */
export function isSameStatement(a: Statement, b: Statement): boolean {
  return a.classifier === b.classifier && a.occurred_at === b.occurred_at && isSameSeries(a, b);
}

function isSameSeries(a: Series, b: Series): boolean {
  return (
    a.code === b.code &&
    a.container_number === b.container_number &&
    a.source === b.source &&
    toComparablePlace(a.location) === toComparablePlace(b.location)
  );
}
