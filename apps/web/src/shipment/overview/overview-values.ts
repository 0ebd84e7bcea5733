import type { BodyOf, Milestone, Shipment } from '@tracking/client';
import { countDaysBetween } from '../../values/zones.ts';
import { isMilestoneInEffect } from '../timeline/timeline-rows.ts';

export type Leg = Shipment['legs'][number];

/** Estimated and actual time of an arrival or departure. */
export interface EstimatedAndActualTime {
  readonly estimated: string | null;
  readonly estimatedPrecision: Leg['eta_precision'];
  readonly actual: string | null;
}

/** Stop of a journey: a place where the goods arrive, change transport or depart. */
export interface JourneyStop {
  readonly place: string | null;
  /** Arrival at the stop. Undefined if no leg ends at the stop. */
  readonly arrival: EstimatedAndActualTime | undefined;
  /** Departure from the stop. Undefined if no leg starts at the stop. */
  readonly departure: EstimatedAndActualTime | undefined;
  /** Leg of the journey that starts at this stop. */
  readonly onward: Leg | undefined;
  /** Position of the goods relative to the stop: departed from it, at it, or before it. */
  readonly state: 'left' | 'here' | 'ahead';
}

type Where = Omit<JourneyStop, 'state'>;

/**
 * Lists the stops of a journey in travel order. If a leg ends at one place and the next leg starts at another place,
 * both places are stops.
 */
export function listJourneyStops(legs: readonly Leg[]): JourneyStop[] {
  const stops = legs.flatMap((leg, index): Where[] => {
    const before = legs[index - 1];
    const departure = { estimated: leg.etd, estimatedPrecision: leg.etd_precision, actual: leg.atd };
    const isSame = before !== undefined && before.destination_port === leg.origin_port;
    const arrival = before && getLegArrival(before);
    if (before === undefined || isSame) return [{ place: leg.origin_port, arrival, departure, onward: leg }];
    return [
      { place: before.destination_port, arrival, departure: undefined, onward: undefined },
      { place: leg.origin_port, arrival: undefined, departure, onward: leg },
    ];
  });
  const last = legs.at(-1);
  const end = last && {
    place: last.destination_port,
    arrival: getLegArrival(last),
    departure: undefined,
    onward: undefined,
  };
  return addJourneyStopStates(end === undefined ? stops : [...stops, end]);
}

function getLegArrival({ eta, eta_precision, ata }: Leg): EstimatedAndActualTime {
  return { estimated: eta, estimatedPrecision: eta_precision, actual: ata };
}

function addJourneyStopStates(stops: readonly Where[]): JourneyStop[] {
  const isReached = ({ arrival, departure }: Where) => arrival?.actual != null || departure?.actual != null;
  const furthest = stops.findLastIndex(isReached);
  return stops.map((stop, index) => {
    if (index > furthest) return { ...stop, state: 'ahead' };
    return { ...stop, state: index < furthest || stop.departure?.actual != null ? 'left' : 'here' };
  });
}

export type Container = Shipment['containers'][number];

/** Running free time of a container: either the free time at the terminal, or the free time until the empty return. */
interface FreeTimeCountdownData {
  readonly kind: 'demurrage' | 'detention';
  /** Last free day of the container, as a date in the time zone of the place. */
  readonly until: string;
}

export interface FreeTimeWithDaysLeft extends FreeTimeCountdownData {
  /** Number of whole days from today until the last free day. On the last free day it is 0, and afterwards negative. */
  readonly daysLeft: number;
}

/** Facts of a shipment that determine whether the free time at the terminal or until the empty return is running. */
interface FreeTimeFacts extends Pick<Shipment, 'status' | 'load_type'> {
  /**
   * Numbers of the containers with a delivery attempt. Null stands for a delivery attempt without a container number,
   * which applies to all containers.
   */
  readonly attempted: ReadonlySet<string | null>;
}

type Dated = Pick<Container, 'number' | 'status' | 'last_free_day' | 'empty_return_by'>;

const RETURNED_CONTAINER_STATUSES: readonly Container['status'][] = ['completed', 'returned'];
const OUT_OF_TERMINAL_STATUSES: readonly Container['status'][] = [
  'out_for_delivery',
  'delivered',
  ...RETURNED_CONTAINER_STATUSES,
];

export function extractFreeTimeFacts(
  { status, load_type }: Pick<Shipment, 'status' | 'load_type'>,
  milestones: readonly Milestone[],
): FreeTimeFacts {
  const attempts = milestones.filter(
    (milestone) =>
      isMilestoneInEffect(milestone) && milestone.classifier === 'actual' && milestone.code === 'delivery_attempted',
  );
  return { status, load_type, attempted: new Set(attempts.map(({ container_number }) => container_number)) };
}

/**
 * Finds the running free time of a container. The rules are those of the exceptions `demurrage_risk` and
 * `detention_risk`. If the gate-out was not reported, the status shows if the container has left the terminal. Part
 * loads and cancelled shipments have no free time.
 * @returns null if no free time is running, or if the last free day is unknown
 */
export function findRunningFreeTime(container: Dated, facts: FreeTimeFacts): FreeTimeCountdownData | null {
  const { number, status, last_free_day, empty_return_by } = container;
  if (facts.load_type === 'lcl' || facts.status === 'cancelled' || RETURNED_CONTAINER_STATUSES.includes(status))
    return null;
  const hasLeftTerminal =
    OUT_OF_TERMINAL_STATUSES.includes(status) || facts.attempted.has(number) || facts.attempted.has(null);
  const [kind, until] = hasLeftTerminal
    ? (['detention', empty_return_by] as const)
    : (['demurrage', last_free_day] as const);
  return until === null ? null : { kind, until };
}

/** Calculates the running free time and the days left. @param today current date at the place, such as "2026-11-24" */
export function calculateFreeTime(container: Dated, facts: FreeTimeFacts, today: string): FreeTimeWithDaysLeft | null {
  const running = findRunningFreeTime(container, facts);
  return running && { ...running, daysLeft: countDaysBetween(today, running.until) };
}

/** Formats the days left of a free time, such as "3 days left" or "2 days over". */
export function formatFreeTime({ daysLeft }: FreeTimeWithDaysLeft): string {
  if (daysLeft === 0) return 'last free day';
  const days = Math.abs(daysLeft) === 1 ? '1 day' : `${Math.abs(daysLeft)} days`;
  return daysLeft > 0 ? `${days} left` : `${days} over`;
}

/** Labels of the container fields that users can edit. */
export const EDITABLE_CONTAINER_FIELD_LABELS = {
  size_type: 'Size and type',
  seal_number: 'Seal number',
  last_free_day: 'Last free day',
  empty_return_by: 'Empty return by',
} as const;
export type ContainerField = keyof typeof EDITABLE_CONTAINER_FIELD_LABELS;
/** Values of the container form. An empty string stands for a missing value. */
export type ContainerValues = Readonly<Record<ContainerField, string>>;

const CONTAINER_FIELD_NAMES = Object.keys(EDITABLE_CONTAINER_FIELD_LABELS) as ContainerField[];

export function toContainerFormValues(container: Container | undefined): ContainerValues {
  return Object.fromEntries(CONTAINER_FIELD_NAMES.map((field) => [field, container?.[field] ?? ''])) as ContainerValues;
}

/** Builds the merge patch of a container. It contains the changed fields, and null for a cleared field. */
export function buildContainerPatch(before: Container | undefined, values: ContainerValues): BodyOf<'changeContainer'> {
  const entries = CONTAINER_FIELD_NAMES.map((field) => [field, values[field].trim() || null] as const);
  return Object.fromEntries(entries.filter(([field, value]) => value !== (before?.[field] ?? null)));
}

/**
 * Checks if two states of a container have equal values in all fields that users can edit. Other fields, such as
 * milestones, are ignored.
 */
export function haveSameContainerFields(one: Container | undefined, other: Container | undefined): boolean {
  return CONTAINER_FIELD_NAMES.every((field) => one?.[field] === other?.[field]);
}
