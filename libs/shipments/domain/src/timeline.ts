import type { Milestone, Timestamp } from '@tracking/contracts';
import type { MilestoneInput } from './check-milestone.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';

/** What an event changes on the timeline. */
export interface MilestoneChanges {
  /** As it is now, new or changed. */
  readonly milestone: Milestone;
  readonly isNew: boolean;
  /** Ids of estimates whose `superseded_at` becomes `at`. */
  readonly superseded: readonly string[];
  /** Ids of estimates whose `superseded_at` becomes null. */
  readonly restored: readonly string[];
  readonly at: Timestamp;
}

/** Puts a new or changed milestone into its place, and marks the estimates that it replaces. Changes the list. */
export function putMilestone(timeline: TimelineEntry[], changes: MilestoneChanges, revision: number): void {
  const { milestone, superseded, restored, at } = changes;
  const place = changes.isNew ? -1 : timeline.findIndex((entry) => entry.milestone.id === milestone.id);
  const previous = timeline[place];
  if (place >= 0) timeline.splice(place, 1);
  for (const [ids, superseded_at] of [
    [superseded, at],
    [restored, null],
  ] as const) {
    for (const id of ids) {
      const other = timeline.findIndex((entry) => entry.milestone.id === id);
      const entry = timeline[other];
      if (entry !== undefined) timeline[other] = { ...entry, milestone: { ...entry.milestone, superseded_at } };
    }
  }
  const becameActual = milestone.classifier === 'actual' && previous?.milestone.classifier !== 'actual';
  insert(timeline, {
    milestone,
    recorded: previous === undefined || becameActual ? revision : previous.recorded,
    written: previous !== undefined && isSameStatement(previous.milestone, milestone) ? previous.written : revision,
  });
}

/** Nearly all milestones come in the order they happened: looked for from the end. */
function insert(timeline: TimelineEntry[], entry: TimelineEntry): void {
  const isLater = (other: Milestone) => compareMilestones(other, entry.milestone) > 0;
  const last = timeline.at(-1);
  const place = last !== undefined && isLater(last.milestone) ? firstPlace(timeline, isLater) : timeline.length;
  timeline.splice(place, 0, entry);
}

/** Index of the first entry of a sorted list from which on all are late; the list's length when none is. */
export function firstPlace(entries: readonly TimelineEntry[], isLate: (milestone: Milestone) => boolean): number {
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

export interface Duplicate {
  readonly milestone: Milestone;
  /** By its `external_id` it may be corrected; by its content there is nothing to correct. */
  readonly by: 'external_id' | 'content';
}

/**
 * The milestone that a new one repeats: with its `external_id`, else with the same code, time, container, location and
 * source, unless both have an `external_id`: then their sender tells them apart. An estimate that became an actual one at
 * the same time is no repetition. An estimate that was superseded since is one when a feed sends it again, since feeds
 * resend all they know; a person who comes back to it means it.
 */
export function findDuplicate(timeline: readonly TimelineEntry[], input: MilestoneInput): Duplicate | undefined {
  const { external_id, occurred_at } = input;
  const byId = external_id === null ? undefined : timeline.find((entry) => isKnownAs(entry.milestone, external_id));
  if (byId !== undefined) return { milestone: byId.milestone, by: 'external_id' };
  for (let place = firstPlace(timeline, (milestone) => milestone.occurred_at >= occurred_at); ; place++) {
    const milestone = timeline[place]?.milestone;
    if (milestone?.occurred_at !== occurred_at) return undefined;
    if (isRepeatedBy(milestone, input)) return { milestone, by: 'content' };
  }
}

function isKnownAs(milestone: Milestone, external_id: string): boolean {
  return milestone.external_id === external_id && milestone.retracted_at === null;
}

function isRepeatedBy(milestone: Milestone, input: MilestoneInput): boolean {
  return (
    milestone.retracted_at === null &&
    (milestone.external_id === null || input.external_id === null) &&
    (milestone.superseded_at === null || input.source !== 'manual') &&
    isSameStatement(milestone, input)
  );
}

/** Ids of the current estimates that a new one replaces: those for its code, container, location and source. */
export function supersededBy(timeline: readonly TimelineEntry[], milestone: Milestone): readonly string[] {
  if (milestone.classifier !== 'estimated' || milestone.superseded_at !== null) return [];
  return timeline
    .filter((entry) => isCurrentEstimate(entry) && isSameSeries(entry.milestone, milestone))
    .map((entry) => entry.milestone.id)
    .filter((id) => id !== milestone.id);
}

/** Id of the estimate that is current again when the one that had replaced it leaves its series. */
export function restoredBy(
  timeline: readonly TimelineEntry[],
  previous: Milestone,
  milestone: Milestone,
): readonly string[] {
  const stays = milestone.classifier === 'estimated' && isSameSeries(previous, milestone);
  if (stays || previous.classifier !== 'estimated' || previous.superseded_at !== null) return [];
  let newest: TimelineEntry | undefined;
  for (const entry of timeline) {
    if (entry.milestone.id === previous.id || !isEstimateOfSeries(entry, previous)) continue;
    if (newest === undefined || entry.written > newest.written) newest = entry;
  }
  return newest === undefined ? [] : [newest.milestone.id];
}

function isEstimateOfSeries({ milestone }: TimelineEntry, series: Series): boolean {
  return milestone.classifier === 'estimated' && milestone.retracted_at === null && isSameSeries(milestone, series);
}

function isCurrentEstimate({ milestone }: TimelineEntry): boolean {
  return milestone.classifier === 'estimated' && milestone.superseded_at === null && milestone.retracted_at === null;
}

type Series = Pick<Milestone, 'code' | 'container_number' | 'location' | 'source'>;
type Statement = Series & Pick<Milestone, 'classifier' | 'occurred_at'>;

/** Whether both say that the same happened, or will, at the same time: what else they tell is beside that. */
export function isSameStatement(a: Statement, b: Statement): boolean {
  return a.classifier === b.classifier && a.occurred_at === b.occurred_at && isSameSeries(a, b);
}

function isSameSeries(a: Series, b: Series): boolean {
  return (
    a.code === b.code && a.container_number === b.container_number && a.location === b.location && a.source === b.source
  );
}
