import type { Milestone } from '@tracking/client';

/** One step of the journey: what was planned, is expected and happened of the same event at the same place. */
export interface TimelineRow {
  readonly key: string;
  readonly code: Milestone['code'];
  readonly label: string;
  readonly location: string | null;
  /** IANA zone of the place, where a milestone tells it. */
  readonly zone: string | null;
  readonly container: string | null;
  /** Each in order of their times. */
  readonly planned: readonly Milestone[];
  readonly estimated: readonly Milestone[];
  readonly actual: readonly Milestone[];
}

export interface TimelineFilter {
  /** What names it, and what names none: that counts for all. */
  readonly container?: string | undefined;
  /** Also what was taken back, and estimates that newer ones replaced. */
  readonly past: boolean;
}

export function stands({ retracted_at, superseded_at }: Milestone): boolean {
  return retracted_at === null && superseded_at === null;
}

/** The steps in the order in which they happened, or are to. */
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

/** What happened more than once has a row for each time; what was expected of it stands in the first. */
function rowsOf(key: string, step: readonly Milestone[]): TimelineRow[] {
  const of = (classifier: Milestone['classifier']) => step.filter((milestone) => milestone.classifier === classifier);
  const [planned, estimated, actual] = [of('planned'), of('estimated'), of('actual')];
  const standing = actual.filter(stands);
  const [first, ...again] = standing;
  const head = first === undefined ? actual : [...actual.filter((milestone) => !stands(milestone)), first];
  const groups = [{ planned, estimated, actual: head }, ...again.map((each) => only(each))];
  return groups.map((group, index) => {
    const [any] = [...group.actual, ...group.estimated, ...group.planned] as [Milestone, ...Milestone[]];
    const { code, label, location, container_number } = any;
    const zone = step.find(({ timezone }) => timezone !== null)?.timezone ?? null;
    return { key: `${key} ${index}`, code, label, location, zone, container: container_number, ...group };
  });
}

const only = (actual: Milestone) => ({ planned: [], estimated: [], actual: [actual] });

/** When it happened, else when it is expected, else planned; what was only taken back at its own time. */
export function timeOf({ actual, estimated, planned }: TimelineRow): Milestone {
  const newest = estimated.filter(stands).toSorted((a, b) => b.recorded_at.localeCompare(a.recorded_at));
  const all = [...actual.filter(stands), ...newest, ...planned.filter(stands), ...actual, ...estimated, ...planned];
  return all[0] as Milestone;
}

function byTime(one: TimelineRow, other: TimelineRow): number {
  const [a, b] = [timeOf(one), timeOf(other)];
  return a.occurred_at.localeCompare(b.occurred_at) || a.sequence - b.sequence || one.key.localeCompare(other.key);
}

/** Hours by which what happened, or is expected now, is after the plan; undefined without both. */
export function slipOf(row: TimelineRow): number | undefined {
  const plan = row.planned.find(stands);
  const latest = row.actual.find(stands) ?? row.estimated.findLast(stands);
  if (plan === undefined || latest === undefined) return undefined;
  return Math.round((Date.parse(latest.occurred_at) - Date.parse(plan.occurred_at)) / 3_600_000);
}
