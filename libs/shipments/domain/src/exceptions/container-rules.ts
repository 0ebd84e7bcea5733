import { type ExceptionSettings, type Leg, type Places, type Timestamp, findMilestoneCode } from '@tracking/contracts';
import { findLatestTime } from '../container-progress.ts';
import type { StatusSubject } from '../derive.ts';
import {
  TIME_BEFORE_ALL,
  STATUS_RANKS,
  chooseEarlierEntry,
  isOnwardMovement,
  chooseLaterEntry,
} from '../milestone-summary.ts';
import { toComparablePlace } from '../references.ts';
import type { Route } from '../route.ts';
import type { TimelineEntry } from '../state.ts';
import { findFirstIndex } from '../timeline.ts';
import { type Finding, forEachSubject, addHours, selectRuleHours, getLocalDay, type RuleFacts } from './rule.ts';
import {
  resolveByChangeOf,
  resolveByCorrectionOf,
  resolveByMilestone,
  hasLeftTerminal,
  isDelivered,
  isReturned,
  listRemedyMilestones,
  resolveByStep,
} from './remedies.ts';

/** Hours that goods may stay at a stop if no ETD of the next leg is known. */
const MAX_STOP_HOURS = 10 * 24;

/**
 * Opens `missed_connection` if a container was not loaded again at its last stop: no milestone of loading or a later
 * step is dated at or after the stop.
 */
export const missedConnection = forEachSubject(({ summaries, progress }, { derived }, settings) => {
  const stop = summaries.map(({ stops }) => stops.at(-1)).reduce(chooseLaterEntry, undefined);
  const onward = findLatestTime(summaries, 'onward');
  if (stop === undefined || stop.milestone.occurred_at <= onward || isDelivered(progress)) return undefined;
  const { record, analysis } = derived;
  const { location } = stop.milestone;
  const arrived_at = findStopArrivalTime(stop, summaries, onward);
  const next = findNextLeg(record.legs, location);
  const next_etd = next?.leg.etd ?? null;
  const since = `At ${location ?? 'a port on the way'} since ${arrived_at}, and not loaded`;
  return {
    milestone: stop,
    detail: next_etd === null ? `${since} again.` : `${since} for the next leg, whose ETD is ${next_etd}.`,
    opens_at:
      next_etd === null ? addHours(arrived_at, MAX_STOP_HOURS) : addHours(next_etd, selectRuleHours(settings, record)),
    metrics: { location, arrived_at, next_etd },
    resolvedBy: () => [
      resolveByLoading(stop, analysis.route),
      ...(next === undefined ? [] : [resolveByChangeOf(`legs[${next.index}].etd`)]),
      resolveByCorrectionOf(stop),
    ],
  };
});

/** Returns the time when the container arrived at its last stop. */
function findStopArrivalTime(stop: TimelineEntry, summaries: StatusSubject['summaries'], onward: Timestamp): Timestamp {
  const place = toComparablePlace(stop.milestone.location);
  const arrivals = summaries.map(({ stops }) => {
    for (let at = findFirstIndex(stops, ({ occurred_at }) => occurred_at > onward); at < stops.length; at++) {
      if (toComparablePlace(stops[at]?.milestone.location ?? null) === place) return stops[at];
    }
    return undefined;
  });
  return (arrivals.reduce(chooseEarlierEntry, undefined) ?? stop).milestone.occurred_at;
}

/**
 * Returns the leg that departs from the location. If no leg ends at the location, returns the first leg that has not
 * departed, except the first leg of all.
 */
function findNextLeg(legs: readonly Leg[], location: string | null) {
  const place = toComparablePlace(location);
  const ended = place === null ? -1 : legs.findLastIndex(({ destination_port }) => destination_port === place);
  const index = ended >= 0 ? ended + 1 : legs.findIndex(({ atd }, at) => at > 0 && atd === null);
  const leg = legs[index];
  return leg && { leg, index };
}

function resolveByLoading(stop: TimelineEntry, route: Route) {
  const isMilestone = ({
    sequence,
    rules,
  }: {
    readonly sequence: number;
    readonly rules: Parameters<typeof isOnwardMovement>[1];
  }) => rules.transshipment_stop !== true && isOnwardMovement(sequence, rules, route.mode);
  return resolveByMilestone(listRemedyMilestones([{ from: stop.milestone.occurred_at, isMilestone }], route));
}

/**
 * Opens `demurrage_risk` while the container is at the terminal. The terminal charges a fee after the last free day.
 */
export const demurrageRisk = forEachSubject((subject, facts, settings) => {
  const { record, analysis } = facts.derived;
  if (analysis.route.lcl || hasLeftTerminal(subject)) return undefined;
  const { container, progress, summaries } = subject;
  const discharged =
    progress.discharge ??
    (isHandedOutByTerminal(subject, record.mode) ? progress.reached[STATUS_RANKS.available_for_pickup] : undefined);
  const last_free_day = container?.last_free_day ?? null;
  const when = findFeeRisk(last_free_day, discharged, facts, settings);
  if (when === undefined) return undefined;
  const left = findLatestTime(summaries, 'railDeparted');
  return {
    ...when,
    detail:
      last_free_day === null
        ? `At the terminal since ${discharged?.milestone.occurred_at}, and no last free day is known.`
        : `The last free day is ${last_free_day}, and no gate-out is known.`,
    metrics: { last_free_day, discharged_at: timeOf(discharged) },
    resolvedBy: () => [
      resolveByStep('out_for_delivery', left === TIME_BEFORE_ALL ? null : left, analysis.route),
      ...(container === undefined ? [] : [resolveByChangeOf('last_free_day')]),
      ...resolveByCorrection(when.milestone),
    ],
  };
});

/**
 * Opens `detention_risk` until the container is returned to the carrier. The carrier charges a fee after the due day.
 */
export const detentionRisk = forEachSubject((subject, facts, settings) => {
  const { record, analysis } = facts.derived;
  const { container, progress } = subject;
  if (analysis.route.lcl || isReturned(progress)) return undefined;
  const left =
    progress.gateOut ??
    (isHandedOutByTerminal(subject, record.mode)
      ? progress.reached
          .slice(STATUS_RANKS.out_for_delivery)
          .reduce<TimelineEntry | undefined>(chooseEarlierEntry, undefined)
      : undefined);
  const empty_return_by = container?.empty_return_by ?? null;
  const when = findFeeRisk(empty_return_by, left, facts, settings);
  if (when === undefined) return undefined;
  return {
    ...when,
    detail:
      empty_return_by === null
        ? `Out since ${left?.milestone.occurred_at}, and no return of the empty container is known.`
        : `To be returned empty by ${empty_return_by}, and no return is known.`,
    metrics: { empty_return_by, gated_out_at: timeOf(left) },
    resolvedBy: () => [
      resolveByStep('completed', null, analysis.route),
      ...(container === undefined ? [] : [resolveByChangeOf('empty_return_by')]),
      ...resolveByCorrection(when.milestone),
    ],
  };
});

/**
 * Returns the times at which a fee is at risk. With a due day, the risk starts some hours before the day and is
 * critical from the end of the day. Without a due day, it starts some hours after the milestone.
 */
function findFeeRisk(
  day: string | null,
  since: TimelineEntry | undefined,
  { derived, places }: RuleFacts,
  settings: ExceptionSettings,
): (Pick<Finding, 'milestone' | 'due_at' | 'worsens'> & { readonly opens_at: Timestamp }) | undefined {
  const { record } = derived;
  if (day !== null) {
    const { from, until } = getLocalDay(day, findTimeZone(record.destination_port, places));
    const opens_at = addHours(from, -(settings.before_hours ?? 0));
    return { milestone: null, opens_at, due_at: from, worsens: { at: until, severity: 'critical' } };
  }
  if (since === undefined) return undefined;
  return { milestone: since, opens_at: addHours(since.milestone.occurred_at, selectRuleHours(settings, record)) };
}

function findTimeZone(port: string | null, places: Places): string {
  return (port === null ? undefined : places.find(port)?.timezone) ?? 'UTC';
}

/** Returns true if a terminal hands out the container, so that later milestones show that it left the terminal. */
function isHandedOutByTerminal({ container_number }: StatusSubject, mode: Route['mode']): boolean {
  return container_number !== null && (mode === null || HANDED_OUT_MODES.includes(mode));
}
const HANDED_OUT_MODES = findMilestoneCode('gated_out')?.modes ?? [];

function resolveByCorrection(entry: TimelineEntry | null) {
  return entry === null ? [] : [resolveByCorrectionOf(entry)];
}

function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}
