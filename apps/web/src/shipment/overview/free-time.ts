import type { Milestone, Shipment } from '@tracking/client';
import { daysBetween } from '../../values/zones.ts';
import { stands } from '../timeline/timeline-rows.ts';

export type Container = Shipment['containers'][number];

/** The free days of a container that run now: until it leaves the terminal, or until it is back empty. */
export interface RunningFreeTime {
  readonly kind: 'demurrage' | 'detention';
  /** The last free day, local to the place. */
  readonly until: string;
}

export interface FreeTime extends RunningFreeTime {
  /** Whole days after today that are free; 0 on the last one, negative after it. */
  readonly daysLeft: number;
}

/** Facts of the shipment that decide which free days of its containers run. */
export interface FreeTimeFacts extends Pick<Shipment, 'status' | 'load_type'> {
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
