import type { EtaOrigin } from '@tracking/contracts';
import type { DerivedShipment } from './derive.ts';
import { EMPTY_ID_OF_DROPPED_MILESTONE } from './dropped-estimates.ts';
import type { Changes } from './events/event-data.ts';
import type { ShipmentChangedEvent } from './events/shipment-events.ts';
import {
  isDateWithoutTime,
  computeMsBetweenTimesOrDays,
  toUtcTimeWithLocalDayAndZone,
  convertMsToRoundedHours,
} from './local-time.ts';

/** Returns the event that announces derived changes. */
export function createShipmentChangedEvent(changes: Changes, derived: DerivedShipment): ShipmentChangedEvent {
  const data = {
    changes,
    ...(changes.eta !== undefined && { eta_set_by: deriveEtaOrigin(derived) }),
    ...(changes.original_eta !== undefined &&
      ({
        original_eta_set_by: derived.setsOriginalEta ? 'client' : 'report',
      } as const)),
    ...getOriginalEtaDay(changes, derived),
    ...(changes.eta !== undefined && computeEtaSlipInDays(changes.eta, changes.eta_precision, derived)),
  };
  return { type: 'shipment.changed.v1', data };
}

/** Returns the day that a client set as the original ETA; nothing if it set none. */
function getOriginalEtaDay({ original_eta }: Changes, { originalEta, setsOriginalEta }: DerivedShipment) {
  if (original_eta === undefined || !setsOriginalEta || originalEta === null || !isDateWithoutTime(originalEta))
    return {};
  return { original_eta_day: originalEta };
}

/** Returns the precision of a new ETA and its slip by local days; nothing if no day is involved. */
function computeEtaSlipInDays(
  { from, to }: NonNullable<Changes['eta']>,
  precision: Changes['eta_precision'],
  { record, analysis: { route } }: DerivedShipment,
) {
  const { eta_precision } = record;
  if (precision === undefined && eta_precision === 'time') return {};
  const zone = route.findZone(route.destination);
  const before = toUtcTimeWithLocalDayAndZone(from, precision?.from ?? eta_precision, zone);
  const slip = computeMsBetweenTimesOrDays(before, toUtcTimeWithLocalDayAndZone(to, eta_precision, zone));
  const slip_hours = Number.isNaN(slip) ? null : convertMsToRoundedHours(slip);
  return { eta_by_day: { precision: eta_precision, slip_hours } };
}

function deriveEtaOrigin({ times: { eta } }: DerivedShipment): EtaOrigin {
  const milestone = eta.estimate?.milestone;
  if (milestone === undefined) return { source: 'client', milestone_id: null, reason_code: null };
  const milestone_id = milestone.id === EMPTY_ID_OF_DROPPED_MILESTONE ? null : milestone.id;
  return { source: milestone.source, milestone_id, reason_code: milestone.reason_code };
}
