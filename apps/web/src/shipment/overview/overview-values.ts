import type { BodyOf, Milestone, Shipment } from '@tracking/client';
import { countDaysBetween } from '../../values/zones.ts';
import { isInEffect } from '../timeline/timeline-rows.ts';

export type Leg = Shipment['legs'][number];

/** Estimated and actual time of an arrival or departure. */
export interface StopTimes {
  readonly estimated: string | null;
  readonly actual: string | null;
}

/** A place where the goods arrive, change transport or depart. */
export interface JourneyStop {
  readonly place: string | null;
  /** Arrival at the stop. Undefined at the origin. */
  readonly arrival: StopTimes | undefined;
  /** Departure from the stop. Undefined at the destination. */
  readonly departure: StopTimes | undefined;
  /** Leg that starts at the stop. */
  readonly onward: Leg | undefined;
  /** Position of the goods: departed from the stop, at the stop, or not there yet. */
  readonly state: 'left' | 'here' | 'ahead';
}

type Where = Omit<JourneyStop, 'state'>;

/**
 * Lists the stops of a journey in order. If a leg ends at one place and the next leg starts at another, both are
 * listed.
 */
export function listStops(legs: readonly Leg[]): JourneyStop[] {
  const stops = legs.flatMap((leg, index): Where[] => {
    const before = legs[index - 1];
    const departure = { estimated: leg.etd, actual: leg.atd };
    const isSame = before !== undefined && before.destination_port === leg.origin_port;
    const arrival = before && { estimated: before.eta, actual: before.ata };
    if (before === undefined || isSame) return [{ place: leg.origin_port, arrival, departure, onward: leg }];
    return [
      { place: before.destination_port, arrival, departure: undefined, onward: undefined },
      { place: leg.origin_port, arrival: undefined, departure, onward: leg },
    ];
  });
  const last = legs.at(-1);
  const end = last && {
    place: last.destination_port,
    arrival: { estimated: last.eta, actual: last.ata },
    departure: undefined,
    onward: undefined,
  };
  return addStopStates(end === undefined ? stops : [...stops, end]);
}

function addStopStates(stops: readonly Where[]): JourneyStop[] {
  const isReached = ({ arrival, departure }: Where) => arrival?.actual != null || departure?.actual != null;
  const furthest = stops.findLastIndex(isReached);
  return stops.map((stop, index) => {
    if (index > furthest) return { ...stop, state: 'ahead' };
    return { ...stop, state: index < furthest || stop.departure?.actual != null ? 'left' : 'here' };
  });
}

export type Container = Shipment['containers'][number];

/** Free time of a container that is currently running: at the terminal, or until the empty return. */
interface RunningFreeTime {
  readonly kind: 'demurrage' | 'detention';
  /** Last free day, in the time zone of the place. */
  readonly until: string;
}

export interface FreeTime extends RunningFreeTime {
  /** Number of whole free days after today. 0 on the last day, negative after it. */
  readonly daysLeft: number;
}

/** Facts of the shipment that determine which free time of a container is running. */
interface FreeTimeFacts extends Pick<Shipment, 'status' | 'load_type'> {
  /**
   * Numbers of containers with a delivery attempt. Null stands for a milestone without a container, which applies to
   * all.
   */
  readonly attempted: ReadonlySet<string | null>;
}

type Dated = Pick<Container, 'number' | 'status' | 'last_free_day' | 'empty_return_by'>;

const RETURNED_STATUSES: readonly Container['status'][] = ['completed', 'returned'];
const OUT_OF_TERMINAL_STATUSES: readonly Container['status'][] = [
  'out_for_delivery',
  'delivered',
  ...RETURNED_STATUSES,
];

export function extractFreeTimeFacts(
  { status, load_type }: Pick<Shipment, 'status' | 'load_type'>,
  milestones: readonly Milestone[],
): FreeTimeFacts {
  const attempts = milestones.filter(
    (milestone) =>
      isInEffect(milestone) && milestone.classifier === 'actual' && milestone.code === 'delivery_attempted',
  );
  return { status, load_type, attempted: new Set(attempts.map(({ container_number }) => container_number)) };
}

/**
 * Finds the running free time of a container, by the rules of the exceptions `demurrage_risk` and `detention_risk`. The
 * status shows that a container has left the terminal even if its gate-out was not reported. Part loads and cancelled
 * shipments have no free time.
 * @returns null if no free time is running, or if the last day is unknown
 */
export function findRunningFreeTime(container: Dated, facts: FreeTimeFacts): RunningFreeTime | null {
  const { number, status, last_free_day, empty_return_by } = container;
  if (facts.load_type === 'lcl' || facts.status === 'cancelled' || RETURNED_STATUSES.includes(status)) return null;
  const hasLeftTerminal =
    OUT_OF_TERMINAL_STATUSES.includes(status) || facts.attempted.has(number) || facts.attempted.has(null);
  const [kind, until] = hasLeftTerminal
    ? (['detention', empty_return_by] as const)
    : (['demurrage', last_free_day] as const);
  return until === null ? null : { kind, until };
}

/** @param today date at the place, such as "2026-11-24" */
export function calculateFreeTime(container: Dated, facts: FreeTimeFacts, today: string): FreeTime | null {
  const running = findRunningFreeTime(container, facts);
  return running && { ...running, daysLeft: countDaysBetween(today, running.until) };
}

/** Formats the remaining free time, such as "3 days left" or "2 days over". */
export function formatFreeTime({ daysLeft }: FreeTime): string {
  if (daysLeft === 0) return 'last free day';
  const days = Math.abs(daysLeft) === 1 ? '1 day' : `${Math.abs(daysLeft)} days`;
  return daysLeft > 0 ? `${days} left` : `${days} over`;
}

/** Labels of the container fields that can be edited. */
export const CONTAINER_FIELDS = {
  size_type: 'Size and type',
  seal_number: 'Seal number',
  last_free_day: 'Last free day',
  empty_return_by: 'Empty return by',
} as const;
export type ContainerField = keyof typeof CONTAINER_FIELDS;
/** Values of the container form. Empty strings stand for no value. */
export type ContainerValues = Readonly<Record<ContainerField, string>>;

const CONTAINER_FIELD_NAMES = Object.keys(CONTAINER_FIELDS) as ContainerField[];

export function toContainerValues(container: Container | undefined): ContainerValues {
  return Object.fromEntries(CONTAINER_FIELD_NAMES.map((field) => [field, container?.[field] ?? ''])) as ContainerValues;
}

/** Builds the changed container fields, with null for a cleared field. */
export function buildContainerPatch(before: Container | undefined, values: ContainerValues): BodyOf<'changeContainer'> {
  const entries = CONTAINER_FIELD_NAMES.map((field) => [field, values[field].trim() || null] as const);
  return Object.fromEntries(entries.filter(([field, value]) => value !== (before?.[field] ?? null)));
}

/** Compares the container fields that can be edited. Milestones may differ. */
export function haveSameContainerFields(one: Container | undefined, other: Container | undefined): boolean {
  return CONTAINER_FIELD_NAMES.every((field) => one?.[field] === other?.[field]);
}
