import type { MilestoneKind } from './milestone-kind.ts';
import { type TimelineEntry, compareMilestones } from './state.ts';

/** Milestones in timeline order. */
export type SortedEntries = readonly TimelineEntry[];

/** An actual milestone with its kind. */
export interface ActualMilestoneWithKind {
  readonly entry: TimelineEntry;
  readonly kind: MilestoneKind;
}

/** Returns true for the kinds that a rule looks for. */
export type KindFilter = (kind: MilestoneKind) => boolean;

/**
 * Actual milestones of one container, or those that name no container, grouped by kind. Rules look at groups instead of
 * single milestones, because even the timeline of a shipment with thousands of milestones has few kinds.
 */
export class MilestonesByKind {
  private readonly groups = new Map<MilestoneKind, TimelineEntry[]>();

  /** Adds the next milestone of the timeline. */
  addMilestone(entry: TimelineEntry, kind: MilestoneKind): void {
    const group = this.groups.get(kind);
    if (group === undefined) this.groups.set(kind, [entry]);
    else group.push(entry);
  }

  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** Iterates over the kinds and their milestones. No group is empty. */
  [Symbol.iterator](): Iterator<readonly [MilestoneKind, SortedEntries]> {
    return this.groups.entries();
  }

  /** Returns true if a milestone has a kind that matches. */
  hasMilestoneOfKind(matches: KindFilter): boolean {
    for (const kind of this.groups.keys()) if (matches(kind)) return true;
    return false;
  }

  /** Returns all milestones in timeline order. It sorts them, so prefer the groups. */
  listMilestonesInTimelineOrder(): readonly ActualMilestoneWithKind[] {
    const all: ActualMilestoneWithKind[] = [];
    for (const [kind, entries] of this.groups) for (const entry of entries) all.push({ entry, kind });
    return all.sort((a, b) => compareMilestones(a.entry.milestone, b.entry.milestone));
  }

  /** Returns the groups without some of the milestones. */
  copyGroupsExcludingMilestones(removed: { has(entry: TimelineEntry): boolean }): MilestonesByKind {
    const rest = new MilestonesByKind();
    for (const [kind, entries] of this.groups) {
      const kept = entries.filter((entry) => !removed.has(entry));
      if (kept.length > 0) rest.groups.set(kind, kept);
    }
    return rest;
  }
}

/** Actual milestones of a shipment by container. */
export interface ActualMilestonesByContainer {
  /** Milestones that name no container. They concern every container. */
  readonly unnamed: MilestonesByKind;
  readonly named: ReadonlyMap<string, MilestonesByKind>;
}

/** Returns the groups of the kinds that match. */
export function selectMilestoneGroups(all: readonly MilestonesByKind[], matches: KindFilter): readonly SortedEntries[] {
  const selected: SortedEntries[] = [];
  for (const groups of all) for (const [kind, entries] of groups) if (matches(kind)) selected.push(entries);
  return selected;
}

/** Merges two lists in timeline order. */
export function mergeInTimelineOrder(a: SortedEntries, b: SortedEntries): SortedEntries {
  if (a.length === 0) return b;
  const merged: TimelineEntry[] = [];
  let place = 0;
  for (const each of a) {
    let other = b[place];
    while (other !== undefined && compareMilestones(other.milestone, each.milestone) < 0) {
      merged.push(other);
      other = b[++place];
    }
    merged.push(each);
  }
  for (const other of b.slice(place)) merged.push(other);
  return merged;
}
