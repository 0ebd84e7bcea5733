import type { Shipment, Milestone, BodyOf } from '@tracking/client';
import { daysBetween } from '../../values/zones.ts';
import { stands } from '../timeline/timeline-rows.ts';

export type Leg = Shipment['legs'][number];

/** When something is expected, or has happened. */
export interface Expected {
  readonly estimated: string | null;
  readonly actual: string | null;
}

/** A place where goods arrive, change or leave. */
export interface Stop {
  readonly place: string | null;
  /** Undefined where the journey begins. */
  readonly arrival: Expected | undefined;
  /** Undefined where it ends. */
  readonly departure: Expected | undefined;
  /** By which they go on. */
  readonly onward: Leg | undefined;
  /** Goods have left it, are there, or have not come yet. */
  readonly state: 'left' | 'here' | 'ahead';
}

type Where = Omit<Stop, 'state'>;

/** The places of a journey in order: where one leg ends and the next begins somewhere else, both. */
export function stopsOf(legs: readonly Leg[]): Stop[] {
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
  return withStates(end === undefined ? stops : [...stops, end]);
}

function withStates(stops: readonly Where[]): Stop[] {
  const isReached = ({ arrival, departure }: Where) => arrival?.actual != null || departure?.actual != null;
  const furthest = stops.findLastIndex(isReached);
  return stops.map((stop, index) => {
    if (index > furthest) return { ...stop, state: 'ahead' };
    return { ...stop, state: index < furthest || stop.departure?.actual != null ? 'left' : 'here' };
  });
}

export type Container = Shipment['containers'][number];

/** The free days of a container that run now: until it leaves the terminal, or until it is back empty. */
interface RunningFreeTime {
  readonly kind: 'demurrage' | 'detention';
  /** The last free day, local to the place. */
  readonly until: string;
}

export interface FreeTime extends RunningFreeTime {
  /** Whole days after today that are free; 0 on the last one, negative after it. */
  readonly daysLeft: number;
}

/** Facts of the shipment that decide which free days of its containers run. */
interface FreeTimeFacts extends Pick<Shipment, 'status' | 'load_type'> {
  /** Numbers of the containers whose delivery was attempted; null if a milestone names none and so counts for all. */
  readonly attempted: ReadonlySet<string | null>;
}

type Dated = Pick<Container, 'number' | 'status' | 'last_free_day' | 'empty_return_by'>;

const RETURNED: readonly Container['status'][] = ['completed', 'returned'];
const OUT_OF_TERMINAL: readonly Container['status'][] = ['out_for_delivery', 'delivered', ...RETURNED];

export function freeTimeFacts(
  { status, load_type }: Pick<Shipment, 'status' | 'load_type'>,
  milestones: readonly Milestone[],
): FreeTimeFacts {
  const attempts = milestones.filter(
    (milestone) => stands(milestone) && milestone.classifier === 'actual' && milestone.code === 'delivery_attempted',
  );
  return { status, load_type, attempted: new Set(attempts.map(({ container_number }) => container_number)) };
}

/**
 * Follows the rules of the exceptions `demurrage_risk` and `detention_risk`: feeds skip steps, so a container has left the
 * terminal by its status, not by its gate-out alone. Part loads and cancelled shipments have no free time.
 * @returns null if no free days run, or their last day is not known
 */
export function runningFreeTime(container: Dated, facts: FreeTimeFacts): RunningFreeTime | null {
  const { number, status, last_free_day, empty_return_by } = container;
  if (facts.load_type === 'lcl' || facts.status === 'cancelled' || RETURNED.includes(status)) return null;
  const hasLeftTerminal = OUT_OF_TERMINAL.includes(status) || facts.attempted.has(number) || facts.attempted.has(null);
  const [kind, until] = hasLeftTerminal
    ? (['detention', empty_return_by] as const)
    : (['demurrage', last_free_day] as const);
  return until === null ? null : { kind, until };
}

/** @param today at the place, as "2026-11-24" */
export function freeTimeOf(container: Dated, facts: FreeTimeFacts, today: string): FreeTime | null {
  const running = runningFreeTime(container, facts);
  return running && { ...running, daysLeft: daysBetween(today, running.until) };
}

/** "3 days left", "last day", "2 days over". */
export function freeTimeLabel({ daysLeft }: FreeTime): string {
  if (daysLeft === 0) return 'last free day';
  const days = Math.abs(daysLeft) === 1 ? '1 day' : `${Math.abs(daysLeft)} days`;
  return daysLeft > 0 ? `${days} left` : `${days} over`;
}

/** What may be said of a container, as people call it. */
export const CONTAINER_FIELDS = {
  size_type: 'Size and type',
  seal_number: 'Seal',
  last_free_day: 'Last free day',
  empty_return_by: 'Empty return by',
} as const;
export type ContainerField = keyof typeof CONTAINER_FIELDS;
/** As a form holds it: empty where nothing is said. */
export type ContainerValues = Readonly<Record<ContainerField, string>>;

const FIELDS = Object.keys(CONTAINER_FIELDS) as ContainerField[];

export function containerValues(container: Container | undefined): ContainerValues {
  return Object.fromEntries(FIELDS.map((field) => [field, container?.[field] ?? ''])) as ContainerValues;
}

/** What differs, null where it was cleared. */
export function containerChanges(before: Container | undefined, values: ContainerValues): BodyOf<'changeContainer'> {
  const said = FIELDS.map((field) => [field, values[field].trim() || null] as const);
  return Object.fromEntries(said.filter(([field, value]) => value !== (before?.[field] ?? null)));
}

/** In what may be said of it; what milestones tell may be another. */
export function isSameContainer(one: Container | undefined, other: Container | undefined): boolean {
  return FIELDS.every((field) => one?.[field] === other?.[field]);
}
