import type { Leg } from '@tracking/contracts';
import { type Condition, HOUR, type World, condition, hoursOf, ms } from './condition.ts';
import { dayAfter, startOfDay, zoneOf } from './days.ts';
import { type Memory, NOTHING_GIVEN, type Said, destinationOf, happened, laneOf } from './memory.ts';
import { isDelivered, laneStatus } from './status.ts';
import { dischargeOf, gateOutOf, hasLeftTerminal, isLoadedAfter, isStop } from './steps.ts';

const TEN_DAYS = 240 * HOUR;

/** "Container rules … run for each container (a milestone that names none counts for each); without containers, once for the shipment." */
export function containerConditions(world: World): readonly Condition[] {
  const { memory } = world;
  const numbers = memory.fields.container_numbers;
  return (numbers.length === 0 ? [null] : numbers).flatMap((container) => {
    const lane = laneOf(happened(memory), container);
    const detention = detentionRisk(container, lane, world);
    if (isDelivered(laneStatus(lane, memory))) return detention;
    return [...missedConnection(container, lane, world), ...demurrageRisk(container, lane, world), ...detention];
  });
}

/**
 * "Arrived or discharged at transshipment, not loaded by the next leg's ETD + 12 h, without one for 10 d": at the last such
 * stop, since the first word of it.
 */
function missedConnection(container: string | null, lane: readonly Said[], { memory, settings }: World) {
  const stop = lane.findLast((milestone) => isStop(milestone, memory));
  if (stop === undefined || isLoadedAfter(stop, lane, memory)) return [];
  const etd = nextLeg(stop, memory)?.etd ?? null;
  const hours = hoursOf(settings.exceptions.missed_connection, memory);
  const arrival = lane.find(
    (milestone) =>
      isStop(milestone, memory) && milestone.location === stop.location && !isLoadedAfter(milestone, lane, memory),
  );
  const due = etd === null ? ms((arrival ?? stop).occurred_at) + TEN_DAYS : ms(etd) + hours * HOUR;
  return [condition('missed_connection', container, due)];
}

/** That which begins where it stopped; where no leg ends there, the first after the first that has not departed. */
function nextLeg({ location }: Said, { answered: { legs } }: Memory): Leg | undefined {
  const ended = location === null ? -1 : legs.findLastIndex(({ destination_port }) => destination_port === location);
  if (ended >= 0) return legs[ended + 1];
  return legs.slice(1).find(({ atd }) => atd === null);
}

/**
 * "2 d before `last_free_day` (critical after it), without one 4 d after discharge, and not gated out; not for `lcl`": from
 * the beginning of that day, where the container is discharged.
 */
function demurrageRisk(container: string | null, lane: readonly Said[], world: World): readonly Condition[] {
  const { memory, settings } = world;
  if (memory.fields.load_type === 'lcl' || hasLeftTerminal(lane, memory)) return [];
  const { last_free_day } = givenOf(container, memory);
  const setting = settings.exceptions.demurrage_risk;
  if (last_free_day !== null) return [beforeDay('demurrage_risk', container, last_free_day, world)];
  const discharge = dischargeOf(container, lane, memory);
  if (discharge === undefined) return [];
  return [condition('demurrage_risk', container, ms(discharge.occurred_at) + hoursOf(setting, memory) * HOUR)];
}

/**
 * "2 d before `empty_return_by` (critical after it), without one 10 d after gate-out, empty not returned; not for `lcl`."
 */
function detentionRisk(container: string | null, lane: readonly Said[], world: World): readonly Condition[] {
  const { memory, settings } = world;
  const isReturned = lane.some(({ code }) => code === 'empty_returned' || code === 'returned_to_shipper');
  if (memory.fields.load_type === 'lcl' || isReturned) return [];
  const { empty_return_by } = givenOf(container, memory);
  if (empty_return_by !== null) return [beforeDay('detention_risk', container, empty_return_by, world)];
  const gateOut = gateOutOf(container, lane, memory);
  if (gateOut === undefined) return [];
  const hours = hoursOf(settings.exceptions.detention_risk, memory);
  return [condition('detention_risk', container, ms(gateOut.occurred_at) + hours * HOUR)];
}

function givenOf(container: string | null, { containers }: Memory) {
  return (container === null ? undefined : containers.get(container)) ?? NOTHING_GIVEN;
}

function beforeDay(type: 'demurrage_risk' | 'detention_risk', container: string | null, day: string, world: World) {
  const zone = zoneOf(destinationOf(world.memory));
  const hours = world.settings.exceptions[type].before_hours ?? 0;
  const expected = startOfDay(day, zone);
  return {
    ...condition(type, container, expected - hours * HOUR),
    expected,
    worse: { from: startOfDay(dayAfter(day), zone), severity: 'critical' as const },
  };
}
