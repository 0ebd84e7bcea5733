import type { Milestone } from '@tracking/client';

/** A step of the journey: the planned, estimated and actual milestone of an event at a place. */
export interface TimelineRow {
  readonly key: string;
  readonly code: Milestone['code'];
  readonly label: string;
  readonly location: string | null;
  /** IANA time zone of the place, if a milestone has it. */
  readonly zone: string | null;
  readonly container: string | null;
  /** Each list is ordered by time. */
  readonly planned: readonly Milestone[];
  readonly estimated: readonly Milestone[];
  readonly actual: readonly Milestone[];
}

export interface TimelineFilter {
  /** Keeps the container's milestones, and those that name no container and so apply to all. */
  readonly container?: string | undefined;
  /** Includes retracted milestones and replaced estimates. */
  readonly past: boolean;
}

export function stands({ retracted_at, superseded_at }: Milestone): boolean {
  return retracted_at === null && superseded_at === null;
}

/** The steps in the order of their times. */
export function timelineRows(milestones: readonly Milestone[], { container, past }: TimelineFilter): TimelineRow[] {
  const shown = milestones
    .filter((milestone) => past || stands(milestone))
    .filter(({ container_number: of }) => container === undefined || of === null || of === container)
    .toSorted((a, b) => a.occurred_at.localeCompare(b.occurred_at));
  const steps = Map.groupBy(shown, ({ code, location, container_number }) =>
    [code, location ?? '', container_number ?? ''].join(' '),
  );
  return [...steps].flatMap(([key, step]) => rowsOf(key, step)).toSorted(byTime);
}

/** An event that happened several times has a row for each; its plan and estimate belong to the first. */
function rowsOf(key: string, step: readonly Milestone[]): TimelineRow[] {
  const of = (classifier: Milestone['classifier']) => step.filter((milestone) => milestone.classifier === classifier);
  const [planned, estimated, actual] = [of('planned'), of('estimated'), of('actual')];
  const standing = actual.filter(stands);
  const [first, ...repeated] = standing;
  const head = first === undefined ? actual : [...actual.filter((milestone) => !stands(milestone)), first];
  const groups = [{ planned, estimated, actual: head }, ...repeated.map((each) => only(each))];
  return groups.map((group, index) => {
    const [any] = [...group.actual, ...group.estimated, ...group.planned] as [Milestone, ...Milestone[]];
    const { code, label, location, container_number } = any;
    const zone = step.find(({ timezone }) => timezone !== null)?.timezone ?? null;
    return { key: `${key} ${index}`, code, label, location, zone, container: container_number, ...group };
  });
}

const only = (actual: Milestone) => ({ planned: [], estimated: [], actual: [actual] });

/**
 * The actual milestone, otherwise the estimate, otherwise the plan. A step that has only retracted ones is placed by their
 * time.
 */
export function timeOf({ actual, estimated, planned }: TimelineRow): Milestone {
  const newest = estimated.filter(stands).toSorted((a, b) => b.recorded_at.localeCompare(a.recorded_at));
  const all = [...actual.filter(stands), ...newest, ...planned.filter(stands), ...actual, ...estimated, ...planned];
  return all[0] as Milestone;
}

function byTime(one: TimelineRow, other: TimelineRow): number {
  const [a, b] = [timeOf(one), timeOf(other)];
  return a.occurred_at.localeCompare(b.occurred_at) || a.sequence - b.sequence || one.key.localeCompare(other.key);
}

/** Hours by which the actual or estimated time is later than the plan; undefined without both. */
export function slipOf(row: TimelineRow): number | undefined {
  const plan = row.planned.find(stands);
  const latest = row.actual.find(stands) ?? row.estimated.findLast(stands);
  if (plan === undefined || latest === undefined) return undefined;
  return Math.round((Date.parse(latest.occurred_at) - Date.parse(plan.occurred_at)) / 3_600_000);
}
