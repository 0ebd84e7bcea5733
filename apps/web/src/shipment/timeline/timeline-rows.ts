import type { Milestone } from '@tracking/client';

/** Row of the timeline: the planned, estimated and actual milestones of one event at one place. */
export interface TimelineRowData {
  readonly key: string;
  readonly code: Milestone['code'];
  readonly label: string;
  readonly location: string | null;
  /** IANA time zone of the place. Undefined if no milestone of the row contains it. */
  readonly zone: string | null;
  readonly container: string | null;
  /** Planned milestones of the event, ordered by time. */
  readonly planned: readonly Milestone[];
  readonly estimated: readonly Milestone[];
  readonly actual: readonly Milestone[];
}

export interface TimelineFilter {
  /**
   * Number of the container to show. Milestones without a container are also shown, because they apply to all
   * containers.
   */
  readonly container?: string | undefined;
  /** True if retracted milestones and replaced estimates are shown. */
  readonly past: boolean;
}

export function isMilestoneInEffect({ retracted_at, superseded_at }: Milestone): boolean {
  return retracted_at === null && superseded_at === null;
}

/** Groups milestones into timeline rows, ordered by time. */
export function buildTimelineRows(
  milestones: readonly Milestone[],
  { container, past }: TimelineFilter,
): TimelineRowData[] {
  const shown = milestones
    .filter((milestone) => past || isMilestoneInEffect(milestone))
    .filter(({ container_number: of }) => container === undefined || of === null || of === container)
    .toSorted((a, b) => a.occurred_at.localeCompare(b.occurred_at));
  const steps = Map.groupBy(shown, ({ code, location, container_number }) =>
    [code, location ?? '', container_number ?? ''].join(' '),
  );
  return [...steps].flatMap(([key, step]) => buildTimelineRowsOfEvent(key, step)).toSorted(compareTimelineRowsByTime);
}

/**
 * Builds the timeline rows of one event at one place. If the event has happened several times, each occurrence has a
 * row. The first row contains the plan and the estimate.
 */
function buildTimelineRowsOfEvent(key: string, step: readonly Milestone[]): TimelineRowData[] {
  const of = (classifier: Milestone['classifier']) => step.filter((milestone) => milestone.classifier === classifier);
  const [planned, estimated, actual] = [of('planned'), of('estimated'), of('actual')];
  const standing = actual.filter(isMilestoneInEffect);
  const [first, ...repeated] = standing;
  const head = first === undefined ? actual : [...actual.filter((milestone) => !isMilestoneInEffect(milestone)), first];
  const groups = [{ planned, estimated, actual: head }, ...repeated.map((each) => createCellsOfActualMilestone(each))];
  return groups.map((group, index) => {
    const [any] = [...group.actual, ...group.estimated, ...group.planned] as [Milestone, ...Milestone[]];
    const { code, label, location, container_number } = any;
    const zone = step.find(({ timezone }) => timezone !== null)?.timezone ?? null;
    return { key: `${key} ${index}`, code, label, location, zone, container: container_number, ...group };
  });
}

const createCellsOfActualMilestone = (actual: Milestone) => ({ planned: [], estimated: [], actual: [actual] });

/**
 * Returns the milestone that determines the time of a row: the actual one, otherwise the estimate, otherwise the plan.
 * If all milestones of the row are retracted, a retracted one is returned.
 */
export function findMilestoneDecidingRowTime({ actual, estimated, planned }: TimelineRowData): Milestone {
  const newest = estimated.filter(isMilestoneInEffect).toSorted((a, b) => b.recorded_at.localeCompare(a.recorded_at));
  const all = [
    ...actual.filter(isMilestoneInEffect),
    ...newest,
    ...planned.filter(isMilestoneInEffect),
    ...actual,
    ...estimated,
    ...planned,
  ];
  return all[0] as Milestone;
}

function compareTimelineRowsByTime(one: TimelineRowData, other: TimelineRowData): number {
  const [a, b] = [findMilestoneDecidingRowTime(one), findMilestoneDecidingRowTime(other)];
  return a.occurred_at.localeCompare(b.occurred_at) || a.sequence - b.sequence || one.key.localeCompare(other.key);
}

/**
 * Returns the number of hours between the planned time and the actual or estimated time. Returns undefined if the plan
 * or the other time is missing.
 */
export function calculateDelayHours(row: TimelineRowData): number | undefined {
  const plan = row.planned.find(isMilestoneInEffect);
  const latest = row.actual.find(isMilestoneInEffect) ?? row.estimated.findLast(isMilestoneInEffect);
  if (plan === undefined || latest === undefined) return undefined;
  return Math.round((Date.parse(latest.occurred_at) - Date.parse(plan.occurred_at)) / 3_600_000);
}
