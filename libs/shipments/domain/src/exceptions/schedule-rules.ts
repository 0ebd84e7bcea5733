import { type ExceptionSettings, type ResolvedBy, type Timestamp, latestTime } from '@tracking/contracts';
import type { Derived } from '../derive.ts';
import { mayTravelByVessel } from '../route.ts';
import { type FindFindings, type Finding, HOUR_MS, hoursAfter, ruleHours, earliestDue } from './rule.ts';
import { RESOLVED_BY_NEWS, byChangeOf, hasArrived, hasDeparted, isDelivered, byStep } from './remedies.ts';

/** Hours of delay beyond which the severity is at least `high`, regardless of the workspace's settings. */
const HIGH_SEVERITY_HOURS = 48;
/** Hours by which a slip must grow to open a new exception after a person resolved it. */
const REOPEN_GROWTH_HOURS = 24;

/** Opens `eta_slip` if the ETA is too many hours after the original ETA. */
export const etaSlip: FindFindings = ({ derived }, settings) => {
  const { eta, original_eta } = derived.record;
  if (eta === null || original_eta === null || hasArrived(derived)) return [];
  const slip = msBetween(original_eta, eta);
  if (slip < ruleHours(settings, derived.record) * HOUR_MS) return [];
  const slip_hours = Math.round((slip / HOUR_MS) * 100) / 100;
  return [
    {
      container_number: null,
      milestone: derived.times.eta.milestone,
      detail: `The ETA ${eta} is ${slip_hours} hours past the original ${original_eta}.`,
      ...(slip > HIGH_SEVERITY_HOURS * HOUR_MS && { severity: 'high' as const }),
      metrics: { slip_hours, eta, original_eta },
      isGraverThan: (resolved) => slip - recordedSlip(resolved) >= REOPEN_GROWTH_HOURS * HOUR_MS,
      resolvedBy: () => [byArrival(derived), byChangeOf('eta', 'original_eta')],
    },
  ];
};

/** Returns the slip in the metrics of an exception; NaN for an exception that a person opened, which has no metrics. */
function recordedSlip({ eta, original_eta }: NonNullable<Finding['metrics']>): number {
  return typeof eta === 'string' && typeof original_eta === 'string' ? msBetween(original_eta, eta) : Number.NaN;
}

export const departureOverdue: FindFindings = ({ derived }, settings) => {
  const { etd } = derived.record;
  if (etd === null || hasDeparted(derived)) return [];
  return [
    {
      ...overdue(etd, derived, settings),
      detail: `Expected to depart at ${etd}, and no departure is known.`,
      metrics: { etd },
      resolvedBy: () => [byStep('in_transit', null, derived.analysis.route), byChangeOf('etd')],
    },
  ];
};

export const arrivalOverdue: FindFindings = ({ derived }, settings) => {
  const { eta } = derived.record;
  if (eta === null || hasArrived(derived)) return [];
  return [
    {
      ...overdue(eta, derived, settings),
      detail: `Expected to arrive at ${eta}, and no arrival is known.`,
      metrics: { eta },
      resolvedBy: () => [byArrival(derived), byChangeOf('eta')],
    },
  ];
};

function overdue(expected: Timestamp, { record }: Derived, settings: ExceptionSettings) {
  return {
    container_number: null,
    milestone: null,
    opens_at: hoursAfter(expected, ruleHours(settings, record)),
    worsens: { at: hoursAfter(expected, HIGH_SEVERITY_HOURS), severity: 'high' as const },
  };
}

/**
 * Opens `no_update` if there was no milestone of any classifier and no other ETA for too long. No news is expected at
 * sea before the ETA.
 */
export const noUpdate: FindFindings = ({ derived, lastNewsAt }, settings) => {
  const { record } = derived;
  if (isDelivered(record)) return [];
  const hours = ruleHours(settings, record);
  const { etd, eta, created_at } = record;
  const isEtdTooOld = etd !== null && hoursAfter(etd, hours) < earliestDue(record);
  const silent_since = latestTime(etd === null || isEtdTooOld ? created_at : etd, lastNewsAt ?? '');
  const expected = hoursAfter(silent_since, hours);
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Neither a milestone nor another ETA since ${silent_since}.`,
      opens_at: eta !== null && isAtSea(derived) ? latestTime(expected, eta) : expected,
      metrics: { silent_since, heard_at: lastNewsAt },
      resolvedBy: () => [RESOLVED_BY_NEWS, byChangeOf('etd')],
    },
  ];
};

function isAtSea(derived: Derived): boolean {
  return mayTravelByVessel(derived.record.mode) && hasDeparted(derived) && !hasArrived(derived);
}

/** Arrivals before the last departure were at stops on the way. */
function byArrival({ analysis }: Derived): ResolvedBy {
  return byStep('arrived', analysis.legDepartures.at(-1)?.milestone.occurred_at ?? null, analysis.route);
}

function msBetween(from: Timestamp, to: Timestamp): number {
  return Date.parse(to) - Date.parse(from);
}
