import type { Shipment } from '@tracking/client';
import { daysBetween } from '../../values/zones.ts';

export type Container = Shipment['containers'][number];

/** Free days that are running: before the container leaves the terminal, or before it is back empty. */
export interface FreeTime {
  readonly kind: 'demurrage' | 'detention';
  /** The last free day, local to the place. */
  readonly until: string;
  /** Whole days after today that are free; 0 on the last one, negative after it. */
  readonly daysLeft: number;
}

type Dated = Pick<Container, 'last_free_day' | 'empty_return_by' | 'gated_out_at' | 'empty_returned_at'>;

/** @param today at the place, as "2026-11-24"; null where nothing runs, or nobody said until when */
export function freeTimeOf(container: Dated, today: string): FreeTime | null {
  const { last_free_day, empty_return_by, gated_out_at, empty_returned_at } = container;
  if (empty_returned_at !== null) return null;
  const [kind, until] =
    gated_out_at === null ? (['demurrage', last_free_day] as const) : (['detention', empty_return_by] as const);
  return until === null ? null : { kind, until, daysLeft: daysBetween(today, until) };
}

/** "3 days left", "last day", "2 days over". */
export function freeTimeLabel({ daysLeft }: FreeTime): string {
  if (daysLeft === 0) return 'last free day';
  const days = Math.abs(daysLeft) === 1 ? '1 day' : `${Math.abs(daysLeft)} days`;
  return daysLeft > 0 ? `${days} left` : `${days} over`;
}
