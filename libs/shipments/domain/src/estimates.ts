import { type Milestone, type MilestoneRule, getMilestoneRules, type Timestamp } from '@tracking/contracts';
import { listDroppedEstimateReportsUntil } from './dropped-estimates.ts';
import type { EstimateReport } from './events/event-data.ts';
import { buildStatedTimeFromStoredTime, type UtcTimeWithLocalDay } from './local-time.ts';
import { isDeparture, isVesselSailingOnWithoutGoods } from './milestone-meaning.ts';
import type { ShipmentRoute } from './route.ts';
import type { TimelineEntry } from './state.ts';
import type { TimelineAnalysis } from './timeline-analysis.ts';

/** Receives, for an estimate, the rule that applied to it. */
export type RuleListener = (estimate: TimelineEntry, rule: MilestoneRule) => void;

/** The part of an estimate that decides which time it is for. */
interface CodeAtPlace {
  readonly milestone: Pick<Milestone, 'code' | 'location'>;
}

/** Returns the time of an estimate. Its day, if it states one, is that of its own place. */
export function getTimeOfEstimate(report: EstimateReport): UtcTimeWithLocalDay {
  const { occurred_at, occurred_at_precision, timezone = null } = report;
  return buildStatedTimeFromStoredTime(occurred_at, occurred_at_precision, timezone);
}

export function isEstimatedArrival({ milestone }: CodeAtPlace, route: ShipmentRoute): boolean {
  const { estimates_arrival } = getMilestoneRules(milestone.code);
  if (estimates_arrival === undefined || estimates_arrival === 'any_mode') return estimates_arrival !== undefined;
  const place = route.locate(milestone.location).key;
  const leg = route.legs.find((each) => each.destination_port === place) ?? route.legs.at(-1);
  return estimates_arrival.some((mode) => mode === route.mode || mode === leg?.mode);
}

export function isEstimatedDeparture(entry: TimelineEntry, route: ShipmentRoute): boolean {
  if (isVesselSailingOnWithoutGoods(entry, route)) return false;
  const { milestone } = entry;
  const place = route.locate(milestone.location).key;
  const leg = route.legs.find((each) => each.origin_port === place) ?? route.legs[0];
  const rules = getMilestoneRules(milestone.code);
  return isDeparture(rules, route.mode) || isDeparture(rules, leg?.mode ?? null);
}

/** Returns true if the milestone is at one of the ports, or has no known place. */
export function isAtPortsOrUnknownPlace(
  { milestone }: CodeAtPlace,
  route: ShipmentRoute,
  ports: ReadonlySet<string | null>,
): boolean {
  const { key, isKnown } = route.locate(milestone.location);
  return !isKnown || ports.has(key);
}

/** Drops all other arrival estimates if an estimate for the arrival at the destination exists. */
export function dropOtherArrivalEstimates(
  estimates: readonly TimelineEntry[],
  isForShipment: (entry: TimelineEntry) => boolean,
  onEstimate: RuleListener | undefined,
): readonly TimelineEntry[] {
  const isDestination = (entry: TimelineEntry) => getMilestoneRules(entry.milestone.code).at_destination === true;
  if (!estimates.some((entry) => isDestination(entry) && isForShipment(entry))) return estimates;
  return estimates.filter((entry) => {
    const counts = isDestination(entry) || !isForShipment(entry);
    if (!counts) onEstimate?.(entry, 'destination_estimated');
    return counts;
  });
}

/** Returns true if the estimate was reported after the event had happened. */
export function isEstimateReportedAfterEvent({ milestone }: TimelineEntry, actual: Timestamp | null): boolean {
  return actual !== null && milestone.reported_at > actual;
}

/** Estimates of departures or of arrivals. */
export class DepartureOrArrivalEstimates {
  private readonly selected = new Map<readonly TimelineEntry[], readonly TimelineEntry[]>();

  /** @param select returns the estimates that count from all estimates of the kind */
  constructor(
    readonly includes: (entry: TimelineEntry) => boolean,
    private readonly select: (estimates: readonly TimelineEntry[]) => readonly TimelineEntry[],
  ) {}

  /** Returns the estimates of the kind that count. It keeps the results, because each leg needs them. */
  selectEstimates(estimates: readonly TimelineEntry[]): readonly TimelineEntry[] {
    let selected = this.selected.get(estimates);
    if (selected === undefined) {
      selected = this.select(estimates.filter(this.includes));
      this.selected.set(estimates, selected);
    }
    return selected;
  }
}

/** The estimates of a shipment as they were known at past times. */
export class PastEstimateLookup {
  private readonly known = new Map<Timestamp, readonly TimelineEntry[]>();
  private lastReport: Timestamp = '';

  constructor(private readonly analysis: TimelineAnalysis) {
    for (const { milestone } of analysis.estimates)
      if (milestone.reported_at > this.lastReport) this.lastReport = milestone.reported_at;
  }

  /** Returns the estimates that were reported until the actual time; without an actual time, the current estimates. */
  listEstimatesReportedUntil(actual: Timestamp | null): readonly TimelineEntry[] {
    const { estimates, replacedEstimates, droppedReports } = this.analysis;
    if (actual === null || this.lastReport <= actual) return estimates;
    let known = this.known.get(actual);
    if (known === undefined) {
      known = [
        ...listLastReportsUntil(estimates, actual),
        ...listLastReportsUntil(replacedEstimates, actual),
        ...listDroppedEstimateReportsUntil(droppedReports, actual),
      ];
      this.known.set(actual, known);
    }
    return known;
  }
}

function listLastReportsUntil(entries: readonly TimelineEntry[], actual: Timestamp): readonly TimelineEntry[] {
  const reports: TimelineEntry[] = [];
  for (const entry of entries) {
    const report = findLastEstimateReportUntil(entry, actual);
    if (report !== undefined) reports.push(report);
  }
  return reports;
}

/** Returns the estimate as it was reported last until a time; undefined if it was reported later. */
function findLastEstimateReportUntil(entry: TimelineEntry, actual: Timestamp): TimelineEntry | undefined {
  if (!isEstimateReportedAfterEvent(entry, actual)) return entry;
  const report = entry.formerReports.findLast(({ reported_at }) => reported_at <= actual);
  return report && { ...entry, milestone: { ...entry.milestone, occurred_at_precision: 'time', ...report } };
}
