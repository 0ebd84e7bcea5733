import {
  type ExceptionSettings,
  type ExceptionResolutionConditions,
  type Timestamp,
  chooseLatestTime,
} from '@tracking/contracts';
import type { DerivedShipment } from '../derive.ts';
import {
  describeStatedTime,
  computeMsBetweenTimesOrDays,
  toUtcTimeWithLocalDayAndZone,
  convertMsToRoundedHours,
} from '../local-time.ts';
import { mayTravelByVessel } from '../route.ts';
import {
  type FindFindings,
  type CurrentOrFutureProblem,
  HOUR_MS,
  addHoursToTimestamp,
  computeTimeWhenLate,
  getNextMillisecond,
  getRuleHours,
  computeEarliestDueTimeOpeningException,
} from './rule.ts';
import {
  NEW_INFORMATION_RESOLUTION_CONDITIONS,
  describeResolutionByFieldChange,
  hasArrived,
  hasDeparted,
  isDelivered,
  listResolvingStatusMilestones,
} from './remedies.ts';

/** Hours of delay above which the severity is at least `high`, regardless of the workspace's settings. */
const HIGH_SEVERITY_HOURS = 48;
/** Hours by which a slip must grow after a person resolved the exception, so that a new exception opens. */
const MIN_SLIP_GROWTH_TO_REOPEN_HOURS = 24;

/**
 * Opens `eta_slip` if the ETA is more than the allowed hours after the original ETA. If one of them is a day, the local
 * dates are compared, and each day counts 24 hours.
 */
export const etaSlipRule: FindFindings = ({ derived }, settings) => {
  const { eta, original_eta, original_eta_precision } = derived.record;
  if (eta === null || original_eta === null || hasArrived(derived)) return [];
  const { route } = derived.analysis;
  const zone = route.findZone(route.destination);
  const original = toUtcTimeWithLocalDayAndZone(original_eta, original_eta_precision, zone);
  const { value, day } = derived.times.eta;
  const slip = computeMsBetweenTimesOrDays(original, { value, day, zone });
  const isByTime = original.day === null && day === null;
  if (slip < getRuleHours(settings, derived.record) * HOUR_MS) return [];
  const slip_hours = convertMsToRoundedHours(slip);
  return [
    {
      container_number: null,
      milestone: derived.times.eta.milestone,
      detail: `The ETA ${day ?? eta} is ${slip_hours} hours past the original ${original.day ?? original_eta}.`,
      ...(slip > HIGH_SEVERITY_HOURS * HOUR_MS && { severity: 'high' as const }),
      metrics: { slip_hours, eta, original_eta },
      isGraverThan: (resolved) => slip - readEtaSlipMs(resolved, isByTime) >= MIN_SLIP_GROWTH_TO_REOPEN_HOURS * HOUR_MS,
      resolvedBy: () => [
        computeConditionsForResolutionByArrival(derived),
        describeResolutionByFieldChange('eta', 'original_eta'),
      ],
    },
  ];
};

/**
 * Returns the slip in milliseconds from the metrics of an exception; NaN for an exception without metrics, which a person
 * opened.
 * @param isByTime true to compute it from the times, because the hours are rounded
 */
function readEtaSlipMs(
  { slip_hours, eta, original_eta }: NonNullable<CurrentOrFutureProblem['metrics']>,
  isByTime: boolean,
): number {
  if (!isByTime) return typeof slip_hours === 'number' ? slip_hours * HOUR_MS : Number.NaN;
  return typeof eta === 'string' && typeof original_eta === 'string'
    ? computeDifferenceMs(original_eta, eta)
    : Number.NaN;
}

export const departureOverdueRule: FindFindings = ({ derived }, settings) => {
  const { etd, etd_precision } = derived.record;
  if (etd === null || hasDeparted(derived)) return [];
  return [
    {
      ...createOverdueTimeFinding(computeTimeWhenLate(etd, etd_precision), derived, settings),
      detail: `Expected to depart ${describeStatedTime(derived.times.etd)}, and no departure is known.`,
      metrics: { etd },
      resolvedBy: () => [describeResolutionByDeparture(derived), describeResolutionByFieldChange('etd')],
    },
  ];
};

export const arrivalOverdueRule: FindFindings = ({ derived }, settings) => {
  const { eta, eta_precision } = derived.record;
  if (eta === null || hasArrived(derived)) return [];
  return [
    {
      ...createOverdueTimeFinding(computeTimeWhenLate(eta, eta_precision), derived, settings),
      detail: `Expected to arrive ${describeStatedTime(derived.times.eta)}, and no arrival is known.`,
      metrics: { eta },
      resolvedBy: () => [computeConditionsForResolutionByArrival(derived), describeResolutionByFieldChange('eta')],
    },
  ];
};

function createOverdueTimeFinding(expected: Timestamp, { record }: DerivedShipment, settings: ExceptionSettings) {
  return {
    container_number: null,
    milestone: null,
    opens_at: addHoursToTimestamp(expected, getRuleHours(settings, record)),
    worsens: { at: addHoursToTimestamp(expected, HIGH_SEVERITY_HOURS), severity: 'high' as const },
  };
}

/**
 * Opens `no_update` if no milestone of any classifier and no other ETA was received for too long. At sea, no news is
 * expected before the ETA.
 */
export const noUpdateExceptionRule: FindFindings = ({ derived, lastNewsAt }, settings) => {
  const { record } = derived;
  if (isDelivered(record)) return [];
  const hours = getRuleHours(settings, record);
  const { etd, eta, created_at } = record;
  const isEtdTooOld = etd !== null && addHoursToTimestamp(etd, hours) < computeEarliestDueTimeOpeningException(record);
  const silent_since = chooseLatestTime(etd === null || isEtdTooOld ? created_at : etd, lastNewsAt ?? '');
  const expected = addHoursToTimestamp(silent_since, hours);
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Neither a milestone nor another ETA since ${silent_since}.`,
      opens_at: eta !== null && isAtSea(derived) ? chooseLatestTime(expected, eta) : expected,
      metrics: { silent_since, heard_at: lastNewsAt },
      resolvedBy: () => [NEW_INFORMATION_RESOLUTION_CONDITIONS, describeResolutionByFieldChange('etd')],
    },
  ];
};

function isAtSea(derived: DerivedShipment): boolean {
  return mayTravelByVessel(derived.record.mode) && hasDeparted(derived) && !hasArrived(derived);
}

function describeResolutionByDeparture({ analysis, subjects }: DerivedShipment): ExceptionResolutionConditions {
  const summaries = subjects.flatMap((subject) => subject.summaries);
  return listResolvingStatusMilestones('in_transit', null, analysis.route, summaries);
}

/** Arrivals before the last movement elsewhere happened at stops on the way, so they are ignored. */
function computeConditionsForResolutionByArrival({
  analysis,
  subjects,
}: DerivedShipment): ExceptionResolutionConditions {
  const departed = analysis.legDepartures.at(-1)?.milestone.occurred_at ?? '';
  const moved = subjects.map(({ progress: { points } }) =>
    chooseLatestTime(points.moved, getNextMillisecond(chooseLatestTime(points.unavailable, points.returning))),
  );
  const since = chooseLatestTime(departed, ...moved);
  return listResolvingStatusMilestones('arrived', since === '' ? null : since, analysis.route);
}

function computeDifferenceMs(from: Timestamp, to: Timestamp): number {
  return Date.parse(to) - Date.parse(from);
}
