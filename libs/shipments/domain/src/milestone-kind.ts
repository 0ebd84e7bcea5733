import { type MilestoneCodeTraits, getMilestoneRules } from '@tracking/contracts';
import type { MilestonePlace } from './locations.ts';
import {
  computeMilestoneMeaning,
  isArrivalCode,
  isArrivalOrStopCode,
  isDeparture,
  isLoadedMovementCode,
  isArrivalAtTransshipment,
} from './milestone-meaning.ts';
import type { StatusEffectOfMilestone } from './status-demotions.ts';
import { type ShipmentRoute, isPortOfChangeToLand, isPlaceOnTheWay, isTransshipmentPort } from './route.ts';
import type { TimelineEntry } from './state.ts';

/** The facts about an actual milestone that follow from its code, its place and the route, but not from its time. */
export interface MilestoneKind {
  readonly code: string;
  readonly rules: MilestoneCodeTraits;
  readonly located: MilestonePlace;
  readonly meaning: StatusEffectOfMilestone;
  readonly isDeparture: boolean;
  /** True for departures of legs: departures of the shipment, and pick-ups, which are departures by road only. */
  readonly isLegDeparture: boolean;
  /** True for arrivals of legs: arrivals at all places. */
  readonly isLegArrival: boolean;
  /** True if the code is an arrival or unloading at the end of a journey. The place may show that it is not. */
  readonly isArrival: boolean;
  readonly isArrivalOrStop: boolean;
  /** True for an arrival at a place, as opposed to a berthing, unloading or availability after the arrival. */
  readonly isArrivalOfVisit: boolean;
  /** Key of the code and place, for codes of events that happen once per visit; undefined for other codes. */
  readonly reportKey: string | undefined;
  /** True if the location is missing, or is the code that is the key of its place. */
  readonly isPlaceCode: boolean;
  readonly isLoadedMovement: boolean;
  /** True for an arrival or unloading at a place from which the goods continue. */
  readonly isStop: boolean;
  /** True for a departure, arrival, loading or discharge. */
  readonly isMovementOfGoods: boolean;
  /** True if a container that left a terminal has moved on with this milestone. */
  readonly isMoveOn: boolean;
  /** List of the summary that receives a discharge; undefined for other milestones. */
  readonly discharge: 'discharged' | 'landed' | 'passed' | undefined;
  /** Effect on the free time at the place; undefined where the goods only change vessels. */
  readonly freeTime: MilestoneCodeTraits['free_time'];
}

type KindsByCode = Map<string, MilestoneKind>;

/** Kinds by location and code. Routes with the same ports share `locate`, and thus their kinds. */
const milestoneKindCacheByShipmentRoute = new WeakMap<ShipmentRoute['locate'], Map<string | null, KindsByCode>>();

/** Finds the kinds of milestones of a route. It keeps the results, because feeds repeat their codes and locations. */
export class MilestoneKindFinder {
  private readonly kinds: Map<string | null, KindsByCode>;

  constructor(private readonly route: ShipmentRoute) {
    let kinds = milestoneKindCacheByShipmentRoute.get(route.locate);
    if (kinds === undefined) {
      kinds = new Map();
      milestoneKindCacheByShipmentRoute.set(route.locate, kinds);
    }
    this.kinds = kinds;
  }

  findMilestoneKind(entry: TimelineEntry): MilestoneKind {
    const { code, location } = entry.milestone;
    let ofPlace = this.kinds.get(location);
    if (ofPlace === undefined) {
      ofPlace = new Map();
      this.kinds.set(location, ofPlace);
    }
    let kind = ofPlace.get(code);
    if (kind === undefined) {
      kind = computeMilestoneKind(entry, this.route);
      ofPlace.set(code, kind);
    }
    return kind;
  }
}

function computeMilestoneKind(entry: TimelineEntry, route: ShipmentRoute): MilestoneKind {
  const { milestone } = entry;
  const { code, location } = milestone;
  const rules = getMilestoneRules(code);
  const located = route.locate(location);
  const departs = isDeparture(rules, route.mode);
  const arrives = isArrivalCode(rules, route);
  const arrivesOrStops = isArrivalOrStopCode(rules, route);
  const meaning = computeMilestoneMeaning(entry, rules, route);
  return {
    code,
    rules,
    located,
    meaning,
    isDeparture: departs,
    isLegDeparture: rules.departure !== undefined && meaning.rule !== 'sailing_on',
    isLegArrival: arrives || rules.leg_arrival === true,
    isArrival: arrives,
    isArrivalOrStop: arrivesOrStops,
    isArrivalOfVisit: rules.leg_arrival === true || rules.estimates_arrival === 'any_mode',
    isPlaceCode: isLocationCodeOfPlace(location, located),
    reportKey: createVisitReportKey(code, rules, located),
    isLoadedMovement: isLoadedMovementCode(code, rules, route),
    isStop: isArrivalAtTransshipment(milestone, rules, route),
    isMovementOfGoods: rules.handling !== undefined || departs || arrivesOrStops,
    isMoveOn: rules.handling === 'loaded' || departs || (arrivesOrStops && located.isOfShipment),
    discharge: rules.container_time === 'discharged_at' ? computeDischargeKind(location, route) : undefined,
    freeTime: rules.free_time === undefined || isTransshipmentPort(route, location) ? undefined : rules.free_time,
  };
}

function createVisitReportKey(
  code: string,
  { once_per_visit }: MilestoneCodeTraits,
  { key }: MilestonePlace,
): string | undefined {
  return once_per_visit ? `${code} ${key}` : undefined;
}

function isLocationCodeOfPlace(location: string | null, { key }: MilestonePlace): boolean {
  return location === null || location === key;
}

function computeDischargeKind(location: string | null, route: ShipmentRoute): MilestoneKind['discharge'] {
  if (!isPlaceOnTheWay(route, location)) return 'discharged';
  return isPortOfChangeToLand(route, location) ? 'landed' : 'passed';
}
