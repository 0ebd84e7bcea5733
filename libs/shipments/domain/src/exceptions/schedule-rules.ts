import { type ExceptionSettings, type ResolvedBy, type Timestamp, latestTime } from '@tracking/contracts';
import type { DerivedShipment } from '../derive.ts';
import { mayTravelByVessel } from '../route.ts';
import { type FindFindings, type Finding, HOUR_MS, addHours, selectRuleHours, computeEarliestDueTime } from './rule.ts';
import {
  RESOLVED_BY_NEWS,
  resolveByChangeOf,
  hasArrived,
  hasDeparted,
  isDelivered,
  resolveByStep,
} from './remedies.ts';

/** Hours of delay above which the severity is at least `high`, regardless of the workspace's settings. */
const HIGH_SEVERITY_HOURS = 48;
/** Hours by which a slip must grow after a person resolved the exception, so that a new exception opens. */
const REOPEN_GROWTH_HOURS = 24;

/** Opens `eta_slip` if the ETA is more than the allowed hours after the original ETA. */
export const etaSlip: FindFindings = ({ derived }, settings) => {
  const { eta, original_eta } = derived.record;
  if (eta === null || original_eta === null || hasArrived(derived)) return [];
  const slip = subtractTimes(original_eta, eta);
  if (slip < selectRuleHours(settings, derived.record) * HOUR_MS) return [];
  const slip_hours = Math.round((slip / HOUR_MS) * 100) / 100;
  return [
    {
      container_number: null,
      milestone: derived.times.eta.milestone,
      detail: `The ETA ${eta} is ${slip_hours} hours past the original ${original_eta}.`,
      ...(slip > HIGH_SEVERITY_HOURS * HOUR_MS && { severity: 'high' as const }),
      metrics: { slip_hours, eta, original_eta },
      isGraverThan: (resolved) => slip - readSlipHours(resolved) >= REOPEN_GROWTH_HOURS * HOUR_MS,
      resolvedBy: () => [resolveByArrival(derived), resolveByChangeOf('eta', 'original_eta')],
    },
  ];
};

/**
 * Returns the slip in hours from the metrics of an exception; NaN for an exception without metrics, which a person
 * opened.
 */
function readSlipHours({ eta, original_eta }: NonNullable<Finding['metrics']>): number {
  return typeof eta === 'string' && typeof original_eta === 'string' ? subtractTimes(original_eta, eta) : Number.NaN;
}

export const departureOverdue: FindFindings = ({ derived }, settings) => {
  const { etd } = derived.record;
  if (etd === null || hasDeparted(derived)) return [];
  return [
    {
      ...findOverdue(etd, derived, settings),
      detail: `Expected to depart at ${etd}, and no departure is known.`,
      metrics: { etd },
      resolvedBy: () => [resolveByStep('in_transit', null, derived.analysis.route), resolveByChangeOf('etd')],
    },
  ];
};

export const arrivalOverdue: FindFindings = ({ derived }, settings) => {
  const { eta } = derived.record;
  if (eta === null || hasArrived(derived)) return [];
  return [
    {
      ...findOverdue(eta, derived, settings),
      detail: `Expected to arrive at ${eta}, and no arrival is known.`,
      metrics: { eta },
      resolvedBy: () => [resolveByArrival(derived), resolveByChangeOf('eta')],
    },
  ];
};

function findOverdue(expected: Timestamp, { record }: DerivedShipment, settings: ExceptionSettings) {
  return {
    container_number: null,
    milestone: null,
    opens_at: addHours(expected, selectRuleHours(settings, record)),
    worsens: { at: addHours(expected, HIGH_SEVERITY_HOURS), severity: 'high' as const },
  };
}

/**
 * Opens `no_update` if no milestone of any classifier and no other ETA was received for too long. At sea, no news is
 * expected before the ETA.
 */
export const noUpdate: FindFindings = ({ derived, lastNewsAt }, settings) => {
  const { record } = derived;
  if (isDelivered(record)) return [];
  const hours = selectRuleHours(settings, record);
  const { etd, eta, created_at } = record;
  const isEtdTooOld = etd !== null && addHours(etd, hours) < computeEarliestDueTime(record);
  const silent_since = latestTime(etd === null || isEtdTooOld ? created_at : etd, lastNewsAt ?? '');
  const expected = addHours(silent_since, hours);
  return [
    {
      container_number: null,
      milestone: null,
      detail: `Neither a milestone nor another ETA since ${silent_since}.`,
      opens_at: eta !== null && isAtSea(derived) ? latestTime(expected, eta) : expected,
      metrics: { silent_since, heard_at: lastNewsAt },
      resolvedBy: () => [RESOLVED_BY_NEWS, resolveByChangeOf('etd')],
    },
  ];
};

function isAtSea(derived: DerivedShipment): boolean {
  return mayTravelByVessel(derived.record.mode) && hasDeparted(derived) && !hasArrived(derived);
}

/** Arrivals before the last departure happened at stops on the way, so they are ignored. */
function resolveByArrival({ analysis }: DerivedShipment): ResolvedBy {
  return resolveByStep('arrived', analysis.legDepartures.at(-1)?.milestone.occurred_at ?? null, analysis.route);
}

function subtractTimes(from: Timestamp, to: Timestamp): number {
  return Date.parse(to) - Date.parse(from);
}
