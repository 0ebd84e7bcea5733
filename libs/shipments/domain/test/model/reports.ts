import type { ModelMilestone } from './memory.ts';

type Report = Pick<ModelMilestone, 'reported' | 'occurred_at' | 'occurred_at_precision' | 'location' | 'id'>;

/**
 * Returns true if `a` counts instead of `b`: it was reported later, or at the same time with a later time. A time counts
 * instead of a day that ends then; then the later text of the place counts.
 */
export function isLaterReport(a: Report, b: Report): boolean {
  const key = ({ reported, occurred_at, occurred_at_precision, location, id }: Report) =>
    `${reported} ${occurred_at} ${occurred_at_precision === 'day' ? 0 : 1} ${location ?? ''}\0${id}`;
  return key(a) > key(b);
}
